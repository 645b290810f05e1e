//! Useful together: a memory that says what another one says already adds little.
//!
//! A task often asks for several things at once, and the search answers with twenty variants of the one that its words
//! fit best. So memories are picked one by one, each by its usefulness less what it repeats of those before it.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// What a memory loses that repeats another one word for word. It goes by the square of the likeness: variants of one
/// sentence lose much, two turns of a conversation that share everyday words lose next to nothing.
const REPETITION_COSTS: f64 = 1.1;
/// Words looked at, from the beginning of a text.
const WORDS_MAX: usize = 64;

/// Hashes of a text's words, sorted, each once: two of them are compared in one walk.
pub(super) struct Words(Vec<u64>);

/// A text that may be taken.
pub(super) struct Weighed {
    /// Its usefulness by itself.
    pub useful: f64,
    words: Words,
    /// Its likeness to the most alike of those that travel already.
    repeated: f64,
}

impl Weighed {
    pub fn new(useful: f64, text: &str, carried: &Carried) -> Self {
        let words = Words::of(text);
        let repeated = carried.likeness(&words);
        Self { useful, words, repeated }
    }
}

/// The words of what travels already, by word: each of many texts is compared with all of it.
#[derive(Default)]
pub(super) struct Carried {
    /// Which texts have a word.
    texts: HashMap<u64, Vec<usize>>,
    /// How many words each text has.
    lengths: Vec<usize>,
}

impl Carried {
    pub fn add(&mut self, text: &str) {
        let words = Words::of(text);
        for word in &words.0 {
            self.texts.entry(*word).or_default().push(self.lengths.len());
        }
        self.lengths.push(words.0.len());
    }

    /// The likeness to the most alike.
    fn likeness(&self, words: &Words) -> f64 {
        let mut common = vec![0; self.lengths.len()];
        for text in words.0.iter().filter_map(|word| self.texts.get(word)).flatten() {
            common.get_mut(*text).into_iter().for_each(|count| *count += 1);
        }
        let alike = self.lengths.iter().zip(common);
        alike.map(|(length, common)| jaccard(words.0.len(), *length, common)).fold(0.0, f64::max)
    }
}

/// One of the texts, and what it was worth when it was picked: no later one is worth more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Picked {
    pub index: usize,
    pub worth: f64,
}

/// Which of the `weighed` texts to take, best first; of two that are worth the same the earlier one.
pub(super) fn most_useful_together(weighed: &[&Weighed], count: usize) -> Vec<Picked> {
    let candidate = |(index, weighed): (usize, &&Weighed)| Candidate {
        index,
        useful: weighed.useful,
        repeated: weighed.repeated,
        compared: 0,
    };
    let mut left: BinaryHeap<Candidate> = weighed.iter().enumerate().map(candidate).collect();
    let mut picked: Vec<Picked> = Vec::new();
    while let Some(mut best) = left.pop().filter(|_| picked.len() < count) {
        let unseen = picked.get(best.compared..).unwrap_or_default();
        if unseen.is_empty() {
            picked.push(Picked { index: best.index, worth: best.worth() });
            continue;
        }
        let mine = weighed.get(best.index);
        let like = |other: &Picked| Some(mine?.words.likeness(&weighed.get(other.index)?.words));
        best.repeated = unseen.iter().filter_map(like).fold(best.repeated, f64::max);
        best.compared = picked.len();
        left.push(best);
    }
    picked
}

/// A text on the heap. Every pick can only lower its worth, so it is compared with the picks it has not seen when it
/// comes to the top, and only then: most texts never do.
struct Candidate {
    index: usize,
    useful: f64,
    /// Its likeness to the most alike of those it was compared with.
    repeated: f64,
    /// How many of the picks it was compared with.
    compared: usize,
}

