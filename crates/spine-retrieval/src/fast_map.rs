//! Maps for what is looked up for every word of every memory.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use smol_str::SmolStr;

/// A map whose keys no stranger can choose so that they collide, or that is short-lived and bounded.
pub(crate) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Multiplies and folds, eight bytes at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FastHasher(u64);

impl FastHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0.rotate_left(5) ^ word) * u128::from(FACTOR);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for FastHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        let last = rest.iter().fold(rest.len() as u64, |last, byte| last << 8 | u64::from(*byte));
        self.add(last);
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.add(u64::from(word));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// Remembers what was made of frequent words; forgets all when it is full. A word lies beside what was made of it: each is
/// looked up where nothing is at hand.
#[derive(Debug)]
pub(crate) struct Memo<V> {
    made: FastMap<SmolStr, V>,
    limit: usize,
}

impl<V> Memo<V> {
    pub(crate) fn new(limit: usize) -> Self {
        Self { made: FastMap::default(), limit }
    }

    /// Uses what was made of this word, or is made now.
    pub(crate) fn with<R>(
        &mut self,
        word: &str,
        make: impl FnOnce(&str) -> V,
        using: impl FnOnce(&V) -> R,
    ) -> R {
        if let Some(made) = self.made.get(word) {
            return using(made);
        }
        if self.made.len() >= self.limit {
            self.made.clear();
        }
        let made = make(word);
        let used = using(&made);
        self.made.insert(word.into(), made);
        used
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hash as _;

    use super::*;

    #[test]
    fn what_was_made_is_made_once_until_it_is_full() {
        let mut memo = Memo::new(2);
        let mut made = Vec::new();
        for word in ["a", "a", "b", "a", "c", "a"] {
            memo.with(word, |word| made.push(word.to_owned()), |()| ());
        }
        assert_eq!(made, ["a", "b", "c", "a"]);
    }

    #[test]
    fn lengths_and_bytes_tell_apart() {
        let hash = |text: &str| {
            let mut hasher = FastHasher::default();
            text.hash(&mut hasher);
            hasher.finish()
        };
        let words = ["", "a", "b", "aa", "\0", "\0\0", "abcdefgh", "abcdefgha", "habcdefg"];
        let hashes: std::collections::HashSet<u64> = words.into_iter().map(hash).collect();
        assert_eq!(hashes.len(), words.len());
    }
}
