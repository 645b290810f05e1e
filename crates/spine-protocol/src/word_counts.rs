//! Counts of short pieces of text. A tokenizer cuts a text into pieces before it looks for tokens, and most of them are
//! words that were counted before: looking one up costs a tenth of counting it.

use bpe_openai::Tokenizer;

use crate::limits::REMEMBERED_WORDS_MAX;

/// What was counted of one tokenizer. A piece has one place; the last one that wanted it has it.
pub(crate) struct WordCounts {
    tokenizer: &'static Tokenizer,
    places: Vec<u128>,
}

/// A piece of so many bytes fits into a place, beside its length and its count.
const PIECE_BYTES_MAX: usize = 15;
const COUNT_SHIFT: u32 = 124;
const KEY_BITS: u128 = (1 << COUNT_SHIFT) - 1;

impl WordCounts {
    pub(crate) fn new(tokenizer: &'static Tokenizer) -> Self {
        Self { tokenizer, places: vec![0; REMEMBERED_WORDS_MAX] }
    }

    /// How many tokens a text takes.
    pub(crate) fn count(&mut self, text: &str) -> usize {
        let tokenizer = self.tokenizer;
        let text = tokenizer.normalize(text);
        tokenizer.split(text.as_str()).map(|piece| self.piece(piece.as_bytes())).sum()
    }

    fn piece(&mut self, piece: &[u8]) -> usize {
        let Some(key) = key(piece) else { return self.tokenizer.bpe.count(piece) };
        let place = self.places.get_mut(place_of(key));
        if let Some(known) = place.as_deref().filter(|known| *known & KEY_BITS == key) {
            return (known >> COUNT_SHIFT) as usize;
        }
        let tokens = self.tokenizer.bpe.count(piece);
        place.into_iter().for_each(|place| *place = key | (tokens as u128) << COUNT_SHIFT);
        tokens
    }
}

/// A short piece as a number: its bytes, then its length, which no two pieces share. There are at most as many tokens as
/// bytes, so the count fits into the four bits above.
fn key(piece: &[u8]) -> Option<u128> {
    let mut bytes = [0; PIECE_BYTES_MAX + 1];
    bytes.get_mut(..PIECE_BYTES_MAX)?.get_mut(..piece.len())?.copy_from_slice(piece);
    *bytes.last_mut()? = piece.len() as u8;
    Some(u128::from_le_bytes(bytes))
}

fn place_of(key: u128) -> usize {
    let folded = (key as u64) ^ ((key >> 64) as u64).rotate_left(29);
    let mixed = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize % REMEMBERED_WORDS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces that differ only in what a number could lose: zero bytes at the end, and the length.
    #[test]
    fn what_is_remembered_is_what_was_counted() {
        let tokenizer = bpe_openai::o200k_base();
        let mut counts = WordCounts::new(tokenizer);
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..20_000 {
            let bytes: Vec<u8> =
                (0..rng.usize(1..18)).map(|_| b"\0\0ab e\n"[rng.usize(..7)]).collect();
            assert_eq!(counts.piece(&bytes), tokenizer.bpe.count(&bytes), "{bytes:?}");
        }
    }

    #[test]
    fn a_short_piece_may_be_all_tokens_of_one_byte() {
        let tokenizer = bpe_openai::o200k_base();
        let mut counts = WordCounts::new(tokenizer);
        let bytes = [0xf5; PIECE_BYTES_MAX];
        for _ in 0..2 {
            assert_eq!(counts.piece(&bytes), tokenizer.bpe.count(&bytes));
        }
    }
}
