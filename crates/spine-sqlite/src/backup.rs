//! A copy of the whole store while it is written to.

use std::fs::{self, File};
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::Backup;
use spine_store::{ErrorKind, StoreError};

use crate::error::{file_error, read_error};
use crate::file_lock::with_suffix;
use crate::identity::mark_backup;

/// Copies into a new file. It appears under its name when it is whole and on disk, not before.
pub(crate) fn backup(from: &Connection, target: &Path) -> Result<(), StoreError> {
    if target.exists() {
        return Err(StoreError::new(ErrorKind::FileExists, target.display().to_string()));
    }
    let partial = with_suffix(target, ".partial");
    remove_if_there(&partial)?;
    let copied = copy(from, &partial).map_err(read_error).and_then(|()| publish(&partial, target));
    if copied.is_err() {
        remove_if_there(&partial)?;
    }
    copied
}

/// All pages in one step: the writer goes on in its log meanwhile, and the copy is of one moment. In
/// several steps it would start again at every commit between two of them.
fn copy(from: &Connection, partial: &Path) -> rusqlite::Result<()> {
    let mut to = Connection::open(partial)?;
    to.pragma_update(None, "synchronous", "FULL")?;
    Backup::new(from, &mut to)?.step(-1)?;
    // One file, with nothing beside it: the copy inherits the log mode.
    to.pragma_update(None, "journal_mode", "DELETE")?;
    mark_backup(&to)?;
    to.close().map_err(|(_, error)| error)
}

fn publish(partial: &Path, target: &Path) -> Result<(), StoreError> {
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let renamed = sync(partial)
        .and_then(|()| fs::rename(partial, target))
        .and_then(|()| sync(folder.unwrap_or(Path::new("."))));
    renamed.map_err(|error| file_error("publish the backup", &error))
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(file_error("remove an unfinished backup", &error))
        }
        _ => Ok(()),
    }
}
