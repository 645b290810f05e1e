//! The log's frames, written with few large writes instead of two small ones for each frame.
//!
//! SQLite writes the frames of a commit one after another, syncs the log, and only then tells anyone of them. So they may
//! wait in memory until that sync: whoever reads the log reads what was synced. That holds for a connection that syncs at
//! each commit and writes nothing before it (`synchronous=FULL`, `cache_spill=OFF`), and for no other: what it had written
//! of a transaction that is taken back would wait on, and end on top of somebody else's frames.
#![allow(unsafe_code, reason = "SQLite's files are tables of C functions")]

mod file;
mod writes;

use std::ffi::{CStr, c_int};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use rusqlite::{Connection, OpenFlags, ffi};

const NAME: &CStr = c"gathered-log";

/// A connection that gathers what it writes to the log, and is to be set up as said above.
pub(crate) fn open_gathering(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    static REGISTERED: OnceLock<c_int> = OnceLock::new();
    match *REGISTERED.get_or_init(register) {
        ffi::SQLITE_OK => Connection::open_with_flags_and_vfs(path, flags, NAME),
        code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

/// All but the opening of files is the default's.
fn register() -> c_int {
    // SAFETY: SQLite's default stays registered, and what is registered here is never freed.
    unsafe {
        let default = ffi::sqlite3_vfs_find(ptr::null());
        if default.is_null() {
            return ffi::SQLITE_ERROR;
        }
        let gathering = ffi::sqlite3_vfs {
            szOsFile: (*default).szOsFile.max(file::SIZE),
            pNext: ptr::null_mut(),
            zName: NAME.as_ptr(),
            xOpen: Some(open),
            ..*default
        };
        ffi::sqlite3_vfs_register(Box::leak(Box::new(gathering)), 0)
    }
}

/// # Safety
/// As SQLite calls it: `file` has room for `szOsFile` bytes.
unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are passed on as they came.
    unsafe {
        let default = ffi::sqlite3_vfs_find(ptr::null());
        let Some(open) = default.as_ref().and_then(|default| default.xOpen) else {
            return ffi::SQLITE_ERROR;
        };
        let open = |file| open(default, name, file, flags, flags_out);
        if flags & ffi::SQLITE_OPEN_WAL == 0 {
            return open(file);
        }
        file::open(file, (*default).szOsFile, open)
    }
}
