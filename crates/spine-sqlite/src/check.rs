//! Looking for damage. It is reported, never repaired: only a person can say which copy is right.

use rusqlite::Connection;
use spine_store::{ErrorKind, StoreError};

use crate::error::read_error;

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// Every page of every table.
    Quick,
    /// And that every index agrees with its table.
    Full,
}

const FINDINGS_MAX: i64 = 10;

pub(crate) fn check(connection: &Connection, depth: CheckDepth) -> Result<(), StoreError> {
    let pragma = match depth {
        CheckDepth::Quick => "quick_check",
        CheckDepth::Full => "integrity_check",
    };
    let findings = findings(connection, pragma).map_err(read_error)?;
    if findings == ["ok"] {
        return Ok(());
    }
    Err(StoreError::new(ErrorKind::Corrupt, findings.join("; ")))
}

fn findings(connection: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA {pragma}({FINDINGS_MAX})"))?;
    statement.query_map([], |row| row.get(0))?.collect()
}
