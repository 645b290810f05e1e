//! From rows of the store to what the index takes.

use std::sync::Arc;

use spine_store::{ErrorKind, Memory, MemoryRow, StoreError};

use crate::date_words::DateWords;
use crate::document_terms::DocumentTerms;
use crate::embedder::Embedder;
use crate::limits::{EMBED_TEXTS_MAX, MEMORY_NUMBER_MAX};
use crate::record::{Record, RecordBytes};
use crate::space::Space;
use crate::taken::{Document, Write};
use crate::term_key::term_key;
use crate::vector::Vector;

/// A row, ready to be taken.
pub(crate) struct Fresh {
    pub(crate) number: u32,
    pub(crate) change: u64,
    pub(crate) has_vector: bool,
    /// `None` for a memory that is no longer there.
    live: Option<Document>,
}

/// What is left of a row for the workspace in memory.
pub(crate) struct Entry {
    number: u32,
    change: u64,
    record: Option<Arc<RecordBytes>>,
}

impl Entry {
    pub(crate) fn enter(&self, space: &mut Space) {
        match self.record.as_ref().and_then(|record| Record::read(record.as_bytes())) {
            Some(record) => space.put(&record),
            None => space.end(self.number, self.change),
        }
    }
}

impl Fresh {
    /// For disk and for memory.
    pub(crate) fn split(self, space: &Space) -> (Write, Entry) {
        let Self { number, change, live, .. } = self;
        // A space holds every number that disk does.
        let known = (number as usize) < space.numbers();
        let record = live.as_ref().map(|document| document.record.clone());
        (Write { number, known, document: live }, Entry { number, change, record })
    }
}

/// Finds the terms and the vector of each row, the latter as far as the embedder gives it.
pub(crate) async fn prepare(
    rows: &[MemoryRow],
    embedder: &dyn Embedder,
    workspace: &str,
) -> Result<Vec<Fresh>, StoreError> {
    let model = term_key(embedder.model());
    let mut fresh = Vec::with_capacity(rows.len());
    for batch in rows.chunks(EMBED_TEXTS_MAX) {
        let mut vectors = vectors(batch, embedder).await.into_iter();
        for row in batch {
            let vector = live(row).and_then(|_| vectors.next().flatten());
            let vector = vector.as_ref().map(|vector| (model, vector));
            fresh.push(prepare_row(row, vector, workspace)?);
        }
    }
    Ok(fresh)
}

fn live(row: &MemoryRow) -> Option<&Memory> {
    match row {
        MemoryRow::Live(memory) => Some(memory),
        MemoryRow::Gone(_) => None,
    }
}

/// One for each live row; nothing when the embedder fails.
async fn vectors(rows: &[MemoryRow], embedder: &dyn Embedder) -> Vec<Option<Vector>> {
    let texts = rows.iter().filter_map(live).map(embedded_text).collect();
    let vectors = embedder.embed(texts).await.unwrap_or_default();
    let fits = |vector: &Vec<f32>| vector.len() == embedder.dimensions();
    vectors.into_iter().map(|v| Some(v).filter(fits).map(|v| Vector::quantize(&v))).collect()
}

/// What stands for the memory's meaning: its title and its text.
fn embedded_text(memory: &Memory) -> String {
    match &memory.body.title {
        Some(title) => format!("{title}\n{}", memory.body.text),
        None => memory.body.text.clone(),
    }
}

fn prepare_row(
    row: &MemoryRow,
    vector: Option<(u64, &Vector)>,
    workspace: &str,
) -> Result<Fresh, StoreError> {
    let number = row.id().number();
    let too_many = || StoreError::new(ErrorKind::TooLarge, format!("memory number {number}"));
    let number = u32::try_from(number).ok().filter(|n| u64::from(*n) <= MEMORY_NUMBER_MAX);
    let number = number.ok_or_else(too_many)?;
    let live = live(row).map(|memory| prepare_memory(memory, number, vector, workspace));
    Ok(Fresh { number, change: row.change().0, has_vector: vector.is_some(), live })
}

fn prepare_memory(
    memory: &Memory,
    number: u32,
    vector: Option<(u64, &Vector)>,
    workspace: &str,
) -> Document {
    let terms = searched_terms(memory, workspace);
    let date = DateWords::of(memory.body.occurred_at.as_ref(), memory.created_at);
    let record = Arc::new(RecordBytes::new(memory, number, (&terms, date), vector));
    Document { terms: terms.into_text(), record }
}

/// What a memory is found by: its title, its text and its tags.
fn searched_terms(memory: &Memory, workspace: &str) -> DocumentTerms {
    let mut found = DocumentTerms::new(workspace);
    found.add_text(&memory.body.text);
    memory.body.title.iter().for_each(|title| found.add_text(title));
    memory.body.tags.iter().for_each(|tag| found.add_text(tag.as_str()));
    found
}
