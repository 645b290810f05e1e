//! The index folder: one writer, and the newest commit for readers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tantivy::directory::MmapDirectory;
use tantivy::index::SegmentId;
use tantivy::indexer::{LogMergePolicy, NoMergePolicy, UserOperation};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument};

use crate::committed::{Committed, Fields, Payload, index_builder};
use crate::limits::{OPEN_TRIES_MAX, WRITER_BYTES};

/// Segments with a larger share of deleted documents are merged.
const DELETED_SHARE_MAX: f32 = 0.3;

/// One memory's new state on its way to disk.
pub(crate) struct Write {
    pub(crate) number: u32,
    /// Whether the index may have an earlier state of it.
    pub(crate) known: bool,
    /// `None` takes the memory out.
    pub(crate) document: Option<TantivyDocument>,
}

/// The folder, open.
pub(crate) struct Disk {
    index: Index,
    reader: IndexReader,
    fields: Fields,
    writing: Mutex<Writing>,
    /// Held by whoever has the writer to itself.
    turn: Mutex<()>,
    newest: RwLock<Arc<Committed>>,
    /// A rebuild begins a new life; what belongs to an earlier one is not taken.
    life: AtomicU64,
}

struct Writing {
    /// `None` while somebody commits.
    writer: Option<IndexWriter>,
    /// What comes meanwhile. As many writes as wait for a commit, at most: who brings more commits first.
    waiting: Vec<UserOperation>,
    payload: Payload,
    /// Writes that no commit has.
    pending: usize,
}

impl Writing {
    fn run(&mut self, operations: Vec<UserOperation>) -> tantivy::Result<()> {
        match &self.writer {
            // All at once: waking tantivy's thread for each costs more than its work.
            Some(writer) => writer.run(operations).map(drop),
            None => {
                self.waiting.extend(operations);
                Ok(())
            }
        }
    }

    fn hold(&mut self) -> tantivy::Result<Held> {
        let lost = || tantivy::TantivyError::InternalError("the writer is lost".to_owned());
        let writer = self.writer.take().ok_or_else(lost)?;
        let (payload, pending) = (self.payload.clone(), self.pending);
        Ok(Held { writer, payload, pending, committed: 0 })
    }

    fn resume(&mut self, held: Held) -> tantivy::Result<()> {
        self.writer = Some(held.writer);
        self.pending -= held.committed;
        let waiting = std::mem::take(&mut self.waiting);
        self.run(waiting)
    }

    /// Forgets what was taken; the writer is away.
    fn clear(&mut self) {
        self.payload.changes.clear();
        self.waiting.clear();
        self.pending = 0;
    }
}

/// The writer, with what a commit would have.
struct Held {
    writer: IndexWriter,
    payload: Payload,
    pending: usize,
    committed: usize,
}

impl Disk {
    /// Opens the index for this store, and begins anew where it is of another, damaged or older.
    pub(crate) fn open(folder: &Path, fresh: Payload) -> tantivy::Result<Self> {
        if let Some((index, payload)) = usable(folder, &fresh) {
            return Self::start(index, payload);
        }
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        Self::start(index_builder().create_in_dir(folder)?, fresh)
    }

    fn start(index: Index, payload: Payload) -> tantivy::Result<Self> {
        let fields = Fields::schema().1;
        let reader: IndexReader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let committed = Committed::open(reader.searcher(), payload.clone(), fields)?;
        let (writer, waiting) = (Some(writer(&index)?), Vec::new());
        let writing = Mutex::new(Writing { writer, waiting, payload, pending: 0 });
        let newest = RwLock::new(Arc::new(committed));
        let (turn, life) = (Mutex::default(), AtomicU64::new(0));
        Ok(Self { index, reader, fields, writing, turn, newest, life })
    }

