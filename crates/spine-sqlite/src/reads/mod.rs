//! Reading: one statement, or a few in one snapshot.

mod deliveries;
mod envelopes;
mod list;
mod log;
mod memories;
#[cfg(test)]
mod plans;
mod records;

use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row};
use spine_store::{Page, PageRow};

/// Rows of a read that is short enough for the caller's own thread.
const POINT_ROWS_MAX: usize = 100;

/// Rows of a statement that is used again and again.
fn rows<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(params, read)?.collect()
}

/// The same, as a page, which reads no more of them than it has room for.
fn page<T: PageRow, C>(
    connection: &Connection,
    (sql, params): (&str, impl Params),
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    limit: usize,
    cursor: impl Fn(&T) -> C,
) -> rusqlite::Result<Page<T, C>> {
    let mut statement = connection.prepare_cached(sql)?;
    Page::read(statement.query_map(params, read)?, limit, cursor)
}

/// How many rows to read: one more than a page tells whether there is another.
fn one_beyond(limit: usize) -> i64 {
    i64::try_from(limit + 1).unwrap_or(i64::MAX)
}

/// What is found under each key, in the order asked; of several keys in one snapshot, so that the rows belong
/// together.
fn each_found<K, T>(
    connection: &Connection,
    keys: &[K],
    read: impl Fn(&K) -> rusqlite::Result<Option<T>>,
) -> rusqlite::Result<Vec<T>> {
    let several = keys.len() > 1;
    let _snapshot = several.then(|| connection.unchecked_transaction()).transpose()?;
    keys.iter().filter_map(|key| read(key).transpose()).collect()
}

/// The first text behind all that start so; behind every text where there is none, which a blob is.
fn behind_prefix(prefix: &str) -> Value {
    let mut end: String = prefix.to_owned();
    while let Some(last) = end.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            end.push(next);
            return Value::Text(end);
        }
    }
    Value::Blob(Vec::new())
}
