//! What was taken of the store and is in no commit: it waits in as few bytes as it can until tantivy is to have it, which
//! costs more than all the rest and is of no use to searches before a commit.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use tantivy::indexer::UserOperation;

use crate::committed::{Fields, Payload};
use crate::limits::HANDED_OVER_TOGETHER;
use crate::record::RecordBytes;

/// One memory's new state on its way to disk.
pub(crate) struct Write {
    pub(crate) number: u32,
    /// Whether the index may have an earlier state of it.
    pub(crate) known: bool,
    /// `None` takes the memory out.
    pub(crate) document: Option<Document>,
}

/// What tantivy is given of a memory.
pub(crate) struct Document {
    /// As `DocumentTerms` gives them.
    pub(crate) terms: String,
    pub(crate) record: Arc<RecordBytes>,
}

impl Document {
    fn bytes(&self) -> usize {
        self.terms.capacity() + self.record.as_bytes().len()
    }
}

/// What was taken.
pub(crate) struct Taken {
    pub(crate) payload: Payload,
    /// Writes since the last commit began.
    pub(crate) pending: usize,
    waiting: Waiting,
}

/// Writes that tantivy does not have, in their order.
#[derive(Default)]
pub(crate) struct Waiting {
    batches: VecDeque<Batch>,
    bytes: usize,
}

/// Writes of one workspace.
struct Batch {
    workspace: String,
    writes: Vec<Write>,
    bytes: usize,
}

impl Taken {
    pub(crate) fn new(payload: Payload) -> Self {
        Self { payload, pending: 0, waiting: Waiting::default() }
    }

    pub(crate) fn add(&mut self, workspace: &str, to: u64, writes: Vec<Write>) {
        self.payload.changes.insert(workspace.to_owned(), to);
        self.pending += writes.len();
        let documents = writes.iter().filter_map(|write| write.document.as_ref());
        let bytes = documents.map(Document::bytes).sum();
        self.waiting.push(Batch { workspace: workspace.to_owned(), writes, bytes });
    }

    /// For a commit: what waits, and what the commit is to say.
    pub(crate) fn give(&mut self) -> (Waiting, Payload) {
        self.pending = 0;
        (mem::take(&mut self.waiting), self.payload.clone())
    }

    /// What has waited longest, until not more than so many bytes wait.
    pub(crate) fn give_excess(&mut self, bytes_max: usize) -> Waiting {
        let mut excess = Waiting::default();
        while self.waiting.bytes > bytes_max
            && let Some(batch) = self.waiting.pop()
        {
            excess.push(batch);
        }
        excess
    }

    /// The bytes of what waits.
    pub(crate) fn bytes(&self) -> usize {
        self.waiting.bytes
    }
}

impl Waiting {
    fn push(&mut self, batch: Batch) {
        self.bytes += batch.bytes;
        self.batches.push_back(batch);
    }

    fn pop(&mut self) -> Option<Batch> {
        let batch = self.batches.pop_front()?;
        self.bytes -= batch.bytes;
        Some(batch)
    }

    /// Many together: waking tantivy's thread for each costs more than its work.
    pub(crate) fn hand_over(
        self,
        fields: &Fields,
        mut run: impl FnMut(Vec<UserOperation>) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let mut operations = Vec::new();
        for Batch { workspace, writes, .. } in self.batches {
            for write in writes {
                operations.extend(write.operations(fields, &workspace));
                if operations.len() >= HANDED_OVER_TOGETHER {
                    run(mem::take(&mut operations))?;
                }
            }
        }
        run(operations)
    }
}

impl Write {
    fn operations(self, fields: &Fields, workspace: &str) -> impl Iterator<Item = UserOperation> {
        let Self { number, known, document } = self;
        let add = |Document { terms, record }: Document| {
            UserOperation::Add(fields.document(workspace, number, &terms, &record))
        };
        let known = known.then(|| UserOperation::Delete(fields.key(workspace, number)));
        known.into_iter().chain(document.map(add))
    }
}
