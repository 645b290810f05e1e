//! The index folder: what was taken for it, one writer, and the newest commit for readers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use tantivy::directory::MmapDirectory;
use tantivy::index::SegmentId;
use tantivy::indexer::{LogMergePolicy, NoMergePolicy};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy};

use crate::committed::{Committed, Fields, Payload, index_builder};
use crate::limits::{OPEN_TRIES_MAX, WAITING_BYTES_MAX, WRITER_BYTES};
use crate::taken::{Taken, Waiting, Write};

/// Segments with a larger share of deleted documents are merged.
const DELETED_SHARE_MAX: f32 = 0.3;

/// The folder, open.
pub(crate) struct Disk {
    index: Index,
    reader: IndexReader,
    fields: Fields,
    /// Never locked while waiting for the writer, so that nobody who takes waits for a commit.
    taken: Mutex<Taken>,
    /// `None` since something failed: whoever needs it opens it again.
    writer: Mutex<Option<IndexWriter>>,
    newest: RwLock<Arc<Committed>>,
    /// A rebuild begins a new life, and so does a failure; what belongs to an earlier one is not taken.
    life: AtomicU64,
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
        let newest = RwLock::new(Arc::new(committed));
        let (taken, writer) = (Mutex::new(Taken::new(payload)), Mutex::new(Some(writer(&index)?)));
        let life = AtomicU64::new(0);
        Ok(Self { index, reader, fields, taken, writer, newest, life })
    }

    /// The newest commit.
    pub(crate) fn newest(&self) -> Arc<Committed> {
        self.newest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The life that the index is in.
    pub(crate) fn life(&self) -> u64 {
        self.life.load(Ordering::SeqCst)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Option<IndexWriter>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What fails once must not be used again: tantivy then commits without what it has lost. Everyone who had given more
    /// than the newest commit has begins again there.
    fn with_writer<T>(
        &self,
        held: &mut Option<IndexWriter>,
        work: impl FnOnce(&mut IndexWriter) -> tantivy::Result<T>,
    ) -> tantivy::Result<T> {
        let opened = match held.take() {
            Some(writer) => Ok(writer),
            None => self.open_again(),
        };
        let done = opened.and_then(|writer| work(held.insert(writer)));
        if done.is_err() {
            close(held.take());
            self.begin_life(self.newest().payload.clone());
        }
        done
    }

    fn open_again(&self) -> tantivy::Result<IndexWriter> {
        let (writer, newest) = (writer(&self.index)?, self.newest());
        // A commit that failed may have reached the disk all the same.
        if let Some(payload) = read_payload(&self.index)?.filter(|read| *read != newest.payload) {
            self.publish(payload.clone())?;
            self.begin_life(payload);
        }
        Ok(writer)
    }

    /// Whoever gave something before has to load again, as of what the payload says.
    fn begin_life(&self, payload: Payload) {
        let mut taken = self.taken();
        self.life.fetch_add(1, Ordering::SeqCst);
        *taken = Taken::new(payload);
    }

    /// Takes writes of one workspace that follow on what it gave before. `false` when they do not: the space has to be loaded
    /// again.
    pub(crate) fn feed(
        &self,
        life: u64,
        workspace: &str,
        (from, to): (u64, u64),
        writes: Vec<Write>,
    ) -> bool {
        let mut taken = self.taken();
        let follows_on = self.life() == life && taken.payload.change_of(workspace) == from;
        if follows_on {
            taken.add(workspace, to, writes);
        }
        follows_on
    }

    /// Writes that no commit has, nor will have when it ends.
    pub(crate) fn pending(&self) -> usize {
        self.taken().pending
    }

    /// Gives tantivy what has waited longest, as far as too much waits. Where somebody commits, it waits for the next time;
    /// where something failed, for a commit that works, so that searches go on.
    pub(crate) fn relieve(&self) -> tantivy::Result<()> {
        if self.taken().bytes() <= WAITING_BYTES_MAX {
            return Ok(());
        }
        let mut held = match self.writer.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        if held.is_none() {
            return Ok(());
        }
        self.with_writer(&mut held, |writer| {
            let excess = self.taken().give_excess(WAITING_BYTES_MAX);
            self.hand_over(writer, excess)
        })
    }

    fn hand_over(&self, writer: &IndexWriter, waiting: Waiting) -> tantivy::Result<()> {
        waiting.hand_over(&self.fields, |operations| writer.run(operations).map(drop))
    }

    /// The newest commit, with all that was taken of this workspace.
    pub(crate) fn newest_with(&self, workspace: &str) -> tantivy::Result<Arc<Committed>> {
        if let Some(newest) = self.newest_if_whole(workspace) {
            return Ok(newest);
        }
        let mut held = self.writer();
        if let Some(newest) = self.newest_if_whole(workspace) {
            return Ok(newest);
        }
        self.with_writer(&mut held, |writer| self.commit_with(writer))?;
        Ok(self.newest())
    }

    fn newest_if_whole(&self, workspace: &str) -> Option<Arc<Committed>> {
        let taken = self.taken().payload.change_of(workspace);
        Some(self.newest()).filter(|newest| newest.payload.change_of(workspace) == taken)
    }

    /// Makes durable what was taken so far, and searchable from disk. What is taken meanwhile is for the next commit.
    pub(crate) fn commit(&self) -> tantivy::Result<()> {
        self.with_writer(&mut self.writer(), |writer| self.commit_with(writer))
    }

    fn commit_with(&self, writer: &mut IndexWriter) -> tantivy::Result<()> {
        let (waiting, payload) = self.taken().give();
        let written = serde_json::to_string(&payload)
            .map_err(|error| tantivy::TantivyError::InternalError(error.to_string()))?;
        self.hand_over(writer, waiting)?;
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&written);
        prepared.commit()?;
        self.publish(payload)
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
        self.with_writer(&mut self.writer(), |writer| {
            self.begin_life(self.newest().payload.emptied());
            writer.rollback()?;
            writer.delete_all_documents()?;
            self.commit_with(writer)
        })
    }

    /// Commits, and writes segments anew without what was deleted from them. The old files go with
    /// `remove_unused`, when nobody reads them any more.
    pub(crate) fn erase(&self) -> tantivy::Result<()> {
        self.with_writer(&mut self.writer(), |writer| {
            // Merges under way would hold segments that have to be written anew.
            writer.set_merge_policy(Box::new(NoMergePolicy));
            self.commit_with(writer)?;
            for segment in self.dirty_segments()? {
                writer.merge(&[segment]).wait()?;
            }
            writer.set_merge_policy(merge_policy());
            self.publish(self.newest().payload.clone())
        })
    }

    fn dirty_segments(&self) -> tantivy::Result<Vec<SegmentId>> {
        let metas = self.index.searchable_segment_metas()?;
        Ok(metas.iter().filter(|meta| meta.has_deletes()).map(|meta| meta.id()).collect())
    }

    /// Removes the files that no commit that is still open needs.
    pub(crate) fn remove_unused(&self) -> tantivy::Result<()> {
        let collect = |writer: &mut IndexWriter| writer.garbage_collect_files().wait().map(drop);
        self.with_writer(&mut self.writer(), collect)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        close(self.writer().take());
    }
}

