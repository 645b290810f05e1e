//! What SQLite says, in the store's words.

use rusqlite::ffi::ErrorCode;
use spine_store::{ErrorKind, StoreError};

/// A failure while reading or opening: nothing was to be written.
pub(crate) fn read_error(error: rusqlite::Error) -> StoreError {
    let kind = match kind_of(&error) {
        ErrorKind::OutcomeUnknown => ErrorKind::Unavailable,
        kind => kind,
    };
    StoreError::new(kind, describe(&error))
}

/// A failure while writing: after an I/O error nobody knows what is on the disk.
pub(crate) fn write_error(error: &rusqlite::Error) -> StoreError {
    StoreError::new(kind_of(error), describe(error))
}

fn kind_of(error: &rusqlite::Error) -> ErrorKind {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => kind_of_code(failure.code),
        // A value that does not convert: the row holds what this program never wrote.
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..) => ErrorKind::Corrupt,
        _ => ErrorKind::Unavailable,
    }
}

fn kind_of_code(code: ErrorCode) -> ErrorKind {
    match code {
        ErrorCode::DiskFull => ErrorKind::DiskFull,
        ErrorCode::SystemIoFailure => ErrorKind::OutcomeUnknown,
        // Keys are checked before they are written, so a violation means that they are not what they were.
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation => {
            ErrorKind::Corrupt
        }
        ErrorCode::TooBig => ErrorKind::TooLarge,
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly => {
            ErrorKind::CannotOpen
        }
        _ => ErrorKind::Unavailable,
    }
}

fn describe(error: &rusqlite::Error) -> String {
    match error.sqlite_error() {
        Some(failure) => format!("{error} (code {})", failure.extended_code),
        None => error.to_string(),
    }
}

/// A failure of the file system around the database file.
pub(crate) fn file_error(doing: &str, error: &std::io::Error) -> StoreError {
    let kind = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => ErrorKind::DiskFull,
        std::io::ErrorKind::AlreadyExists => ErrorKind::FileExists,
        std::io::ErrorKind::NotFound
        | std::io::ErrorKind::NotADirectory
        | std::io::ErrorKind::PermissionDenied
        | std::io::ErrorKind::ReadOnlyFilesystem => ErrorKind::CannotOpen,
        _ => ErrorKind::Unavailable,
    };
    StoreError::new(kind, format!("{doing}: {error}"))
}
