//! A query as the workspace understands it: who is named, which terms count and how much.

use std::collections::{BTreeMap, HashSet};

use crate::date_words::DatePart;
use crate::limits::QUERY_TERMS_MAX;
use crate::recipe::SPREAD;
use crate::space::Space;
use crate::term_key::term_key;
use crate::words::{plain_words, terms};

/// Letters of the shortest word that can stand for an author.
const NAME_CHARS_MIN: usize = 2;

/// Authors that a query names, and the query without their names.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub(crate) authors: HashSet<u32>,
    /// What is left when the names are taken out.
    pub(crate) rest: String,
}

impl Named {
    /// A name has as many words as it has parts; one of them is enough.
    pub(crate) fn new(space: &Space, text: &str) -> Self {
        let said: HashSet<String> = plain_words(text).filter_map(name_word).collect();
        let mut words = HashSet::new();
        let mut authors = HashSet::new();
        for (author, name) in space.authors() {
            for word in plain_words(name).filter_map(name_word).filter(|word| said.contains(word)) {
                words.insert(word);
                authors.insert(author);
            }
        }
        Self { authors, rest: without(text, &words) }
    }
}

fn name_word(word: &str) -> Option<String> {
    (word.chars().count() >= NAME_CHARS_MIN).then(|| word.to_lowercase())
}

fn without(text: &str, names: &HashSet<String>) -> String {
    let mut rest = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        let kept =
            if names.contains(&word.to_lowercase()) { piece.get(word.len()..) } else { None };
        rest.push_str(kept.unwrap_or(piece));
    }
    rest
}

/// One term of a query.
#[derive(Debug, Clone)]
pub(crate) struct QueryTerm {
    pub(crate) text: String,
    pub(crate) key: u64,
    /// How often it stands in the query.
    pub(crate) count: f64,
    pub(crate) date: DatePart,
    /// Live memories with it in their text, and in their date.
    pub(crate) in_texts: u64,
    pub(crate) in_dates: u64,
    /// Rarity among texts, among dates, and among texts with their context.
    pub(crate) text_idf: f64,
    pub(crate) date_idf: f64,
    pub(crate) context_idf: f64,
}

/// The terms of a query, by key.
pub(crate) fn query_terms(
    space: &Space,
    workspace: &str,
    named: &Named,
    text: &str,
) -> tantivy::Result<Vec<QueryTerm>> {
    let mut found = terms(&named.rest);
    if found.is_empty() {
        found = terms(text);
    }
    found.truncate(QUERY_TERMS_MAX);
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    found.into_iter().for_each(|term| *counts.entry(term).or_default() += 1.0);
    let weigh = |(text, count)| weigh(space, workspace, text, count);
    let mut terms: Vec<QueryTerm> = counts.into_iter().map(weigh).collect::<Result<_, _>>()?;
    terms.sort_by_key(|term| term.key);
    Ok(terms)
}

fn weigh(space: &Space, workspace: &str, text: String, count: f64) -> tantivy::Result<QueryTerm> {
    let key = term_key(&text);
    let error = space.tail.frequency_error(key);
    let on_disk = space.committed.frequency(workspace, &text)?;
    let date = DatePart::of_term(&text);
    let counts = (on_disk.saturating_add_signed(error), space.date_count(date));
    let (in_texts, in_dates) = (counts.0 as f64, counts.1 as f64);
    let all = space.live as f64;
    Ok(QueryTerm {
        in_texts: counts.0,
        in_dates: counts.1,
        key,
        count,
        date,
        text_idf: idf(all, in_texts),
        date_idf: idf(all, in_dates),
        context_idf: idf(all, (SPREAD * in_texts + in_dates).min(all)),
        text,
    })
}

fn idf(all: f64, with: f64) -> f64 {
    ((all - with + 0.5) / (with + 0.5)).max(0.0).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_out_as_whole_words() {
        let names = HashSet::from(["ann".to_owned()]);
        assert_eq!(without("What did Ann say to Annie, Ann?", &names), "What did  say to Annie, ?");
        assert_eq!(without("ann", &names), "");
    }
}
