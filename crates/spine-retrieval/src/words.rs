//! From a text to the terms it is found by.
//!
//! Words are runs of letters and digits, lower-case, without stop words, stemmed as English. An
//! identifier such as `retryCount` or `retry_count` gives its parts and itself. Chinese and Japanese
//! characters give each character and each pair: pairs rank, single ones let a short query match.

use std::cell::RefCell;

use rust_stemmers::{Algorithm, Stemmer};
use smol_str::SmolStr;

use crate::fast_map::Memo;
use crate::limits::{REMEMBERED_WORD_BYTES_MAX, REMEMBERED_WORDS_MAX, TERM_BYTES_MAX};
use crate::stop_words::is_stop_word;
use crate::term_key::term_key;

thread_local! {
    static STEMMER: Stemmer = Stemmer::create(Algorithm::English);
    /// Words as they are searched by, with their keys; `None` for those that are not.
    static STEMS: RefCell<Memo<Option<(SmolStr, u64)>>> =
        RefCell::new(Memo::new(REMEMBERED_WORDS_MAX));
}

/// Takes terms one by one, each with its key.
pub(crate) trait TermSink {
    fn add(&mut self, term: &str, key: u64);
}

impl TermSink for Vec<String> {
    fn add(&mut self, term: &str, _: u64) {
        self.push(term.to_owned());
    }
}

/// The stem of a lower-case word.
pub(crate) fn stem(word: &str) -> String {
    STEMMER.with(|stemmer| stemmer.stem(word).into_owned())
}

/// Adds the stem of a lower-case word that is not left out.
fn add_stem(word: &str, found: &mut impl TermSink) {
    if word.len() > REMEMBERED_WORD_BYTES_MAX {
        return add_cut(&stem(word), found);
    }
    let keyed = |stem: String| {
        let key = term_key(&stem);
        (stem.into(), key)
    };
    let make = |word: &str| (!is_stop_word(word)).then(|| keyed(stem(word)));
    STEMS.with_borrow_mut(|stems| {
        stems.with(word, make, |made| made.iter().for_each(|(stem, key)| found.add(stem, *key)));
    });
}

/// Adds a term that may be too long.
fn add_cut(term: &str, found: &mut impl TermSink) {
    let mut starts = term.char_indices();
    let beyond = starts.find(|(at, c)| at + c.len_utf8() > TERM_BYTES_MAX);
    let term = beyond.and_then(|(at, _)| term.get(..at)).unwrap_or(term);
    found.add(term, term_key(term));
}

/// The words of a text as they are written, without identifiers' parts: what names are matched by.
pub(crate) fn plain_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Every term of a text, in order, repeated as often as it stands there.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    add_terms(text, &mut found);
    found
}

/// Adds every term of a text, in order, repeated as often as it stands there.
pub(crate) fn add_terms(text: &str, found: &mut impl TermSink) {
    let tokens = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    tokens.filter(|token| !token.is_empty()).for_each(|token| add_token(token, found));
}

fn add_token(token: &str, found: &mut impl TermSink) {
    // Most words have neither parts nor capitals.
    if token.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return add_stem(token, found);
    }
    let parts: Vec<&str> = token.split('_').filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 {
        add_cut(&parts.join("_").to_lowercase(), found);
    }
    for part in parts {
        add_part(part, found);
    }
}

fn add_part(part: &str, found: &mut impl TermSink) {
    if !part.is_ascii() && part.chars().any(is_unspaced) {
        return add_mixed(part, found);
    }
    add_word(part, found);
    let humps = humps(part);
    if humps.len() > 1 {
        humps.into_iter().for_each(|hump| add_word(hump, found));
    }
}

fn add_word(word: &str, found: &mut impl TermSink) {
    add_stem(&word.to_lowercase(), found);
}

/// Splits where a capital follows a small letter; digits belong to what is before them.
fn humps(word: &str) -> Vec<&str> {
    let mut humps = Vec::new();
    let (mut start, mut small_before) = (0, false);
    for (at, c) in word.char_indices() {
        if small_before && c.is_uppercase() {
            humps.extend(word.get(start..at));
            start = at;
        }
        small_before = c.is_lowercase() || c.is_ascii_digit();
    }
    humps.extend(word.get(start..));
    humps
}

fn add_mixed(part: &str, found: &mut impl TermSink) {
    let chars: Vec<char> = part.chars().collect();
    for run in chars.chunk_by(|a, b| is_unspaced(*a) == is_unspaced(*b)) {
        if run.first().copied().is_some_and(is_unspaced) {
            run.iter().for_each(|c| add_cut(&c.to_string(), found));
            run.windows(2).for_each(|pair| add_cut(&pair.iter().collect::<String>(), found));
        } else {
            add_word(&run.iter().collect::<String>(), found);
        }
    }
}

/// Scripts that are written without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "{text:?}");
    }

    #[test]
    fn words_are_stemmed_and_stop_words_left_out() {
        check("The servers were restarting, twice!", &["server", "restart", "twice"]);
        check("", &[]);
        check("may", &["may"]);
    }

    #[test]
    fn identifiers_give_their_parts_and_themselves() {
        check("retry_count", &["retry_count", "retri", "count"]);
        check("parseUserName", &["parseusernam", "pars", "user", "name"]);
        check("HTTPServer v2", &["httpserver", "v2"]);
    }

    #[test]
    fn unspaced_scripts_give_characters_and_pairs() {
        check("東京都", &["東", "京", "都", "東京", "京都"]);
        check("用rust写", &["用", "rust", "写"]);
        check("Größe привет", &["größe", "привет"]);
    }
}