/// Waits for merges under way: they would take files away from whoever opens the folder next.
fn close(writer: Option<IndexWriter>) {
    let Some(writer) = writer else { return };
    writer.set_merge_policy(Box::new(NoMergePolicy));
    // What failed is not committed, and is read again.
    let _ = writer.wait_merging_threads();
}

fn usable(folder: &Path, fresh: &Payload) -> Option<(Index, Payload)> {
    // A folder without an index is given an empty one, which has no payload.
    let index = index_builder().open_or_create(MmapDirectory::open(folder).ok()?).ok()?;
    let payload = read_payload(&index).ok()??;
    (payload.fits(fresh) && is_readable(&index, &payload)).then_some((index, payload))
}

/// What the last commit says; nothing where there was none, or none of this program.
fn read_payload(index: &Index) -> tantivy::Result<Option<Payload>> {
    let written = index.load_metas()?.payload;
    Ok(written.and_then(|written| serde_json::from_str(&written).ok()))
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
    use std::io;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
    use tantivy::directory::{
        Directory, FileHandle, RamDirectory, WatchCallback, WatchHandle, WritePtr,
    };
    use tantivy::indexer::UserOperation;

    use super::*;
    use crate::date_words::DateWords;
    use crate::document_terms::DocumentTerms;
    use crate::record::RecordBytes;
    use crate::taken::Document;
    use spine_store::{Change, Identity, Memory, MemoryBody, UnixMs};

    const WORKSPACE: &str = "space";

    fn document(number: u32) -> Document {
        let id = spine_protocol::MemoryId::new(u64::from(number)).unwrap();
        let (created_at, updated_at) = (UnixMs(0), UnixMs(0));
        let (change, body) = (Change(1), MemoryBody::default());
        let memory = Memory { id, version: 1, change, created_at, updated_at, body };
        let (terms, date) = (DocumentTerms::new(WORKSPACE), DateWords::of(None, created_at));
        let record = Arc::new(RecordBytes::new(&memory, number, (&terms, date), None));
        Document { terms: terms.into_text(), record }
    }

    fn fresh_payload() -> Payload {
        let identity = Identity { store: "s".into(), history: "h".into(), incarnation: 1 };
        Payload::new(&identity, "model")
    }

    fn feed_one(disk: &Disk, number: u32, span: (u64, u64)) -> bool {
        let write = Write { number, known: false, document: Some(document(number)) };
        disk.feed(disk.life(), WORKSPACE, span, vec![write])
    }

    /// Up to which change the newest commit is, with how many memories; and how many writes wait for the next.
    fn committed(disk: &Disk) -> (u64, u64, usize) {
        let newest = disk.newest();
        (newest.payload.change_of(WORKSPACE), newest.searcher.num_docs(), disk.pending())
    }

    /// Whoever searched waited until a commit that somebody else had begun was on disk.
    #[test]
    fn what_is_new_is_taken_while_somebody_commits() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open(folder.path(), fresh_payload()).unwrap();
        assert!(feed_one(&disk, 1, (0, 1)));
        let somebody = disk.writer();
        assert!(feed_one(&disk, 2, (1, 2)));
        disk.relieve().unwrap();
        drop(somebody);
        assert_eq!(committed(&disk), (0, 0, 2));
        disk.commit().unwrap();
        assert_eq!(committed(&disk), (2, 2, 0));
    }

    #[test]
    fn what_is_taken_before_a_new_life_is_not_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::open(folder.path(), fresh_payload()).unwrap();
        feed_one(&disk, 1, (0, 1));
        let before = disk.life();
        disk.clear().unwrap();
        assert!(!disk.feed(before, WORKSPACE, (1, 2), Vec::new()));
        assert!(feed_one(&disk, 3, (0, 3)));
        disk.commit().unwrap();
        assert_eq!(committed(&disk), (3, 1, 0));
    }

    /// After a full disk, memories were found no more, for good: the commit that failed had ended tantivy's thread, and the
    /// next one said that all was in, without what the thread had lost and without what came later.
    #[test]
    fn after_a_commit_that_failed_everyone_begins_again_at_the_last_one() {
        let directory = Fallible::default();
        let index = index_builder().open_or_create(directory.clone()).unwrap();
        let disk = Disk::start(index, fresh_payload()).unwrap();
        feed_one(&disk, 1, (0, 1));
        disk.commit().unwrap();
        feed_one(&disk, 2, (1, 2));
        directory.is_full.store(true, Ordering::SeqCst);
        for _ in 0..3 {
            disk.commit().unwrap_err();
            assert!(!feed_one(&disk, 3, (2, 3)), "what was lost has to come first");
            assert!(feed_one(&disk, 2, (1, 2)));
        }
        directory.is_full.store(false, Ordering::SeqCst);
        assert!(feed_one(&disk, 3, (2, 3)));
        disk.commit().unwrap();
        assert_eq!(committed(&disk), (3, 3, 0));
    }

    /// Whoever opened the folder just after somebody had closed it found that files were missing: a merge had gone on, and took
    /// them away meanwhile.
    #[test]
    fn no_merge_goes_on_when_the_index_is_closed() {
        let directory = Fallible::default();
        let index = index_builder().open_or_create(directory.clone()).unwrap();
        let disk = Disk::start(index.clone(), fresh_payload()).unwrap();
        let held_up = directory.merges.lock().unwrap();
        for number in 1..=MERGED_SEGMENTS {
            feed_one(&disk, number, (u64::from(number) - 1, u64::from(number)));
            disk.commit().unwrap();
        }
        assert_eq!(index.load_metas().unwrap().segments.len(), MERGED_SEGMENTS as usize);
        drop(held_up);
        drop(disk);
        assert_eq!(index.load_metas().unwrap().segments.len(), 1);
    }

    /// As many small ones are merged.
    const MERGED_SEGMENTS: u32 = 8;

    /// A folder on a disk that can be full, and on which merges can be held up.
    #[derive(Debug, Clone, Default)]
    struct Fallible {
        folder: RamDirectory,
        is_full: Arc<AtomicBool>,
        merges: Arc<Mutex<()>>,
    }

    impl Fallible {
        fn check(&self) -> io::Result<()> {
            let is_full = self.is_full.load(Ordering::SeqCst);
            if is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    impl Directory for Fallible {
        fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
            self.folder.get_file_handle(path)
        }

        fn delete(&self, path: &Path) -> Result<(), DeleteError> {
            self.folder.delete(path)
        }

        fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
            self.folder.exists(path)
        }

        fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
            let full = |error| OpenWriteError::wrap_io_error(error, path.to_owned());
            self.check().map_err(full)?;
            if thread::current().name().is_some_and(|name| name.starts_with("merge")) {
                drop(self.merges.lock().unwrap());
            }
            self.folder.open_write(path)
        }

        fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
            self.folder.atomic_read(path)
        }

        fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
            self.check()?;
            self.folder.atomic_write(path, data)
        }

        fn sync_directory(&self) -> io::Result<()> {
            self.folder.sync_directory()
        }

        fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
            self.folder.watch(callback)
        }
    }

    /// Two segments, of the last one a document deleted by the last commit, and a merge of them due, as a crash leaves
    /// it.
    fn leave_a_merge_due(folder: &Path, payload: &Payload) {
        let index = index_builder().create_in_dir(folder).unwrap();
        let fields = Fields::schema().1;
        let mut writer = index.writer_with_num_threads(1, WRITER_BYTES).unwrap();
        writer.set_merge_policy(Box::new(NoMergePolicy));
        for numbers in [1..5, 5..8] {
            let add = |number| {
                let Document { terms, record } = document(number);
                UserOperation::Add(fields.document(WORKSPACE, number, &terms, &record))
            };
            writer.run(numbers.map(add).collect::<Vec<_>>()).unwrap();
            writer.commit().unwrap();
        }
        writer.delete_term(fields.key(WORKSPACE, 5));
        let mut prepared = writer.prepare_commit().unwrap();
        prepared.set_payload(&serde_json::to_string(payload).unwrap());
        prepared.commit().unwrap();
    }

    fn numbers_after_merges(disk: Disk) -> Vec<u32> {
        let writer = disk.writer().take().unwrap();
        writer.wait_merging_threads().unwrap();
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

    /// A memory that was deleted just after a crash was found again, for good: tantivy stamps the first operation of an
    /// opened writer with the number of the last commit. A merge up to that commit then passed over the deletion in
    /// segments of which that commit had deleted something, and took it for done.
    #[test]
    fn deletion_that_comes_first_after_opening_is_not_lost_in_a_merge() {
        let folder = tempfile::tempdir().unwrap();
        let fresh = fresh_payload();
        leave_a_merge_due(folder.path(), &fresh);
        let disk = Disk::open(folder.path(), fresh).unwrap();
        let writes = vec![
            Write { number: 6, known: true, document: None },
            Write { number: 8, known: false, document: Some(document(8)) },
        ];
        assert!(disk.feed(disk.life(), WORKSPACE, (0, 2), writes));
        disk.commit().unwrap();
        assert_eq!(numbers_after_merges(disk), [1, 2, 3, 4, 7, 8]);
    }
}
