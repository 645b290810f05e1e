//! BERT uncased WordPiece, as `model/wordpiece.py` does it.

use std::cell::RefCell;

use smallvec::SmallVec;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::fast_map::{FastMap, Memo};
use crate::limits::{REMEMBERED_WORD_BYTES_MAX, REMEMBERED_WORDS_MAX};

const WORD_CHARS_MAX: usize = 100;

/// Token to row number; a piece inside a word starts with `##`.
pub(crate) type Vocabulary = FastMap<&'static str, u32>;

/// Row numbers of one word.
type Pieces = SmallVec<[u32; 6]>;

thread_local! {
    /// The pieces of words. There is one vocabulary.
    static PIECES: RefCell<Memo<Pieces>> = RefCell::new(Memo::new(REMEMBERED_WORDS_MAX));
}

/// Row numbers of a text. Unknown words are skipped, there are no special tokens.
pub(crate) fn tokenize(text: &str, vocabulary: &Vocabulary) -> Vec<u32> {
    let mut rows = Vec::with_capacity(text.len() / 4);
    if is_plain(text) {
        let lower = text.to_ascii_lowercase();
        let words = lower.split(|c: char| c.is_ascii_whitespace()).filter(|word| !word.is_empty());
        words.for_each(|word| add_plain(word, vocabulary, &mut rows));
    } else {
        separated(text).split_whitespace().for_each(|word| add_word(word, vocabulary, &mut rows));
    }
    rows
}

/// Whether nothing has to be dropped or taken apart but punctuation.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii() && !is_dropped(char::from(byte)))
}

/// A lower-case word with whatever punctuation stands at it.
fn add_plain(word: &str, vocabulary: &Vocabulary, rows: &mut Vec<u32>) {
    for piece in word.split_inclusive(|c: char| c.is_ascii_punctuation()) {
        let bare = piece.strip_suffix(|c: char| c.is_ascii_punctuation()).unwrap_or(piece);
        for part in [bare, piece.get(bare.len()..).unwrap_or_default()] {
            if !part.is_empty() {
                add_word(part, vocabulary, rows);
            }
        }
    }
}

fn add_word(word: &str, vocabulary: &Vocabulary, rows: &mut Vec<u32>) {
    if word.len() > REMEMBERED_WORD_BYTES_MAX {
        return rows.extend(pieces(word, vocabulary));
    }
    let made = |word: &str| pieces(word, vocabulary);
    PIECES.with_borrow_mut(|all| all.with(word, made, |own| rows.extend_from_slice(own)));
}

/// Lower-case and without accents; punctuation and CJK characters stand alone.
fn separated(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + text.len() / 4);
    let mut spaced = String::with_capacity(text.len());
    let kept = text.chars().filter(|c| !is_dropped(*c));
    kept.for_each(|c| push_apart(c, is_cjk(c), &mut spaced));
    let is_mark = |c: &char| c.general_category() == GeneralCategory::NonspacingMark;
    let bare: String = spaced.nfd().filter(|c| !is_mark(c)).collect();
    let lower = bare.to_lowercase();
    lower.chars().for_each(|c| push_apart(c, is_punctuation(c), &mut plain));
    plain
}

fn push_apart(c: char, apart: bool, to: &mut String) {
    if apart {
        to.push(' ');
    }
    to.push(c);
    if apart {
        to.push(' ');
    }
}

fn is_dropped(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\r');
    }
    c == '\u{fffd}' || c.general_category_group() == GeneralCategoryGroup::Other
}

fn is_punctuation(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    c.general_category_group() == GeneralCategoryGroup::Punctuation
}

fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F | 0x2B820..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}

/// Greedy longest-match-first; nothing when any part is unknown.
fn pieces(word: &str, vocabulary: &Vocabulary) -> Pieces {
    let (mut rows, mut piece, mut rest) = (Pieces::new(), String::new(), word);
    if word.chars().count() > WORD_CHARS_MAX {
        return Pieces::new();
    }
    while !rest.is_empty() {
        let prefix = if rest.len() == word.len() { "" } else { "##" };
        let Some((row, bytes)) = longest(rest, prefix, vocabulary, &mut piece) else {
            return Pieces::new();
        };
        rows.push(row);
        rest = rest.get(bytes..).unwrap_or_default();
    }
    rows
}

fn longest(
    rest: &str,
    prefix: &str,
    vocabulary: &Vocabulary,
    piece: &mut String,
) -> Option<(u32, usize)> {
    piece.clear();
    piece.push_str(prefix);
    piece.push_str(rest);
    while piece.len() > prefix.len() {
        if let Some(row) = vocabulary.get(piece.as_str()) {
            return Some((*row, piece.len() - prefix.len()));
        }
        piece.pop();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts_take_a_shorter_way_to_the_same_words() {
        let vocabulary: Vocabulary =
            [("a", 1), ("b", 2), ("##b", 3), (".", 4), ("!", 5), ("'", 6)].into_iter().collect();
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..1_000 {
            let text: String =
                (0..rng.usize(..12)).map(|_| char::from(b"aAbB.!' \n"[rng.usize(..9)])).collect();
            let mut slow = Vec::new();
            separated(&text)
                .split_whitespace()
                .for_each(|word| add_word(word, &vocabulary, &mut slow));
            assert_eq!(tokenize(&text, &vocabulary), slow, "{text:?}");
        }
    }
}
