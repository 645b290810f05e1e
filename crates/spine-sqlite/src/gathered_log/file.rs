//! The log as a file of SQLite's.

use std::ffi::{c_int, c_void};
use std::{ptr, slice};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64};

use super::writes::Gathered;

/// What SQLite has to make room for.
pub(super) const SIZE: c_int = size_of::<LogFile>() as c_int;

/// SQLite knows the first field, and gives it back with each call.
#[repr(C)]
struct LogFile {
    base: sqlite3_file,
    log: *mut Log,
}

struct Log {
    gathered: Gathered,
    on_disk: DefaultFile,
}

/// A file of SQLite's default, in memory that is aligned as SQLite aligns its own.
struct DefaultFile(Vec<u64>);

impl DefaultFile {
    fn new(size: c_int) -> Option<Self> {
        let words = usize::try_from(size).ok()?.div_ceil(size_of::<u64>());
        let mut memory = Vec::new();
        memory.try_reserve_exact(words).ok()?;
        memory.resize(words, 0);
        Some(Self(memory))
    }

    fn as_ptr(&mut self) -> *mut sqlite3_file {
        self.0.as_mut_ptr().cast()
    }
}

impl Log {
    fn new(default_size: c_int) -> Option<Box<Self>> {
        let gathered = Gathered::new().ok()?;
        Some(Box::new(Self { gathered, on_disk: DefaultFile::new(default_size)? }))
    }

    fn keep(&mut self, data: &[u8], at: sqlite3_int64) -> Result<(), c_int> {
        let file = self.on_disk.as_ptr();
        self.gathered.keep(data, at, |data, at| write_to(file, data, at))
    }

    fn flush(&mut self) -> Result<(), c_int> {
        let file = self.on_disk.as_ptr();
        self.gathered.flush(|data, at| write_to(file, data, at))
    }

    fn hand_over(&mut self) -> Result<(), c_int> {
        let file = self.on_disk.as_ptr();
        self.gathered.hand_over(|data, at| write_to(file, data, at))
    }
}

/// Opens the log with `open_default`, and puts itself before it.
///
/// # Safety
/// `file` has room for [`SIZE`] bytes, and `open_default` is the opening of a file of `default_size` bytes.
pub(super) unsafe fn open(
    file: *mut sqlite3_file,
    default_size: c_int,
    open_default: impl FnOnce(*mut sqlite3_file) -> c_int,
) -> c_int {
    // SAFETY: by the caller's word; without methods SQLite does not close the file.
    unsafe {
        (*file).pMethods = ptr::null();
        let Some(mut log) = Log::new(default_size) else { return ffi::SQLITE_NOMEM };
        let on_disk = log.on_disk.as_ptr();
        let opened = open_default(on_disk);
        if opened != ffi::SQLITE_OK {
            close_default(on_disk);
            return opened;
        }
        let base = sqlite3_file { pMethods: &raw const METHODS };
        file.cast::<LogFile>().write(LogFile { base, log: Box::into_raw(log) });
        ffi::SQLITE_OK
    }
}

/// Calls the default's method of this name.
macro_rules! default {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        let file: *mut sqlite3_file = $file;
        match (*file).pMethods.as_ref().and_then(|methods| methods.$method) {
            Some(method) => method(file $(, $argument)*),
            None => ffi::SQLITE_IOERR,
        }
    }};
}

/// A method that is the default's, after a step of ours.
macro_rules! after {
    ($step:expr, $name:ident, $method:ident $(, $argument:ident: $kind:ty)*) => {
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $kind)*) -> c_int {
            // SAFETY: SQLite calls it with a file that was opened here, from one thread at a time.
            unsafe {
                let log = log_of(file);
                match $step(log) {
                    Ok(()) => default!(log.on_disk.as_ptr(), $method $(, $argument)*),
                    Err(code) => code,
                }
            }
        }
    };
}

fn nothing(_: &mut Log) -> Result<(), c_int> {
    Ok(())
}

after!(Log::flush, read, xRead, to: *mut c_void, bytes: c_int, at: sqlite3_int64);
after!(Log::flush, truncate, xTruncate, bytes: sqlite3_int64);
after!(Log::flush, file_size, xFileSize, bytes: *mut sqlite3_int64);
after!(Log::hand_over, sync, xSync, flags: c_int);
after!(nothing, lock, xLock, level: c_int);
after!(nothing, unlock, xUnlock, level: c_int);
after!(nothing, check_reserved_lock, xCheckReservedLock, is_reserved: *mut c_int);
after!(nothing, file_control, xFileControl, operation: c_int, argument: *mut c_void);
after!(nothing, sector_size, xSectorSize);
after!(nothing, device_characteristics, xDeviceCharacteristics);

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    data: *const c_void,
    bytes: c_int,
    at: sqlite3_int64,
) -> c_int {
    let Ok(bytes) = usize::try_from(bytes) else { return ffi::SQLITE_IOERR_WRITE };
    // SAFETY: SQLite's own file, and as much data as it says.
    let kept = unsafe { log_of(file).keep(slice::from_raw_parts(data.cast(), bytes), at) };
    kept.err().unwrap_or(ffi::SQLITE_OK)
}

/// What is still gathered was never synced, and so never committed.
unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: opened here, and closed once.
    unsafe {
        let mut log = Box::from_raw((*file.cast::<LogFile>()).log);
        (*file).pMethods = ptr::null();
        close_default(log.on_disk.as_ptr())
    }
}

/// Closes what has been opened, as far as it has.
unsafe fn close_default(file: *mut sqlite3_file) -> c_int {
    // SAFETY: a file has methods when, and only when, it is to be closed.
    unsafe {
        if (*file).pMethods.is_null() {
            return ffi::SQLITE_OK;
        }
        default!(file, xClose)
    }
}

/// # Safety
/// `file` was opened here, and nobody else uses it now.
unsafe fn log_of<'a>(file: *mut sqlite3_file) -> &'a mut Log {
    // SAFETY: by the caller's word.
    unsafe { &mut *(*file.cast::<LogFile>()).log }
}

/// Many frames at once.
fn write_to(file: *mut sqlite3_file, data: &[u8], at: sqlite3_int64) -> Result<(), c_int> {
    let bytes = c_int::try_from(data.len()).map_err(|_| ffi::SQLITE_TOOBIG)?;
    // SAFETY: the file is open for as long as the log before it.
    match unsafe { default!(file, xWrite, data.as_ptr().cast(), bytes, at) } {
        ffi::SQLITE_OK => Ok(()),
        code => Err(code),
    }
}
