//! Texts of made-up words, some of them far more frequent than others.

use fastrand::Rng;

const WORDS: usize = 20;
const VOCABULARY: usize = 50_000;

/// Words by Zipf's law.
pub struct Texts {
    words: Vec<String>,
    sums: Vec<f64>,
}

impl Texts {
    pub fn new() -> Self {
        let mut rng = Rng::with_seed(1);
        let syllable = |rng: &mut Rng| {
            let consonant = char::from(b"bdfgklmnprstvz"[rng.usize(..14)]);
            format!("{consonant}{}", char::from(b"aeiou"[rng.usize(..5)]))
        };
        let word = |rng: &mut Rng| (0..4).map(|_| syllable(rng)).collect::<String>();
        let words = (0..VOCABULARY).map(|_| word(&mut rng)).collect();
        let mut sum = 0.0;
        let sums = (1..=VOCABULARY).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        Self { words, sums: sums.collect() }
    }

    pub fn draw(&self, rng: &mut Rng) -> String {
        let total = self.sums[VOCABULARY - 1];
        let word = |rng: &mut Rng| {
            let rank = self.sums.partition_point(|sum| *sum < rng.f64() * total);
            self.words[rank.min(VOCABULARY - 1)].as_str()
        };
        (0..WORDS).map(|_| word(rng)).collect::<Vec<_>>().join(" ")
    }
}
