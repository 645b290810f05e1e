//! The terms of one memory on their way into the index: as text for the postings, as keys for the record.

use crate::term_key::{TermCount, count_keys};
use crate::words::{TermSink, add_terms};

/// Between a workspace's name and its terms; no name has it.
pub(crate) const BORDER: char = '\u{1f}';

/// The workspace, then each term; `workspace_terms` takes them apart again.
#[derive(Debug, Clone)]
pub(crate) struct DocumentTerms {
    text: String,
    keys: Vec<u64>,
}

impl DocumentTerms {
    /// None yet.
    pub(crate) fn new(workspace: &str) -> Self {
        Self { text: format!("{workspace}{BORDER}"), keys: Vec::new() }
    }

    /// Adds the terms of a text.
    pub(crate) fn add_text(&mut self, text: &str) {
        self.text.reserve(text.len());
        add_terms(text, self);
    }

    /// For the postings.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// How many there are, repeated ones too.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Each term once with its count, sorted.
    pub(crate) fn counts(&self) -> Vec<TermCount> {
        count_keys(self.keys.clone())
    }
}

impl TermSink for DocumentTerms {
    fn add(&mut self, term: &str, key: u64) {
        self.text.push_str(term);
        self.text.push(' ');
        self.keys.push(key);
    }
}
