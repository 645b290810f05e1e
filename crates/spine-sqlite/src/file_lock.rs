//! One process on one file. The lock is the operating system's, so that it ends with the process, however
//! that ends. It is on a file of its own: a lock on the database itself would be lost whenever SQLite
//! closes it, and would keep a person with `sqlite3` from looking in.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use spine_store::{ErrorKind, StoreError};

use crate::error::file_error;

/// Held as long as the store is open.
pub(crate) struct FileLock {
    _file: File,
}

impl FileLock {
    pub(crate) fn take(database: &Path) -> Result<Self, StoreError> {
        let path = with_suffix(database, ".lock");
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = opened.map_err(|error| file_error("open the lock file", &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(StoreError::new(ErrorKind::InUse, format!("{} is locked", path.display())))
            }
            Err(TryLockError::Error(error)) => Err(file_error("lock the lock file", &error)),
        }
    }
}

/// A file beside another.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
