//! BERT uncased WordPiece, as `model/wordpiece.py` does it.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

const WORD_CHARS_MAX: usize = 100;

/// Token to row number; a piece inside a word starts with `##`.
pub(crate) type Vocabulary = HashMap<&'static str, u32>;

/// Row numbers of a text. Unknown words are skipped, there are no special tokens.
pub(crate) fn tokenize(text: &str, vocabulary: &Vocabulary) -> Vec<u32> {
    let mut rows = Vec::new();
    let mut piece = String::new();
    for word in separated(text).split_whitespace() {
        add_pieces(word, vocabulary, &mut piece, &mut rows);
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
fn add_pieces(word: &str, vocabulary: &Vocabulary, piece: &mut String, rows: &mut Vec<u32>) {
    if let Some(row) = vocabulary.get(word) {
        return rows.push(*row);
    }
    if word.chars().count() > WORD_CHARS_MAX {
        return;
    }
    let (before, mut rest) = (rows.len(), word);
    while !rest.is_empty() {
        let prefix = if rest.len() == word.len() { "" } else { "##" };
        let Some((row, bytes)) = longest(rest, prefix, vocabulary, piece) else {
            return rows.truncate(before);
        };
        rows.push(row);
        rest = rest.get(bytes..).unwrap_or_default();
    }
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
