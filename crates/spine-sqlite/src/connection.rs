//! Connections, and what is set on each.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use spine_store::{ErrorKind, StoreError};

use crate::error::{file_error, read_error};
use crate::file_lock::with_suffix;
use crate::gathered_log::open_gathering;
use crate::options::{Durability, Options};

/// "MSPN": tells our files from other SQLite files.
const APPLICATION_ID: i32 = 0x4D53_504E;
const HEADER: &[u8; 16] = b"SQLite format 3\0";
const CACHED_STATEMENTS: usize = 128;

/// The database file, beside SQLite's own handles of it; created if there is none. Closing it gives up SQLite's locks on
/// it: it is to be kept until every connection is closed.
pub(crate) fn open_file(path: &Path) -> Result<File, StoreError> {
    check_header(path)?;
    let opened = File::options().create(true).truncate(false).read(true).write(true).open(path);
    // What a process that was killed had moved from the log, but not synced.
    let synced = opened.and_then(|file| file.sync_data().map(|()| file));
    synced.map_err(|error| file_error("open the database", &error))
}

/// The one connection that writes.
pub(crate) fn open_writer(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match options.durability {
        Durability::Full => open_gathering(path, flags),
        Durability::Normal => Connection::open_with_flags(path, flags),
    };
    let connection = connection.map_err(read_error)?;
    set_up(&connection, options, options.writer_cache_kib).map_err(read_error)?;
    check_application(&connection)?;
    write_to_a_log(&connection)?;
    set_up_writer(&connection, options).map_err(read_error)?;
    Ok(connection)
}

/// A connection that cannot write. It is opened for writing all the same, because readers of a
/// write-ahead log keep their place in shared memory.
pub(crate) fn open_reader(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(read_error)?;
    set_up(&connection, options, options.cache_kib).map_err(read_error)?;
    connection.pragma_update(None, "query_only", true).map_err(read_error)?;
    keep_log_at_close(&connection).map_err(read_error)?;
    Ok(connection)
}

/// SQLite's last connection moves the log into the file and removes it: only the writer may.
pub(crate) fn keep_log_at_close(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map(drop)
}

fn set_up(connection: &Connection, options: &Options, cache_kib: u32) -> rusqlite::Result<()> {
    let busy = std::time::Duration::from_millis(options.busy_ms_max.into());
    connection.busy_timeout(busy)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    keep_plans(connection)?;
    connection.pragma_update(None, "cache_size", -i64::from(cache_kib))
}

/// One plan for all parameters: else a statement is planned anew for nearly every value that it is given.
pub(crate) fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// SQLite may stay in the mode it was in, and say so in its answer or only behind it.
fn write_to_a_log(connection: &Connection) -> Result<(), StoreError> {
    let mut setting = connection.prepare("PRAGMA journal_mode = WAL").map_err(read_error)?;
    let modes = setting.query_map([], |row| row.get::<_, String>(0)).map_err(read_error)?;
    let modes = modes.collect::<rusqlite::Result<Vec<_>>>().map_err(read_error)?;
    if modes == ["wal"] {
        return Ok(());
    }
    Err(StoreError::new(ErrorKind::Unavailable, format!("the journal mode is {modes:?}")))
}

fn set_up_writer(connection: &Connection, options: &Options) -> rusqlite::Result<()> {
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // Only a commit writes to the log: see `gathered_log`.
    connection.pragma_update(None, "cache_spill", false)?;
    // What a purge removes is overwritten.
    connection.pragma_update(None, "secure_delete", true)?;
    // The writer checkpoints by itself, after it has answered.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    if let Some(pages) = options.file_pages_max {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)
}

/// A damaged or cut file is reported before SQLite could take it for an empty one.
fn check_header(path: &Path) -> Result<(), StoreError> {
    let header = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        opened => read_header(opened.map_err(|error| file_error("open the database", &error))?)?,
    };
    // Where the power failed while the file was created, SQLite takes its own first steps back.
    let new = header.is_empty() || holds_data(&with_suffix(path, "-journal"));
    let has_log = holds_data(&with_suffix(path, "-wal"));
    if header == HEADER || (new && !has_log) {
        return Ok(());
    }
    Err(StoreError::new(ErrorKind::Corrupt, format!("{} has no SQLite header", path.display())))
}

fn read_header(file: File) -> Result<Vec<u8>, StoreError> {
    let mut header = Vec::new();
    let read = file.take(HEADER.len() as u64).read_to_end(&mut header);
    read.map(|_| header).map_err(|error| file_error("read the database", &error))
}

fn holds_data(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.len() > 0)
}

fn check_application(connection: &Connection) -> Result<(), StoreError> {
    let read = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let application = read("application_id").map_err(read_error)?;
    let tables = "SELECT count(*) FROM sqlite_schema";
    let tables: i64 = connection.query_row(tables, [], |row| row.get(0)).map_err(read_error)?;
    if application == APPLICATION_ID || (application == 0 && tables == 0) {
        return Ok(());
    }
    Err(StoreError::new(ErrorKind::NotAStore, format!("application id {application:#x}")))
}
