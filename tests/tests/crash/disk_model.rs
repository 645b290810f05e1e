//! A disk that keeps for certain only what was synced.
//!
//! Since the last sync of a file, each page of a write may have reached the disk or not, in any order, or in part, in
//! sectors of 512 bytes. Bytes next to a write are safe, as SQLite assumes of every disk (its "powersafe
//! overwrite"). New and removed names count as durable once the folder was synced; before, they reach the
//! disk in the order in which they were made, as in the journal of a file system.
//!
//! After a failed sync the system takes for written what may not be, and no later sync makes it durable.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fastrand::Rng;

use crate::strace_log::Operation;

/// The system writes a file back by pages, whatever the write was that filled them.
const PAGE_BYTES: usize = 4096;
const SECTOR_BYTES: usize = 512;

/// How kind a power cut is to what was not synced.
#[derive(Debug, Clone, Copy)]
pub struct Mercy {
    /// How likely a change is whole on the disk.
    pub keep: f64,
    /// How likely it is there in part; otherwise it is not there.
    pub tear: f64,
}

const FAILED_SYNC: Mercy = Mercy { keep: 0.3, tear: 0.4 };

/// The files of one folder.
pub struct Disk {
    luck: Rng,
    files: Vec<File>,
    /// As the process sees them.
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    name_changes: Pending<NameChange>,
}

#[derive(Default)]
struct File {
    durable: Vec<u8>,
    changes: Pending<Change>,
}

enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate { len: usize },
}

enum NameChange {
    Add(String, usize),
    Remove(String),
}

/// What was asked for and may be on the disk or not.
struct Pending<T> {
    changes: Vec<T>,
    /// How many came before these and are settled.
    settled: usize,
    /// The syncs under way, by thread: how many changes had been asked for when each began.
    syncing: BTreeMap<String, usize>,
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self { changes: Vec::new(), settled: 0, syncing: BTreeMap::new() }
    }
}

impl<T> Pending<T> {
    fn begin_sync(&mut self, thread: &str) {
        let before = self.syncing.insert(thread.to_owned(), self.settled + self.changes.len());
        assert_eq!(before, None, "a thread waits for one sync at a time");
    }

    fn fail_sync(&mut self, thread: &str) {
        self.syncing.remove(thread).unwrap();
    }

    /// What the sync was about, but for what another one was about as well and settled.
    fn end_sync(&mut self, thread: &str) -> Vec<T> {
        let asked = self.syncing.remove(thread).unwrap();
        let settled: Vec<T> = self.changes.drain(..asked.saturating_sub(self.settled)).collect();
        self.settled += settled.len();
        settled
    }
}

impl Disk {
    /// An empty one, with its luck.
    pub fn new(luck: Rng) -> Self {
        let (names, durable_names) = (BTreeMap::new(), BTreeMap::new());
        Self { luck, files: Vec::new(), names, durable_names, name_changes: Pending::default() }
    }

    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Opened { file } => self.open(file),
            Operation::Written { file, offset, bytes } => {
                for (offset, page) in parts(*offset, bytes, PAGE_BYTES) {
                    self.change(file, Change::Write { offset, bytes: page.to_owned() });
                }
            }
            Operation::Truncated { file, len } => self.change(file, Change::Truncate { len: *len }),
            Operation::SyncBegan { file, thread } if file.is_empty() => {
                self.name_changes.begin_sync(thread);
            }
            Operation::SyncEnded { file, thread } if file.is_empty() => self.end_name_sync(thread),
            Operation::SyncBegan { file, thread } => self.file(file).changes.begin_sync(thread),
            Operation::SyncEnded { file, thread } => self.file(file).end_sync(thread),
            // Names are in the file system's journal: a later sync of the folder has them too.
            Operation::SyncFailed { file, thread } if file.is_empty() => {
                self.name_changes.fail_sync(thread);
            }
            Operation::SyncFailed { file, thread } => self.fail_sync(file, thread),
            Operation::Unlinked { file } => self.unlink(file),
            Operation::Acknowledged(_) => {}
        }
    }

    fn open(&mut self, name: &str) {
        if self.names.contains_key(name) {
            return;
        }
        let number = self.files.len();
        self.files.push(File::default());
        self.names.insert(name.to_owned(), number);
        self.name_changes.changes.push(NameChange::Add(name.to_owned(), number));
    }

    fn unlink(&mut self, name: &str) {
        self.names.remove(name).unwrap();
        self.name_changes.changes.push(NameChange::Remove(name.to_owned()));
    }

    fn file(&mut self, name: &str) -> &mut File {
        &mut self.files[self.names[name]]
    }

    fn change(&mut self, name: &str, change: Change) {
        self.file(name).changes.changes.push(change);
    }

    fn fail_sync(&mut self, name: &str, thread: &str) {
        let file = &mut self.files[self.names[name]];
        for change in file.changes.end_sync(thread) {
            change.apply_by_luck(FAILED_SYNC, &mut self.luck, &mut file.durable);
        }
    }

    fn end_name_sync(&mut self, thread: &str) {
        for change in self.name_changes.end_sync(thread) {
            change.apply(&mut self.durable_names);
        }
    }

    /// What a power cut at this moment might leave, as a folder.
    pub fn cut_power(&self, mercy: Mercy, rng: &mut Rng, folder: &Path) {
        let mut names = self.durable_names.clone();
        let kept = rng.usize(0..=self.name_changes.changes.len());
        self.name_changes.changes.iter().take(kept).for_each(|change| change.apply(&mut names));
        for (name, number) in names {
            let left = self.files[number].after_power_cut(mercy, rng);
            fs::write(folder.join(name), left).unwrap();
        }
    }
}

