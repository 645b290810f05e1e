//! From a text to the terms it is found by.
//!
//! Words are runs of letters and digits, lower-case, without stop words, stemmed as English. An
//! identifier such as `retryCount` or `retry_count` gives its parts and itself. Chinese and Japanese
//! characters give each character and each pair: pairs rank, single ones let a short query match.

use std::cell::RefCell;

use rust_stemmers::{Algorithm, Stemmer};

use crate::fast_map::Memo;
use crate::limits::{REMEMBERED_WORD_BYTES_MAX, REMEMBERED_WORDS_MAX, TERM_BYTES_MAX};
use crate::stop_words::is_stop_word;

thread_local! {
    static STEMMER: Stemmer = Stemmer::create(Algorithm::English);
    /// Words as they are searched by; `None` for those that are not.
    static STEMS: RefCell<Memo<Option<String>>> = RefCell::new(Memo::new(REMEMBERED_WORDS_MAX));
}

/// The stem of a lower-case word.
pub(crate) fn stem(word: &str) -> String {
    STEMMER.with(|stemmer| stemmer.stem(word).into_owned())
}

/// The stem of a lower-case word that is not left out.
fn searched_stem(word: &str) -> Option<String> {
    let make = |word: &str| (!is_stop_word(word)).then(|| stem(word));
    if word.len() > REMEMBERED_WORD_BYTES_MAX {
        return make(word);
    }
    STEMS.with_borrow_mut(|stems| stems.get(word, make))
}

/// The words of a text as they are written, without identifiers' parts: what names are matched by.
pub(crate) fn plain_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Every term of a text, in order, repeated as often as it stands there.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for token in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        add_token(token, &mut found);
    }
    found.iter_mut().for_each(cut);
    found
}

fn cut(term: &mut String) {
    let mut starts = term.char_indices();
    let beyond = starts.find(|(at, c)| at + c.len_utf8() > TERM_BYTES_MAX);
    if let Some((at, _)) = beyond {
        term.truncate(at);
    }
}

fn add_token(token: &str, found: &mut Vec<String>) {
    // Most words have neither parts nor capitals.
    if token.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return found.extend(Some(token).filter(|t| !t.is_empty()).and_then(searched_stem));
    }
    let parts: Vec<&str> = token.split('_').filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 {
        found.push(parts.join("_").to_lowercase());
    }
    for part in parts {
        add_part(part, found);
    }
}

fn add_part(part: &str, found: &mut Vec<String>) {
    if !part.is_ascii() && part.chars().any(is_unspaced) {
        return add_mixed(part, found);
    }
    add_word(part, found);
    let humps = humps(part);
    if humps.len() > 1 {
        humps.into_iter().for_each(|hump| add_word(hump, found));
    }
}

fn add_word(word: &str, found: &mut Vec<String>) {
    found.extend(searched_stem(&word.to_lowercase()));
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

fn add_mixed(part: &str, found: &mut Vec<String>) {
    let chars: Vec<char> = part.chars().collect();
    for run in chars.chunk_by(|a, b| is_unspaced(*a) == is_unspaced(*b)) {
        if run.first().copied().is_some_and(is_unspaced) {
            found.extend(run.iter().map(char::to_string));
            found.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
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
