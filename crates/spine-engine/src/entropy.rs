//! Randomness from one secret seed. Salts must not be guessable from other salts, or an erased text could be found
//! again by trying likely ones: so they are hashes of the seed.

use std::sync::atomic::{AtomicU64, Ordering};

use spine_protocol::Digest;

/// A stream of unguessable numbers; the same seed gives the same stream.
pub struct Entropy {
    seed: [u8; 32],
    drawn: AtomicU64,
}

impl Entropy {
    /// From 256 bits that nobody else knows.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        Self { seed, drawn: AtomicU64::new(0) }
    }

    /// The next 128 bits.
    pub fn next(&self) -> u128 {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        Digest::of(&[b"memory-spine entropy", &self.seed, &number.to_be_bytes()]).first_128_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_stream() {
        let draw = |seed| {
            let entropy = Entropy::from_seed(seed);
            [entropy.next(), entropy.next()]
        };
        assert_eq!(draw([1; 32]), draw([1; 32]));
        assert_ne!(draw([1; 32]), draw([2; 32]));
        assert_ne!(draw([1; 32])[0], draw([1; 32])[1]);
    }
}
