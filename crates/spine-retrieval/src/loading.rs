//! A workspace from disk into memory, and again in step with disk after a commit.

use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use spine_protocol::WorkspaceName;

use crate::committed::{Committed, Records};
use crate::record::Record;
use crate::space::{Space, SpaceOptions};

/// Records that are passed on together while loading, and such batches that wait.
const BATCH_RECORDS: usize = 1_024;
const WAITING_BATCHES_MAX: usize = 16;

/// The workspace as of a commit.
pub(crate) fn load(
    workspace: &WorkspaceName,
    life: u64,
    options: SpaceOptions,
    committed: Arc<Committed>,
) -> tantivy::Result<Space> {
    let mut space = Space::new(life, options, committed.clone());
    space.read_to = committed.payload.change_of(workspace.as_str());
    space.expect(committed.count(workspace.as_str())?);
    // One thread reads while the other takes in.
    thread::scope(|scope| {
        let (sender, batches) = mpsc::sync_channel(WAITING_BATCHES_MAX);
        let reading = scope.spawn(|| read_all(workspace.as_str(), &committed, sender));
        batches.iter().flatten().for_each(|read| take(&mut space, read));
        reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    space.finish_loading();
    map_documents(workspace, &mut space)?;
    Ok(space)
}

/// A record and whether it was deleted.
type Read = (Record, bool);

fn take(space: &mut Space, (record, deleted): Read) {
    if deleted {
        record.terms.iter().for_each(|term| space.adjust_frequency(*term, -1));
    } else {
        space.load(record);
    }
}

fn read_all(
    workspace: &str,
    committed: &Committed,
    sender: SyncSender<Vec<Read>>,
) -> tantivy::Result<()> {
    for reader in committed.searcher.segment_readers() {
        let mut records = Records::open(reader)?;
        let mut batch = Vec::with_capacity(BATCH_RECORDS);
        committed.documents(workspace, reader, |document, deleted| {
            batch.extend(records.read(document).map(|record| (record, deleted)));
            if batch.len() >= BATCH_RECORDS {
                let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH_RECORDS));
                // Whoever no longer listens has given up.
                sender.send(full).ok();
            }
        })?;
        sender.send(batch).ok();
    }
    Ok(())
}

/// Whether a newer commit is there, or the space has grown so that postings must lead to it.
pub(crate) fn is_behind(space: &Space, newest: &Arc<Committed>) -> bool {
    !Arc::ptr_eq(&space.committed, newest) || needs_documents(space)
}

fn needs_documents(space: &Space) -> bool {
    let segments = space.committed.searcher.segment_readers().len();
    space.live > space.limits.direct_memories_max && space.documents.len() != segments
}

/// Takes a newer commit: the tail becomes shorter, and frequencies are off by less.
pub(crate) fn adopt(
    workspace: &WorkspaceName,
    space: &mut Space,
    newest: Arc<Committed>,
) -> tantivy::Result<()> {
    let to = newest.payload.change_of(workspace.as_str());
    space.committed = newest;
    space.settle(to);
    space.frequency_errors.clear();
    let tail: Vec<u32> = space.tail.keys().copied().collect();
    for number in tail {
        let terms = space.slot(number).map(|slot| space.terms(slot).to_vec()).unwrap_or_default();
        terms.iter().for_each(|term| space.adjust_frequency(*term, 1));
    }
    discount_stale(workspace, space)?;
    map_documents(workspace, space)
}

/// Takes off what documents count that are deleted, or that the tail has in a newer state.
fn discount_stale(workspace: &WorkspaceName, space: &mut Space) -> tantivy::Result<()> {
    let committed = space.committed.clone();
    for reader in committed.searcher.segment_readers() {
        if !reader.has_deletes() && space.tail.is_empty() {
            continue;
        }
        let mut records = Records::open(reader)?;
        committed.documents(workspace.as_str(), reader, |document, deleted| {
            if !deleted && !space.tail.contains_key(&records.number(document)) {
                return;
            }
            if let Some(record) = records.read(document) {
                record.terms.iter().for_each(|term| space.adjust_frequency(*term, -1));
            }
        })?;
    }
    Ok(())
}

/// Notes which memory each document stands for, where postings are followed.
fn map_documents(workspace: &WorkspaceName, space: &mut Space) -> tantivy::Result<()> {
    space.documents.clear();
    if space.live <= space.limits.direct_memories_max {
        return Ok(());
    }
    let committed = space.committed.clone();
    for reader in committed.searcher.segment_readers() {
        let records = Records::open(reader)?;
        let mut numbers = vec![0; reader.max_doc() as usize];
        committed.documents(workspace.as_str(), reader, |document, deleted| {
            if let Some(place) = numbers.get_mut(document as usize).filter(|_| !deleted) {
                *place = records.number(document);
            }
        })?;
        space.documents.push(numbers);
    }
    Ok(())
}
