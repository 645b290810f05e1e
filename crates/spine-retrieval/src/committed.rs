//! What is on disk: postings and records in a tantivy index, as of one commit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use spine_store::Identity;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{DocSet as _, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term};

use crate::record::Record;

/// Raised whenever the form on disk or the way terms are made changes: an older index is built anew.
const FORMAT: u32 = 1;
/// Between a workspace's name and a term; no name has it.
const BORDER: &str = "\u{1f}";
/// The column with the records.
const RECORD: &str = "record";

/// What a commit says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Payload {
    format: u32,
    store: String,
    history: String,
    /// The model of the vectors that were written last; each record names its own too.
    model: String,
    /// For each workspace, the change up to which it is in.
    pub(crate) changes: BTreeMap<String, u64>,
}

impl Payload {
    pub(crate) fn new(identity: &Identity, model: &str) -> Self {
        let (store, history) = (identity.store.clone(), identity.history.clone());
        Self { format: FORMAT, store, history, model: model.to_owned(), changes: BTreeMap::new() }
    }

    /// The change up to which a workspace is in.
    pub(crate) fn change_of(&self, workspace: &str) -> u64 {
        self.changes.get(workspace).copied().unwrap_or_default()
    }

    /// Whether an index with this payload can be used for what another one would describe.
    pub(crate) fn fits(&self, other: &Self) -> bool {
        (self.format, &self.store, &self.history) == (other.format, &other.store, &other.history)
    }
}

/// The fields of the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    workspace: Field,
    key: Field,
    words: Field,
    dates: Field,
    record: Field,
}

impl Fields {
    pub(crate) fn schema() -> (Schema, Self) {
        let counted = TextFieldIndexing::default()
            .set_tokenizer("whitespace")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::WithFreqs);
        let counted = TextOptions::default().set_indexing_options(counted);
        let mut schema = Schema::builder();
        let fields = Self {
            workspace: schema.add_text_field("workspace", STRING),
            key: schema.add_text_field("key", STRING),
            words: schema.add_text_field("words", counted.clone()),
            dates: schema.add_text_field("dates", counted),
            record: schema.add_u64_field(RECORD, FAST),
        };
        (schema.build(), fields)
    }

    /// What a memory's document is deleted by.
    pub(crate) fn key(&self, workspace: &str, number: u32) -> Term {
        Term::from_field_text(self.key, &format!("{workspace}{BORDER}{number}"))
    }

    pub(crate) fn document(
        &self,
        workspace: &str,
        record: &Record,
        terms: &[String],
    ) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_text(self.workspace, workspace);
        document.add_text(self.key, format!("{workspace}{BORDER}{}", record.number));
        document.add_text(self.words, tokens(workspace, terms));
        document.add_text(self.dates, tokens(workspace, &record.date.terms()));
        record.encode().into_iter().for_each(|word| document.add_u64(self.record, word));
        document
    }
}

/// Terms with the workspace before each; none has a space in it.
fn tokens(workspace: &str, terms: &[String]) -> String {
    let mut text = String::with_capacity(terms.len() * (workspace.len() + 10));
    for term in terms {
        text.extend([workspace, BORDER, term, " "]);
    }
    text
}

/// Where a posting is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The memory's own words.
    Words,
    /// The words of its date.
    Dates,
}

/// One commit, open for reading.
pub(crate) struct Committed {
    pub(crate) searcher: Searcher,
    pub(crate) payload: Payload,
    pub(crate) fields: Fields,
}

impl Committed {
    fn term(&self, source: Source, workspace: &str, term: &str) -> Term {
        let field = match source {
            Source::Words => self.fields.words,
            Source::Dates => self.fields.dates,
        };
        Term::from_field_text(field, &format!("{workspace}{BORDER}{term}"))
    }

    /// In how many documents a word stands, deleted ones too.
    pub(crate) fn frequency(&self, workspace: &str, term: &str) -> tantivy::Result<u64> {
        self.searcher.doc_freq(&self.term(Source::Words, workspace, term))
    }

    /// Documents of a workspace, deleted ones too.
    pub(crate) fn count(&self, workspace: &str) -> tantivy::Result<usize> {
        let term = Term::from_field_text(self.fields.workspace, workspace);
        Ok(self.searcher.doc_freq(&term)? as usize)
    }

    /// Calls back with segment, document and count of every posting of a term.
    pub(crate) fn postings(
        &self,
        (source, workspace, term): (Source, &str, &str),
        mut found: impl FnMut(usize, u32, u32),
    ) -> tantivy::Result<()> {
        use tantivy::postings::Postings as _;
        let term = self.term(source, workspace, term);
        for (segment, reader) in self.searcher.segment_readers().iter().enumerate() {
            let index = reader.inverted_index(term.field())?;
            let Some(mut postings) = index.read_postings(&term, IndexRecordOption::WithFreqs)?
            else {
                continue;
            };
            while postings.doc() != TERMINATED {
                found(segment, postings.doc(), postings.term_freq());
                postings.advance();
            }
        }
        Ok(())
    }

    /// Calls back with every document of a workspace in one segment and whether it was deleted.
    pub(crate) fn documents(
        &self,
        workspace: &str,
        reader: &SegmentReader,
        mut found: impl FnMut(u32, bool),
    ) -> tantivy::Result<()> {
        let term = Term::from_field_text(self.fields.workspace, workspace);
        let index = reader.inverted_index(term.field())?;
        let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? else {
            return Ok(());
        };
        while postings.doc() != TERMINATED {
            found(postings.doc(), reader.is_deleted(postings.doc()));
            postings.advance();
        }
        Ok(())
    }
}

/// The records of one segment.
pub(crate) struct Records {
    column: tantivy::columnar::Column<u64>,
    words: Vec<u64>,
}

impl Records {
    pub(crate) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        Ok(Self { column: reader.fast_fields().u64(RECORD)?, words: Vec::new() })
    }

    /// The record of a document; `None` when it cannot be read.
    pub(crate) fn read(&mut self, document: u32) -> Option<Record> {
        let rows = self.column.index.value_row_ids(document);
        self.words.resize(rows.len(), 0);
        self.column.values.get_range(u64::from(rows.start), &mut self.words);
        Record::decode(&self.words)
    }

    /// Only which memory a document stands for.
    pub(crate) fn number(&self, document: u32) -> u32 {
        let first = self.column.index.value_row_ids(document).start;
        (self.column.values.get_val(first) >> 32) as u32
    }
}