impl NameChange {
    fn apply(&self, names: &mut BTreeMap<String, usize>) {
        match self {
            Self::Add(name, number) => names.insert(name.clone(), *number),
            Self::Remove(name) => names.remove(name),
        };
    }
}

impl File {
    fn end_sync(&mut self, thread: &str) {
        for change in self.changes.end_sync(thread) {
            change.apply(&mut self.durable);
        }
    }

    fn after_power_cut(&self, mercy: Mercy, rng: &mut Rng) -> Vec<u8> {
        let mut left = self.durable.clone();
        for change in &self.changes.changes {
            change.apply_by_luck(mercy, rng, &mut left);
        }
        left
    }
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => overwrite(content, *offset, bytes),
            Self::Truncate { len } => content.resize(*len, 0),
        }
    }

    fn apply_by_luck(&self, mercy: Mercy, rng: &mut Rng, content: &mut Vec<u8>) {
        let luck = rng.f64();
        if luck < mercy.keep {
            self.apply(content);
        } else if luck < mercy.keep + mercy.tear {
            self.apply_torn(content, rng);
        }
    }

    /// Some sectors of a write; a new length is there or not.
    fn apply_torn(&self, content: &mut Vec<u8>, rng: &mut Rng) {
        match self {
            Self::Write { offset, bytes } => {
                for (offset, sector) in parts(*offset, bytes, SECTOR_BYTES).filter(|_| rng.bool()) {
                    overwrite(content, offset, sector);
                }
            }
            Self::Truncate { len } if rng.bool() => content.resize(*len, 0),
            Self::Truncate { .. } => {}
        }
    }
}

fn overwrite(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    content.resize(content.len().max(end), 0);
    content[offset..end].copy_from_slice(bytes);
}

/// The parts of a write by the sectors or pages of the file that they fall into.
fn parts(offset: usize, bytes: &[u8], size: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let first = (size - offset % size).min(bytes.len());
    let (head, rest) = bytes.split_at(first);
    let rest = rest.chunks(size).enumerate();
    let rest = rest.map(move |(n, part)| (offset + first + n * size, part));
    std::iter::once((offset, head)).chain(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Mercy = Mercy { keep: 0.0, tear: 0.0 };
    const ALL: Mercy = Mercy { keep: 1.0, tear: 0.0 };

    fn file() -> String {
        "a".to_owned()
    }

    fn began(thread: &str) -> Operation {
        Operation::SyncBegan { file: file(), thread: thread.to_owned() }
    }

    fn ended(thread: &str) -> Operation {
        Operation::SyncEnded { file: file(), thread: thread.to_owned() }
    }

    fn write(offset: usize, byte: u8) -> Operation {
        Operation::Written { file: file(), offset, bytes: vec![byte; 2] }
    }

    fn disk(operations: &[Operation]) -> Disk {
        let mut disk = Disk::new(Rng::with_seed(1));
        disk.apply(&Operation::Opened { file: file() });
        let (file, thread) = (String::new, || "7".to_owned());
        disk.apply(&Operation::SyncBegan { file: file(), thread: thread() });
        disk.apply(&Operation::SyncEnded { file: file(), thread: thread() });
        operations.iter().for_each(|operation| disk.apply(operation));
        disk
    }

    fn left(disk: &Disk, mercy: Mercy) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        disk.cut_power(mercy, &mut Rng::with_seed(1), folder.path());
        fs::read(folder.path().join("a")).unwrap()
    }

    #[test]
    fn only_what_was_synced_is_certain() {
        let disk = disk(&[write(0, 1), began("7"), write(2, 2), ended("7"), write(4, 3)]);
        assert_eq!(left(&disk, NONE), [1, 1]);
        assert_eq!(left(&disk, ALL), [1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn of_two_syncs_at_once_each_makes_certain_what_came_before_it() {
        let before = [write(0, 1), began("7"), write(2, 2), began("8"), write(4, 3)];
        let then = |last: &[Operation]| left(&disk(&[&before, last].concat()), NONE);
        assert_eq!(then(&[ended("7")]), [1, 1]);
        assert_eq!(then(&[ended("8")]), [1, 1, 2, 2]);
        assert_eq!(then(&[ended("8"), ended("7")]), [1, 1, 2, 2]);
        assert_eq!(then(&[ended("7"), ended("8")]), [1, 1, 2, 2]);
    }

    #[test]
    fn failed_sync_is_not_made_good_by_the_next() {
        let write = Operation::Written { file: file(), offset: 0, bytes: vec![1; 100_000] };
        let failed = Operation::SyncFailed { file: file(), thread: "7".to_owned() };
        let disk = disk(&[write, began("7"), failed, began("7"), ended("7")]);
        assert_ne!(left(&disk, ALL), vec![1; 100_000]);
    }

    #[test]
    fn pages_of_one_write_have_each_their_own_luck() {
        let write =
            Operation::Written { file: file(), offset: 0, bytes: vec![1; 100 * PAGE_BYTES] };
        let left = left(&disk(&[write]), Mercy { keep: 0.5, tear: 0.0 });
        let kept = left.chunks(PAGE_BYTES).filter(|page| page[0] == 1).count();
        assert!((20..80).contains(&kept), "{kept} of 100");
    }

    #[test]
    fn writes_are_torn_between_sectors() {
        let bytes = vec![7; 1000];
        let parts = parts(500, &bytes, SECTOR_BYTES);
        let lengths: Vec<_> = parts.map(|(at, part)| (at, part.len())).collect();
        assert_eq!(lengths, [(500, 12), (512, 512), (1024, 476)]);
    }
}
