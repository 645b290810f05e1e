//! What can go wrong, once for the caller and once for the log.

use std::fmt;

use crate::{Change, Expected, RowKey};

/// The kinds of failure. Each tells the caller what to do; they are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Another writer was first.
    GuardFailed,
    /// The store cannot be used now; nothing was written.
    Unavailable,
    /// More is waiting than the store takes; nothing was written.
    Overloaded,
    /// It may or may not have been written.
    OutcomeUnknown,
    /// No room; nothing was written, and reads go on.
    DiskFull,
    /// The data is damaged.
    Corrupt,
    /// Another process has the store open.
    InUse,
    /// The path cannot be reached or written to.
    CannotOpen,
    /// The data was written by a newer version of this program.
    TooNew,
    /// The file is something else than a store.
    NotAStore,
    /// A file that was to be created is there already.
    FileExists,
    /// The command, the batch or the list is beyond a limit.
    TooLarge,
}

impl ErrorKind {
    /// What the caller is told to do.
    pub fn message(self) -> &'static str {
        match self {
            Self::GuardFailed => {
                "the record was changed by someone else: read it again and decide anew"
            }
            Self::Unavailable => {
                "the store cannot take this now and nothing was written: try again later"
            }
            Self::Overloaded => {
                "too much is waiting and nothing was written: try again with fewer at once"
            }
            Self::OutcomeUnknown => {
                "it is not known whether this was written: retry with the same Idempotency-Key"
            }
            Self::DiskFull => {
                "the disk is full and nothing was written: free some space and try again"
            }
            Self::Corrupt => {
                "the stored data is damaged: restore a backup; nothing was repaired or deleted"
            }
            Self::InUse => "another process has this store open: stop it, or use another path",
            Self::CannotOpen => {
                "the store cannot be opened: check that its folder exists and may be written to"
            }
            Self::TooNew => {
                "this store was written by a newer version: run that version or a later one"
            }
            Self::NotAStore => "this file is not a store of Memory Spine: use another path",
            Self::FileExists => "there is a file at this path already: use another path",
            Self::TooLarge => "more than the store takes at once: split it into smaller parts",
        }
    }
}

/// Which guard did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardFailure {
    /// The row.
    pub key: RowKey,
    /// What the command wanted.
    pub expected: Expected,
    /// What is there: the change that last wrote the row, if there is one.
    pub found: Option<Change>,
}

/// A failure of the store: the message is for the caller, the detail for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreError {
    kind: ErrorKind,
    detail: String,
    guard: Option<Box<GuardFailure>>,
}

impl StoreError {
    /// A failure with what the log should know.
    pub fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), guard: None }
    }

    /// A guard that did not hold.
    pub fn guard_failed(failure: GuardFailure) -> Self {
        let detail = format!("{failure:?}");
        Self { kind: ErrorKind::GuardFailed, detail, guard: Some(Box::new(failure)) }
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// For the log, never for the caller.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// The guard that did not hold, if that was it.
    pub fn guard(&self) -> Option<&GuardFailure> {
        self.guard.as_deref()
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.message())
    }
}

impl std::error::Error for StoreError {}
