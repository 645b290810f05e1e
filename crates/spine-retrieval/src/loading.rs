//! A workspace from disk into memory, and again in step with disk after a commit.

use std::sync::Arc;
use std::thread;

use spine_protocol::WorkspaceName;
use tantivy::SegmentReader;

use crate::committed::Committed;
use crate::record::Record;
use crate::segment_records::Records;
use crate::space::{Space, SpaceOptions};

/// The workspace as of a commit.
pub(crate) fn load(
    workspace: &WorkspaceName,
    life: u64,
    options: SpaceOptions,
    committed: Arc<Committed>,
) -> tantivy::Result<Space> {
    let mut space = Space::new(life, options, committed.clone());
    space.read_to = committed.payload.change_of(workspace.as_str());
    let segments: Vec<Segment<'_>> = committed
        .segments()
        .map(|segment| Segment::open(workspace.as_str(), &committed, segment))
        .collect::<Result<_, _>>()?;
    let mut vectors =
        space.expect(highest_number(&segments), segments.iter().map(|s| s.live.len()).sum());
    // One thread takes the vectors, the other the rest.
    thread::scope(|scope| {
        scope.spawn(|| {
            for record in segments.iter().flat_map(Segment::live_records) {
                vectors.set(record.number, record.vector(options.model, options.dimensions));
            }
        });
        segments.iter().flat_map(Segment::live_records).for_each(|record| space.load(&record));
    });
    for record in segments.iter().flat_map(Segment::deleted_records) {
        space.tail.discount(record.terms());
    }
    space.finish_loading(vectors);
    map_documents(workspace, &mut space)?;
    Ok(space)
}

/// What a segment has of one workspace.
struct Segment<'c> {
    records: &'c Records,
    live: Vec<u32>,
    deleted: Vec<u32>,
}

impl<'c> Segment<'c> {
    fn open(
        workspace: &str,
        committed: &Committed,
        (reader, records): (&SegmentReader, &'c Records),
    ) -> tantivy::Result<Self> {
        let mut segment = Self { records, live: Vec::new(), deleted: Vec::new() };
        committed.documents(workspace, reader, |document, deleted| {
            let list = if deleted { &mut segment.deleted } else { &mut segment.live };
            list.push(document);
        })?;
        Ok(segment)
    }

    fn live_records(&self) -> impl Iterator<Item = Record<'_>> {
        self.live.iter().filter_map(|document| self.records.read(*document))
    }

    fn deleted_records(&self) -> impl Iterator<Item = Record<'_>> {
        self.deleted.iter().filter_map(|document| self.records.read(*document))
    }
}

fn highest_number(segments: &[Segment<'_>]) -> u32 {
    let numbers =
        segments.iter().flat_map(|s| s.live.iter().map(|document| s.records.number(*document)));
    numbers.max().unwrap_or_default()
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
    discount_stale(workspace, space)?;
    map_documents(workspace, space)
}

/// Takes off what documents count that are deleted, or that the tail has in a newer state.
fn discount_stale(workspace: &WorkspaceName, space: &mut Space) -> tantivy::Result<()> {
    let committed = space.committed.clone();
    let first = space.tail.first().unwrap_or_default();
    for (reader, records) in committed.segments() {
        if !reader.has_deletes() && space.tail.is_empty() {
            continue;
        }
        committed.documents(workspace.as_str(), reader, |document, deleted| {
            // Most memories in the tail are newer than any on disk.
            let number = records.number(document);
            if !deleted && (number < first || !space.tail.contains(number)) {
                return;
            }
            if let Some(record) = records.read(document) {
                space.tail.discount(record.terms());
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
    for (reader, records) in committed.segments() {
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