impl Candidate {
    fn worth(&self) -> f64 {
        self.useful - REPETITION_COSTS * self.repeated.powi(2)
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth().total_cmp(&other.worth()).then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl Words {
    pub fn of(text: &str) -> Self {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut hashes: Vec<u64> =
            words.take(WORDS_MAX).map(|word| hasher.hash_one(word)).collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }

    /// The share of words that two texts have in common (Jaccard).
    fn likeness(&self, other: &Self) -> f64 {
        jaccard(self.0.len(), other.0.len(), in_common(&self.0, &other.0))
    }
}

fn jaccard(words: usize, others: usize, common: usize) -> f64 {
    let all = words + others - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

fn in_common(a: &[u64], b: &[u64]) -> usize {
    let (mut a, mut b, mut common) = (a.iter().peekable(), b.iter().peekable(), 0);
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            Ordering::Less => drop(a.next()),
            Ordering::Greater => drop(b.next()),
            Ordering::Equal => {
                common += 1;
                a.next();
                b.next();
            }
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every candidate compared with every pick, as the rule says it.
    fn eager(weighed: &[(f64, &str)], count: usize) -> Vec<usize> {
        let words: Vec<Words> = weighed.iter().map(|(_, text)| Words::of(text)).collect();
        let mut picked: Vec<usize> = Vec::new();
        let worth = |index: usize, picked: &[usize]| {
            let like = picked.iter().map(|p| words[index].likeness(&words[*p]));
            weighed[index].0 - REPETITION_COSTS * like.fold(0.0, f64::max).powi(2)
        };
        while picked.len() < count.min(weighed.len()) {
            let left = (0..weighed.len()).filter(|index| !picked.contains(index));
            let by_worth = |a: &usize, b: &usize| {
                worth(*a, &picked).total_cmp(&worth(*b, &picked)).then(b.cmp(a))
            };
            picked.push(left.max_by(by_worth).unwrap());
        }
        picked
    }

    /// The picks among these texts, where those that are carried travel already.
    fn lazy(weighed: &[(f64, &str)], carried: &[&str], count: usize) -> Vec<usize> {
        let mut travels = Carried::default();
        carried.iter().for_each(|text| travels.add(text));
        let weighed: Vec<Weighed> =
            weighed.iter().map(|(useful, text)| Weighed::new(*useful, text, &travels)).collect();
        let picked = most_useful_together(&weighed.iter().collect::<Vec<_>>(), count);
        assert!(picked.is_sorted_by(|one, next| one.worth >= next.worth), "{picked:?}");
        picked.iter().map(|picked| picked.index).collect()
    }

    #[test]
    fn comparing_late_picks_the_same_as_comparing_everything() {
        for seed in 0..100 {
            let rng = &mut fastrand::Rng::with_seed(seed);
            let words = |rng: &mut fastrand::Rng| {
                (0..rng.usize(1..8)).map(|_| rng.u8(..12).to_string()).collect::<Vec<_>>().join(" ")
            };
            let texts: Vec<(f64, String)> =
                (0..rng.usize(0..40)).map(|_| (f64::from(rng.u8(..9)) / 8.0, words(rng))).collect();
            let weighed: Vec<(f64, &str)> = texts.iter().map(|(w, t)| (*w, t.as_str())).collect();
            let count = rng.usize(0..30);
            let picked = lazy(&weighed, &[], count);
            assert_eq!(picked, eager(&weighed, count), "seed {seed}");
        }
    }

    #[test]
    fn variants_of_one_answer_leave_room_for_the_others() {
        let weighed = [
            (0.90, "Birch accepts at most 10 requests a minute."),
            (0.89, "Cedar accepts at most 20 requests a minute."),
            (0.88, "Delta accepts at most 30 requests a minute."),
            (0.70, "Backups of Birch are taken hourly."),
            (0.69, "Keys of Birch rotate weekly."),
        ];
        assert_eq!(lazy(&weighed, &[], 3), [0, 3, 4]);
        assert_eq!(lazy(&weighed, &["Backups of Birch are taken hourly."], 2), [0, 4]);
        assert_eq!(lazy(&weighed, &[], 9).len(), 5);
    }
}
