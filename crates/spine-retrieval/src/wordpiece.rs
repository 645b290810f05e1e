//! BERT uncased WordPiece, as `model/wordpiece.py` does it.

use std::cell::RefCell;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::fast_map::{FastMap, Memo};
use crate::limits::{REMEMBERED_WORD_BYTES_MAX, REMEMBERED_WORDS_MAX};

const WORD_CHARS_MAX: usize = 100;

/// Token to row number; a piece inside a word starts with `##`.
pub(crate) type Vocabulary = FastMap<&'static str, u32>;

thread_local! {
    /// The pieces of words that are not in the vocabulary as they are. There is one vocabulary.
    static PIECES: RefCell<Memo<Arc<[u32]>>> = RefCell::new(Memo::new(REMEMBERED_WORDS_MAX));
}

/// Row numbers of a text. Unknown words are skipped, there are no special tokens.
pub(crate) fn tokenize(text: &str, vocabulary: &Vocabulary) -> Vec<u32> {
    let mut rows = Vec::new();
    for word in separated(text).split_whitespace() {
        if let Some(row) = vocabulary.get(word) {
            rows.push(*row);
        } else if word.len() > REMEMBERED_WORD_BYTES_MAX {
            rows.extend_from_slice(&pieces(word, vocabulary));
        } else {
            let made = |word: &str| pieces(word, vocabulary);
            let pieces = PIECES.with_borrow_mut(|all| all.get(word, made));
            rows.extend_from_slice(&pieces);
        }
    }
    rows
}

/// Lower-case and without accents; punctuation and CJK characters stand alone.
fn separated(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + text.len() / 4);
    if text.is_ascii() {
        let kept = text.chars().filter(|c| !is_dropped(*c));
        kept.for_each(|c| push_apart(c.to_ascii_lowercase(), is_punctuation(c), &mut plain));
        return plain;
    }
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
fn pieces(word: &str, vocabulary: &Vocabulary) -> Arc<[u32]> {
    let (mut rows, mut piece, mut rest) = (Vec::new(), String::new(), word);
    if word.chars().count() > WORD_CHARS_MAX {
        return Arc::default();
    }
    while !rest.is_empty() {
        let prefix = if rest.len() == word.len() { "" } else { "##" };
        let Some((row, bytes)) = longest(rest, prefix, vocabulary, &mut piece) else {
            return Arc::default();
        };
        rows.push(row);
        rest = rest.get(bytes..).unwrap_or_default();
    }
    rows.into()
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
