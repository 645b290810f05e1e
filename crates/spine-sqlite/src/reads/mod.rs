//! Reading: one statement, or a few in one snapshot.

mod envelopes;
mod list;
mod log;
mod memories;

use rusqlite::{Connection, Params, Row};

/// Rows of a statement that is used again and again.
fn rows<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}

/// How many rows to read: one more than a page tells whether there is another.
fn one_beyond(limit: usize) -> i64 {
    i64::try_from(limit + 1).unwrap_or(i64::MAX)
}
