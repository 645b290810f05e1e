//! Numbered steps from an empty file to the present shape. A step that was released never changes.

use rusqlite::{Connection, TransactionBehavior};
use spine_store::{ErrorKind, StoreError};

use crate::error::read_error;

/// In order; the file's `user_version` says how many it has had.
const MIGRATIONS: [&str; 3] = [
    include_str!("../migrations/0001_ground.sql"),
    include_str!("../migrations/0002_memories.sql"),
    include_str!("../migrations/0003_envelopes.sql"),
];

/// Brings the file to the present shape, each step in a transaction of its own.
pub(crate) fn run(connection: &mut Connection) -> Result<(), StoreError> {
    let had = version(connection)?;
    if had > MIGRATIONS.len() {
        let known = MIGRATIONS.len();
        let detail = format!("the file has schema {had}, this program knows {known}");
        return Err(StoreError::new(ErrorKind::TooNew, detail));
    }
    for (index, sql) in MIGRATIONS.iter().enumerate().skip(had) {
        step(connection, sql, index + 1).map_err(read_error)?;
    }
    Ok(())
}

fn version(connection: &Connection) -> Result<usize, StoreError> {
    let read = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    let version = read.map_err(read_error)?;
    let negative = |_| StoreError::new(ErrorKind::Corrupt, format!("schema version {version}"));
    usize::try_from(version).map_err(negative)
}

fn step(connection: &mut Connection, sql: &str, number: usize) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(sql)?;
    transaction.pragma_update(None, "user_version", number as i64)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(connection: &Connection) -> Vec<String> {
        let sql =
            "SELECT name || ': ' || sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    fn file_at(version: usize) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        for (index, sql) in MIGRATIONS.iter().enumerate().take(version) {
            step(&mut connection, sql, index + 1).unwrap();
        }
        connection
    }

    fn fill_what_is_there(connection: &Connection, version: usize) {
        let rows = [
            "INSERT INTO workspaces VALUES ('default', 7, 3)",
            "INSERT INTO memories (workspace, number, version, change, state, created_ms, updated_ms,
                about_ms, pinned, priority, kind, tags, metadata, text)
             VALUES ('default', 3, 1, 7, 0, 5, 5, 5, 0, 1, 'note', '[]', '{}', 'kept')",
            "INSERT INTO envelopes VALUES ('default', 'env_1', 'env_1', 'sha256:', 1, x'7b7d')",
        ];
        for sql in rows.iter().take(version) {
            connection.execute(sql, []).unwrap();
        }
    }

    fn rows(connection: &Connection, table: &str) -> i64 {
        connection
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn every_earlier_version_is_brought_to_the_present_and_keeps_its_rows() {
        let present = columns(&file_at(MIGRATIONS.len()));
        for version in 0..=MIGRATIONS.len() {
            let mut connection = file_at(version);
            fill_what_is_there(&connection, version);
            run(&mut connection).unwrap();
            run(&mut connection).unwrap();
            assert_eq!(columns(&connection), present, "from {version}");
            for (number, table) in ["workspaces", "memories", "envelopes"].iter().enumerate() {
                assert_eq!(rows(&connection, table), i64::from(number < version), "from {version}");
            }
        }
    }

    #[test]
    fn failed_step_leaves_the_version_before_it() {
        let mut connection = file_at(1);
        assert!(step(&mut connection, "CREATE TABLE half (x); CREATE TABLE meta (x);", 2).is_err());
        assert_eq!(version(&connection), Ok(1));
        assert!(!columns(&connection).iter().any(|table| table.starts_with("half")));
    }

    #[test]
    fn newer_file_is_refused() {
        let mut connection = file_at(MIGRATIONS.len());
        connection.pragma_update(None, "user_version", 1000).unwrap();
        assert_eq!(run(&mut connection).unwrap_err().kind(), ErrorKind::TooNew);
    }
}
