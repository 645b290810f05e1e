//! The store itself: it opens the file and hands work to the writer and the readers.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spine_store::{
    Clock, Command, Identity, Outcome, STAGE_TARGET, Store, StoreError, StoreFuture, StoreStats,
    SystemClock, UnixMs,
};
use tracing::{Instrument, info_span};

use crate::check::{self, CheckDepth};
use crate::connection::{open_file, open_reader, open_writer};
use crate::error::{file_error, read_error};
use crate::file_lock::FileLock;
use crate::options::Options;
use crate::readers::Readers;
use crate::recent::Recent;
use crate::writer::{Log, Writer};
use crate::{backup, identity, migrations};

/// A store in one SQLite file. Dropping it finishes what waits and closes the file.
pub struct SqliteStore {
    path: PathBuf,
    options: Options,
    clock: Arc<dyn Clock>,
    identity: Identity,
    pub(crate) recent: Arc<Recent>,
    // In the order in which they are to be dropped: the lock last.
    pub(crate) readers: Readers,
    writer: Writer,
    _file: Arc<File>,
    _lock: FileLock,
}

impl SqliteStore {
    /// Opens the store at a path, or creates it, with the machine's clock.
    pub fn open(path: &Path, options: Options) -> Result<Self, StoreError> {
        Self::open_with_clock(path, options, Arc::new(SystemClock))
    }

    /// Opens the store with another clock.
    pub fn open_with_clock(
        path: &Path,
        options: Options,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let path = resolve(path)?;
        let lock = FileLock::take(&path)?;
        let file = Arc::new(open_file(&path)?);
        let mut connection = open_writer(&path, &options)?;
        migrations::run(&mut connection)?;
        let identity = identity::raise_incarnation(&mut connection).map_err(read_error)?;
        sync_folder_of(&path)?;
        let recent = Arc::new(Recent::new());
        let log = Log::open(&path, &options, Arc::clone(&file))?;
        let writer = Writer::start(connection, log, &options, Arc::clone(&recent))?;
        let readers = Readers::start(&path, &options)?;
        Ok(Self {
            path,
            options,
            clock,
            identity,
            recent,
            readers,
            writer,
            _file: file,
            _lock: lock,
        })
    }

    /// Whether writes are taken. They are not after an I/O error, until the store is opened again.
    pub fn accepts_writes(&self) -> bool {
        self.writer.accepts_writes()
    }

    /// Copies the store into a new file while it is written to. Blocks until the copy is on disk.
    pub fn backup(&self, target: &Path) -> Result<(), StoreError> {
        backup::backup(&open_reader(&self.path, &self.options)?, target)
    }

    /// Copies a store that another process may have open, without disturbing it.
    pub fn backup_of(path: &Path, target: &Path) -> Result<(), StoreError> {
        let path = resolve(path)?;
        backup::backup(&open_reader(&path, &Options::default())?, target)
    }

    /// Looks for damage. Blocks until the file is read.
    pub fn check(&self, depth: CheckDepth) -> Result<(), StoreError> {
        check::check(&open_reader(&self.path, &self.options)?, depth)
    }
}

/// The log is a new file, and what is in it is lost if its name is. SQLite syncs the folder as well, but
/// overlooks a failure of that.
fn sync_folder_of(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(path);
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| file_error("sync the folder", &error))
}

/// One name for one file, whatever links lead to it: the lock is beside the file itself.
fn resolve(path: &Path) -> Result<PathBuf, StoreError> {
    let resolved = match std::fs::canonicalize(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => std::path::absolute(path),
        resolved => resolved,
    };
    resolved.map_err(|error| file_error("resolve the path", &error))
}

impl Store for SqliteStore {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn now(&self) -> UnixMs {
        self.clock.now()
    }

    fn apply(&self, commands: Vec<Command>) -> StoreFuture<'_, Vec<Outcome>> {
        let span =
            info_span!(target: STAGE_TARGET, "store", memory_spine.commands = commands.len());
        let applying = self.writer.apply(commands);
        match span.is_disabled() {
            true => applying,
            false => Box::pin(applying.instrument(span)),
        }
    }

    fn stats(&self) -> Option<StoreStats> {
        Some(self.writer.stats())
    }
}
