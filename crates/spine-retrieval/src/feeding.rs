//! From rows of the store to what the index takes.

use spine_store::{ErrorKind, Memory, MemoryRow, StoreError};

use crate::committed::Fields;
use crate::disk::Write;
use crate::embedder::Embedder;
use crate::limits::{EMBED_TEXTS_MAX, MEMORY_NUMBER_MAX};
use crate::record::{Record, embedded_text, searched_terms};
use crate::space::Space;
use crate::term_key::term_key;
use crate::vector::Vector;

/// A row, ready to be taken.
pub(crate) enum Fresh {
    /// A memory as it is now.
    Live { record: Box<Record>, terms: Vec<String>, text: String },
    /// A memory that is no longer there.
    Gone { number: u32, change: u64 },
}

/// What is left of a row for the workspace in memory.
pub(crate) enum Entry {
    Live(Box<Record>),
    Gone { number: u32, change: u64 },
}

impl Entry {
    pub(crate) fn enter(self, space: &mut Space) {
        match self {
            Self::Live(record) => space.put(*record),
            Self::Gone { number, change } => space.end(number, change),
        }
    }
}

impl Fresh {
    pub(crate) fn number(&self) -> u32 {
        match self {
            Self::Live { record, .. } => record.number,
            Self::Gone { number, .. } => *number,
        }
    }

    pub(crate) fn change(&self) -> u64 {
        match self {
            Self::Live { record, .. } => record.change,
            Self::Gone { change, .. } => *change,
        }
    }

    pub(crate) fn has_vector(&self) -> bool {
        matches!(self, Self::Live { record, .. } if record.vector.is_some())
    }

    /// For disk and for memory.
    pub(crate) fn split(self, fields: &Fields, workspace: &str, space: &Space) -> (Write, Entry) {
        // A space holds every number that disk does.
        let known = (self.number() as usize) < space.numbers();
        match self {
            Self::Live { record, terms, .. } => {
                let document = Some(fields.document(workspace, &record, &terms));
                (Write { number: record.number, known, document }, Entry::Live(record))
            }
            Self::Gone { number, change } => {
                (Write { number, known, document: None }, Entry::Gone { number, change })
            }
        }
    }
}

/// Finds the terms of each row.
pub(crate) fn prepare(rows: &[MemoryRow]) -> Result<Vec<Fresh>, StoreError> {
    rows.iter().map(prepare_row).collect()
}

fn prepare_row(row: &MemoryRow) -> Result<Fresh, StoreError> {
    let number = row.id().number();
    let too_many = || StoreError::new(ErrorKind::TooLarge, format!("memory number {number}"));
    let number = u32::try_from(number).ok().filter(|n| u64::from(*n) <= MEMORY_NUMBER_MAX);
    let number = number.ok_or_else(too_many)?;
    Ok(match row {
        MemoryRow::Live(memory) => prepare_memory(memory, number),
        MemoryRow::Gone(gone) => Fresh::Gone { number, change: gone.change.0 },
    })
}

fn prepare_memory(memory: &Memory, number: u32) -> Fresh {
    let terms = searched_terms(memory);
    let record = Box::new(Record::of(memory, &terms, number));
    Fresh::Live { record, terms, text: embedded_text(memory) }
}

/// Gives each row its vector, as far as the embedder does.
pub(crate) async fn embed_fresh(embedder: &dyn Embedder, mut fresh: Vec<Fresh>) -> Vec<Fresh> {
    for batch in fresh.chunks_mut(EMBED_TEXTS_MAX) {
        let live = batch.iter_mut().filter_map(|row| match row {
            Fresh::Live { record, text, .. } => Some((record, std::mem::take(text))),
            Fresh::Gone { .. } => None,
        });
        let (records, texts): (Vec<&mut Box<Record>>, Vec<String>) = live.unzip();
        let Ok(vectors) = embedder.embed(texts).await else { continue };
        for (record, vector) in records.into_iter().zip(vectors) {
            if vector.len() == embedder.dimensions() {
                record.model = term_key(embedder.model());
                record.vector = Some(Vector::quantize(&vector));
            }
        }
    }
    fresh
}
