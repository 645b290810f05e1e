//! Pages of lists, bounded in rows and in bytes.

use std::convert::Infallible;
use std::sync::Arc;

use spine_protocol::EnvelopeId;

use crate::limits::PAGE_BYTES_MAX;
use crate::{Delivery, Event, Memory, MemoryRow, Record, StoredEnvelope, WorkspaceState};

/// A row of a list, and what it weighs.
pub trait PageRow {
    /// Roughly how many bytes its long parts have.
    fn size_bytes(&self) -> usize;
}

/// Some rows, and where to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T, C> {
    /// The rows.
    pub items: Vec<T>,
    /// What to give as `after` for the next page; `None` at the end.
    pub next: Option<C>,
}

impl<T: PageRow, C> Page<T, C> {
    /// As many rows as asked, or fewer where they are large, but one at least. No more rows are read than that, and one to
    /// see that there is another.
    pub fn read<E>(
        rows: impl IntoIterator<Item = Result<T, E>>,
        limit: usize,
        cursor: impl Fn(&T) -> C,
    ) -> Result<Self, E> {
        let (mut items, mut bytes) = (Vec::new(), 0);
        for row in rows {
            if items.len() >= limit || bytes >= PAGE_BYTES_MAX {
                let next = items.last().map(cursor);
                return Ok(Self { items, next });
            }
            let row = row?;
            bytes += row.size_bytes();
            items.push(row);
        }
        Ok(Self { items, next: None })
    }

    /// The same of rows that are at hand.
    pub fn of(rows: impl IntoIterator<Item = T>, limit: usize, cursor: impl Fn(&T) -> C) -> Self {
        let Ok(page) = Self::read(rows.into_iter().map(Ok::<_, Infallible>), limit, cursor);
        page
    }
}

impl PageRow for Memory {
    fn size_bytes(&self) -> usize {
        self.body.size_bytes()
    }
}

impl PageRow for MemoryRow {
    fn size_bytes(&self) -> usize {
        self.live().map_or(0, PageRow::size_bytes)
    }
}

impl PageRow for StoredEnvelope {
    fn size_bytes(&self) -> usize {
        self.bytes.len() + self.notes.len()
    }
}

impl PageRow for Delivery {
    fn size_bytes(&self) -> usize {
        self.story.len() + self.result.as_ref().map_or(0, Vec::len)
    }
}

impl PageRow for Record {
    fn size_bytes(&self) -> usize {
        self.value.len()
    }
}

impl PageRow for Event {
    fn size_bytes(&self) -> usize {
        self.data.size_bytes()
    }
}

impl<T: PageRow> PageRow for Arc<T> {
    fn size_bytes(&self) -> usize {
        self.as_ref().size_bytes()
    }
}

impl PageRow for WorkspaceState {
    fn size_bytes(&self) -> usize {
        0
    }
}

impl PageRow for EnvelopeId {
    fn size_bytes(&self) -> usize {
        0
    }
}
