//! Useful together: a memory that says what another one says already adds little.
//!
//! A task often asks for several things at once, and the search answers with twenty variants of the one that its words
//! fit best. So memories are picked one by one, each by its usefulness less what it repeats of those before it.

use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// What a memory loses that repeats another one word for word. It goes by the square of the likeness: variants of one
/// sentence lose much, two turns of a conversation that share everyday words lose next to nothing.
const REPETITION_COSTS: f64 = 1.1;
/// Words looked at, from the beginning of a text.
const WORDS_MAX: usize = 64;

/// Hashes of a text's words, sorted, each once: two of them are compared in one walk.
type Words = Vec<u64>;

/// Which of the `weighed` texts to take, best first; `carried` ones travel already.
pub(super) fn most_useful_together(
    weighed: &[(f64, &str)],
    carried: &[&str],
    count: usize,
) -> Vec<usize> {
    let words: Vec<Words> = weighed.iter().map(|(_, text)| words_of(text)).collect();
    let carried: Vec<Words> = carried.iter().map(|text| words_of(text)).collect();
    let most_like =
        |words: &Words| carried.iter().map(|other| likeness(words, other)).fold(0.0, f64::max);
    let mut repeated: Vec<f64> = words.iter().map(most_like).collect();
    let mut picked: Vec<usize> = Vec::new();
    while let Some(next) = best(weighed, &repeated, &picked).filter(|_| picked.len() < count) {
        picked.push(next);
        let Some(taken) = words.get(next) else { break };
        for (repeated, words) in repeated.iter_mut().zip(&words) {
            *repeated = repeated.max(likeness(words, taken));
        }
    }
    picked
}

fn best(weighed: &[(f64, &str)], repeated: &[f64], picked: &[usize]) -> Option<usize> {
    let worth = |index: &usize| {
        let (useful, _) = weighed.get(*index)?;
        Some(useful - REPETITION_COSTS * repeated.get(*index)?.powi(2))
    };
    let left = (0..weighed.len()).filter(|index| !picked.contains(index));
    left.filter_map(|index| Some((worth(&index)?, index)))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
        .map(|(_, index)| index)
}

fn words_of(text: &str) -> Words {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut hashes: Words = words.take(WORDS_MAX).map(|word| hasher.hash_one(word)).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// The share of words that two texts have in common (Jaccard).
fn likeness(a: &[u64], b: &[u64]) -> f64 {
    let common = in_common(a, b);
    let all = a.len() + b.len() - common;
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

    #[test]
    fn variants_of_one_answer_leave_room_for_the_others() {
        let weighed = [
            (0.90, "Birch accepts at most 10 requests a minute."),
            (0.89, "Cedar accepts at most 20 requests a minute."),
            (0.88, "Delta accepts at most 30 requests a minute."),
            (0.70, "Backups of Birch are taken hourly."),
            (0.69, "Keys of Birch rotate weekly."),
        ];
        assert_eq!(most_useful_together(&weighed, &[], 3), [0, 3, 4]);
        assert_eq!(
            most_useful_together(&weighed, &["Backups of Birch are taken hourly."], 2),
            [0, 4]
        );
        assert_eq!(most_useful_together(&weighed, &[], 9).len(), 5);
    }
}