    /// The fields of the index.
    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// The newest commit.
    pub(crate) fn newest(&self) -> Arc<Committed> {
        self.newest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The life that the index is in.
    pub(crate) fn life(&self) -> u64 {
        self.life.load(Ordering::SeqCst)
    }

    fn writing(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes writes of one workspace that follow on what it gave before, and answers how many wait for
    /// a commit. `None` when they do not follow on: the space has to be loaded again.
    pub(crate) fn feed(
        &self,
        life: u64,
        workspace: &str,
        (from, to): (u64, u64),
        writes: Vec<Write>,
    ) -> tantivy::Result<Option<usize>> {
        let mut writing = self.writing();
        if self.life() != life || writing.payload.change_of(workspace) != from {
            return Ok(None);
        }
        writing.pending += writes.len();
        let mut operations = Vec::with_capacity(writes.len());
        for write in writes {
            let known = write.known.then(|| self.fields.key(workspace, write.number));
            operations.extend(known.map(UserOperation::Delete));
            operations.extend(write.document.map(UserOperation::Add));
        }
        writing.run(operations)?;
        writing.payload.changes.insert(workspace.to_owned(), to);
        Ok(Some(writing.pending))
    }

    /// Writes that no commit has.
    pub(crate) fn pending(&self) -> usize {
        self.writing().pending
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest commit, with all that was taken of this workspace.
    pub(crate) fn newest_with(&self, workspace: &str) -> tantivy::Result<Arc<Committed>> {
        if let Some(newest) = self.newest_if_whole(workspace) {
            return Ok(newest);
        }
        let turn = self.turn();
        if let Some(newest) = self.newest_if_whole(workspace) {
            return Ok(newest);
        }
        self.with_writer(&turn, |held| self.commit_held(held))?;
        Ok(self.newest())
    }

    fn newest_if_whole(&self, workspace: &str) -> Option<Arc<Committed>> {
        let taken = self.writing().payload.change_of(workspace);
        Some(self.newest()).filter(|newest| newest.payload.change_of(workspace) == taken)
    }

    /// Makes durable and searchable what was taken so far. What is taken meanwhile is for the next commit.
    pub(crate) fn commit(&self) -> tantivy::Result<()> {
        self.with_writer(&self.turn(), |held| self.commit_held(held))
    }

    /// Gives the writer away; what is taken meanwhile waits until it is back.
    fn with_writer(
        &self,
        _turn: &MutexGuard<'_, ()>,
        work: impl FnOnce(&mut Held) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let mut held = self.writing().hold()?;
        let done = work(&mut held);
        self.writing().resume(held)?;
        done
    }

    fn commit_held(&self, held: &mut Held) -> tantivy::Result<()> {
        let payload = serde_json::to_string(&held.payload)
            .map_err(|error| tantivy::TantivyError::InternalError(error.to_string()))?;
        let mut prepared = held.writer.prepare_commit()?;
        prepared.set_payload(&payload);
        prepared.commit()?;
        held.committed = held.pending;
        self.publish(held.payload.clone())
    }

    fn publish(&self, payload: Payload) -> tantivy::Result<()> {
        let committed = Arc::new(self.open_newest(payload)?);
        *self.newest.write().unwrap_or_else(PoisonError::into_inner) = committed;
        Ok(())
    }

    fn open_newest(&self, payload: Payload) -> tantivy::Result<Committed> {
        let open = || {
            self.reader.reload()?;
            Committed::open(self.reader.searcher(), payload.clone(), self.fields)
        };
        let mut opened = open();
        // A merge that ends just now takes files away before all are open.
        for _ in 1..OPEN_TRIES_MAX {
            opened = opened.or_else(|_| open());
        }
        opened
    }

    /// Throws everything away and begins a new life.
    pub(crate) fn clear(&self) -> tantivy::Result<()> {
        self.with_writer(&self.turn(), |held| {
            self.begin_life();
            held.payload.changes.clear();
            held.pending = 0;
            held.writer.rollback()?;
            held.writer.delete_all_documents()?;
            self.commit_held(held)
        })
    }

    fn begin_life(&self) {
        let mut writing = self.writing();
        self.life.fetch_add(1, Ordering::SeqCst);
        writing.clear();
    }

    /// Commits, and writes segments anew without what was deleted from them. The old files go with
    /// `remove_unused`, when nobody reads them any more.
    pub(crate) fn erase(&self) -> tantivy::Result<()> {
        self.with_writer(&self.turn(), |held| {
            // Merges under way would hold segments that have to be written anew.
            held.writer.set_merge_policy(Box::new(NoMergePolicy));
            self.commit_held(held)?;
            for segment in self.dirty_segments()? {
                held.writer.merge(&[segment]).wait()?;
            }
            held.writer.set_merge_policy(merge_policy());
            self.publish(held.payload.clone())
        })
    }

    fn dirty_segments(&self) -> tantivy::Result<Vec<SegmentId>> {
        let metas = self.index.searchable_segment_metas()?;
        Ok(metas.iter().filter(|meta| meta.has_deletes()).map(|meta| meta.id()).collect())
    }

    /// Removes the files that no commit that is still open needs.
    pub(crate) fn remove_unused(&self) -> tantivy::Result<()> {
        let collect = |held: &mut Held| held.writer.garbage_collect_files().wait().map(drop);
        self.with_writer(&self.turn(), collect)
    }
}

fn usable(folder: &Path, fresh: &Payload) -> Option<(Index, Payload)> {
    // A folder without an index is given an empty one, which has no payload.
    let index = index_builder().open_or_create(MmapDirectory::open(folder).ok()?).ok()?;
    let written = index.load_metas().ok()?.payload?;
    let payload: Payload = serde_json::from_str(&written).ok()?;
    (payload.fits(fresh) && is_readable(&index, &payload)).then_some((index, payload))
}

fn is_readable(index: &Index, payload: &Payload) -> bool {
    let open = |reader: IndexReader| {
        Committed::open(reader.searcher(), payload.clone(), Fields::schema().1)
    };
    index.reader().and_then(open).is_ok()
}

fn writer(index: &Index) -> tantivy::Result<IndexWriter> {
    let writer = index.writer_with_num_threads(1, WRITER_BYTES)?;
    writer.set_merge_policy(merge_policy());
    // The first stamp is that of the last commit: a deletion that got it could be lost in a merge up to that commit.
    writer.run([])?;
    Ok(writer)
}

fn merge_policy() -> Box<LogMergePolicy> {
    let mut policy = LogMergePolicy::default();
    policy.set_del_docs_ratio_before_merge(DELETED_SHARE_MAX);
    Box::new(policy)
}

/// Where the index of a data file lies: beside it.
pub fn folder_beside(data_file: &Path) -> PathBuf {
    let mut name = data_file.as_os_str().to_owned();
    name.push(".index");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date_words::DateWords;
    use crate::document_terms::DocumentTerms;
    use crate::record::RecordBytes;
    use spine_store::{Change, Identity, Memory, MemoryBody, UnixMs};

    const WORKSPACE: &str = "space";

    fn document(fields: &Fields, number: u32) -> TantivyDocument {
        let id = spine_protocol::MemoryId::new(u64::from(number)).unwrap();
        let (created_at, updated_at) = (UnixMs(0), UnixMs(0));
        let (change, body) = (Change(1), MemoryBody::default());
        let memory = Memory { id, version: 1, change, created_at, updated_at, body };
        let (terms, date) = (DocumentTerms::new(WORKSPACE), DateWords::of(None, created_at));
        let record = RecordBytes::new(&memory, number, (&terms, date), None);
        fields.document(WORKSPACE, number, &terms, &record)
    }

    /// Two segments, of the last one a document deleted by the last commit, and a merge of them due, as a crash leaves
    /// it.
    fn leave_a_merge_due(folder: &Path, payload: &Payload) {
        let index = index_builder().create_in_dir(folder).unwrap();
        let fields = Fields::schema().1;
        let mut writer = index.writer_with_num_threads(1, WRITER_BYTES).unwrap();
        writer.set_merge_policy(Box::new(NoMergePolicy));
        for numbers in [1..5, 5..8] {
            let add = |number| UserOperation::Add(document(&fields, number));
            writer.run(numbers.map(add).collect::<Vec<_>>()).unwrap();
            writer.commit().unwrap();
        }
        writer.delete_term(fields.key(WORKSPACE, 5));
        let mut prepared = writer.prepare_commit().unwrap();
        prepared.set_payload(&serde_json::to_string(payload).unwrap());
        prepared.commit().unwrap();
    }

    fn numbers_after_merges(disk: Disk) -> Vec<u32> {
        disk.writing.into_inner().unwrap().writer.unwrap().wait_merging_threads().unwrap();
        disk.reader.reload().unwrap();
        let fresh = Payload::default();
        let committed = Committed::open(disk.reader.searcher(), fresh, disk.fields).unwrap();
        let mut numbers = Vec::new();
        for (reader, records) in committed.segments() {
            numbers.extend(reader.doc_ids_alive().map(|document| records.number(document)));
        }
        numbers.sort_unstable();
        numbers
    }

    fn fresh_payload() -> Payload {
        let identity = Identity { store: "s".into(), history: "h".into(), incarnation: 1 };
        Payload::new(&identity, "model")
    }

    fn empty_disk(folder: &Path) -> Disk {
        Disk::open(folder, fresh_payload()).unwrap()
    }

    fn feed_one(disk: &Disk, number: u32, span: (u64, u64)) -> Option<usize> {
        let document = Some(document(disk.fields(), number));
        let write = Write { number, known: false, document };
        disk.feed(disk.life(), WORKSPACE, span, vec![write]).unwrap()
    }

    /// Whoever searched waited until a commit that somebody else had begun was on disk.
    #[test]
    fn what_is_taken_during_a_commit_waits_for_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let disk = empty_disk(folder.path());
        assert_eq!(feed_one(&disk, 1, (0, 1)), Some(1));
        let feed_and_commit = |held: &mut Held| {
            assert_eq!(feed_one(&disk, 2, (1, 2)), Some(2));
            disk.commit_held(held)
        };
        disk.with_writer(&disk.turn(), feed_and_commit).unwrap();
        let committed = |disk: &Disk| {
            let newest = disk.newest();
            (newest.payload.change_of(WORKSPACE), newest.searcher.num_docs(), disk.pending())
        };
        assert_eq!(committed(&disk), (1, 1, 1));
        disk.commit().unwrap();
        assert_eq!(committed(&disk), (2, 2, 0));
    }

    #[test]
    fn what_is_taken_before_a_new_life_is_not_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let disk = empty_disk(folder.path());
        feed_one(&disk, 1, (0, 1));
        let before = disk.life();
        disk.clear().unwrap();
        let late = Write { number: 2, known: false, document: None };
        assert_eq!(disk.feed(before, WORKSPACE, (1, 2), vec![late]).unwrap(), None);
        assert_eq!(feed_one(&disk, 3, (0, 3)), Some(1));
        disk.commit().unwrap();
        assert_eq!(disk.newest().searcher.num_docs(), 1);
    }

    /// A memory that was deleted just after a crash was found again, for good: tantivy stamps the first operation of an
    /// opened writer with the number of the last commit. A merge up to that commit then passed over the deletion in
    /// segments of which that commit had deleted something, and took it for done.
    #[test]
    fn deletion_that_comes_first_after_opening_is_not_lost_in_a_merge() {
        let folder = tempfile::tempdir().unwrap();
        let fresh = fresh_payload();
        leave_a_merge_due(folder.path(), &fresh);
        let disk = Disk::open(folder.path(), fresh).unwrap();
        let added = document(disk.fields(), 8);
        let writes = vec![
            Write { number: 6, known: true, document: None },
            Write { number: 8, known: false, document: Some(added) },
        ];
        assert!(disk.feed(disk.life(), WORKSPACE, (0, 2), writes).unwrap().is_some());
        disk.commit().unwrap();
        assert_eq!(numbers_after_merges(disk), [1, 2, 3, 4, 7, 8]);
    }
}
