//! What is on disk: postings and records in a tantivy index, as of one commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use spine_store::Identity;
use tantivy::schema::{
    BytesOptions, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{
    DocSet as _, Index, IndexBuilder, IndexSettings, Searcher, SegmentReader, TERMINATED,
    TantivyDocument, Term,
};

use crate::document_terms::BORDER;
use crate::record::RecordBytes;
use crate::segment_records::{Records, RecordsPlugin};
use crate::workspace_terms::{WORKSPACE_TERMS, WorkspaceTerms};

/// Raised whenever the form on disk or the way terms are made changes: an older index is built anew. One of format 3 may hold
/// memories that were deleted.
const FORMAT: u32 = 5;

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

    /// The same before anything was in.
    pub(crate) fn emptied(&self) -> Self {
        Self { changes: BTreeMap::new(), ..self.clone() }
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
    record: Field,
}

impl Fields {
    pub(crate) fn schema() -> (Schema, Self) {
        let counted = TextFieldIndexing::default()
            .set_tokenizer(WORKSPACE_TERMS)
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::WithFreqs);
        let counted = TextOptions::default().set_indexing_options(counted);
        let whole = BytesOptions::default().set_indexed();
        let mut schema = Schema::builder();
        let fields = Self {
            workspace: schema.add_bytes_field("workspace", whole.clone()),
            key: schema.add_bytes_field("key", whole),
            words: schema.add_text_field("words", counted),
            record: schema.add_custom_field("record", "record", serde_json::Value::Null),
        };
        (schema.build(), fields)
    }

    /// What a memory's document is deleted by.
    pub(crate) fn key(&self, workspace: &str, number: u32) -> Term {
        Term::from_field_bytes(self.key, &key(workspace, number))
    }

    pub(crate) fn document(
        &self,
        workspace: &str,
        number: u32,
        terms: &str,
        record: &RecordBytes,
    ) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        document.add_bytes(self.workspace, workspace.as_bytes());
        document.add_bytes(self.key, &key(workspace, number));
        document.add_text(self.words, terms);
        document.add_custom(self.record, record.as_bytes());
        document
    }
}

/// Numbers sort as their bytes do.
fn key(workspace: &str, number: u32) -> Vec<u8> {
    let mut key = format!("{workspace}{BORDER}").into_bytes();
    key.extend(number.to_be_bytes());
    key
}

/// What makes or opens an index that takes terms and records as they are given here.
pub(crate) fn index_builder() -> IndexBuilder {
    let (schema, fields) = Fields::schema();
    let tokenizers = TokenizerManager::default();
    tokenizers.register(WORKSPACE_TERMS, WorkspaceTerms::default());
    // Tantivy itself stores no documents: a thread for that has nothing to do.
    let settings =
        IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
    Index::builder()
        .schema(schema)
        .settings(settings)
        .tokenizers(tokenizers)
        .register_plugin(Arc::new(RecordsPlugin { field: fields.record }))
}

/// One commit, open for reading.
pub(crate) struct Committed {
    pub(crate) searcher: Searcher,
    /// Of each segment, in the same order.
    records: Vec<Records>,
    pub(crate) payload: Payload,
    pub(crate) fields: Fields,
}

impl Committed {
    /// Opens everything at once: what is open can be read even when it was merged away since.
    pub(crate) fn open(
        searcher: Searcher,
        payload: Payload,
        fields: Fields,
    ) -> tantivy::Result<Self> {
        let records = searcher.segment_readers().iter().map(Records::open);
        let records = records.collect::<Result<_, _>>()?;
        Ok(Self { searcher, records, payload, fields })
    }

    /// The segments, each with its records.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (&SegmentReader, &Records)> {
        self.searcher.segment_readers().iter().zip(&self.records)
    }

    fn term(&self, workspace: &str, term: &str) -> Term {
        Term::from_field_text(self.fields.words, &format!("{workspace}{BORDER}{term}"))
    }

    /// In how many documents a word stands, deleted ones too.
    pub(crate) fn frequency(&self, workspace: &str, term: &str) -> tantivy::Result<u64> {
        self.searcher.doc_freq(&self.term(workspace, term))
    }

    /// Calls back with segment, document and count of every posting of a term.
    pub(crate) fn postings(
        &self,
        (workspace, term): (&str, &str),
        mut found: impl FnMut(usize, u32, u32),
    ) -> tantivy::Result<()> {
        use tantivy::postings::Postings as _;
        let term = self.term(workspace, term);
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
        let term = Term::from_field_bytes(self.fields.workspace, workspace.as_bytes());
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
