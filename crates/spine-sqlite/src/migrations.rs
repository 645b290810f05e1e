//! Numbered steps from an empty file to the present shape. A step that was released never changes.

use rusqlite::{Connection, TransactionBehavior};
use spine_store::{ErrorKind, StoreError};

use crate::error::read_error;

/// In order; the file's `user_version` says how many it has had.
const MIGRATIONS: [&str; 7] = [
    include_str!("../migrations/0001_ground.sql"),
    include_str!("../migrations/0002_memories.sql"),
    include_str!("../migrations/0003_envelopes.sql"),
    include_str!("../migrations/0004_envelope_notes.sql"),
    include_str!("../migrations/0005_records.sql"),
    include_str!("../migrations/0006_deliveries.sql"),
    include_str!("../migrations/0007_delivery_room.sql"),
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

    /// A row of each table, and the step that made the table.
    const ROWS: [(usize, &str, &str); 6] = [
        (1, "workspaces", "INSERT INTO workspaces VALUES ('default', 7, 3)"),
        (
            1,
            "events",
            "INSERT INTO events (workspace, change, at_ms, kind, data)
             VALUES ('default', 7, 5, 'memory.stored', '{}')",
        ),
        (
            2,
            "memories",
            "INSERT INTO memories (workspace, number, version, change, state, created_ms, updated_ms,
                about_ms, pinned, priority, kind, tags, metadata, text)
             VALUES ('default', 3, 1, 7, 0, 5, 5, 5, 0, 1, 'note', '[]', '{}', 'kept')",
        ),
        (
            3,
            "envelopes",
            "INSERT INTO envelopes (workspace, id, root, digest, change, bytes)
             VALUES ('default', 'env_1', 'env_1', 'sha256:', 1, x'7b7d')",
        ),
        (
            5,
            "records",
            "INSERT INTO records (workspace, collection, name, change, value)
             VALUES ('default', 'agent', 'ann', 1, x'7b7d')",
        ),
        (
            6,
            "deliveries",
            "INSERT INTO deliveries (workspace, id, envelope, root, agent, state, rank, sequence,
                visible_ms, epoch, incarnation, updated_ms, change, story)
             VALUES ('default', 'dlv_1', 'env_1', 'env_1', 'ann', 0, 2, 1, 5, 0, 0, 5, 1, x'7b7d')",
        ),
    ];

    fn fill_what_is_there(connection: &Connection, version: usize) {
        for (_, _, sql) in ROWS.iter().filter(|(since, ..)| *since <= version) {
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
            for (since, table, _) in ROWS {
                let there = i64::from(since <= version);
                assert_eq!(rows(&connection, table), there, "{table} from {version}");
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
