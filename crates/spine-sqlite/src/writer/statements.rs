//! The statements of one group. SQLite has them prepared all along; to find one among them for every row would cost a good part
//! of what running it does.

use std::cell::RefCell;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};

/// Each is looked up once in a group, by where its text is.
pub(super) struct Statements<'c> {
    connection: &'c Connection,
    held: RefCell<Vec<(&'static str, CachedStatement<'c>)>>,
}

impl<'c> Statements<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self { connection, held: RefCell::default() }
    }

    /// How many rows it wrote.
    pub(super) fn execute(
        &self,
        sql: &'static str,
        params: impl Params,
    ) -> rusqlite::Result<usize> {
        self.with(sql, |statement| statement.execute(params))
    }

    /// The one row that it finds, if there is one.
    pub(super) fn find<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.with(sql, |statement| statement.query_row(params, read).optional())
    }

    /// The row that was inserted last.
    pub(super) fn inserted(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    fn with<T>(
        &self,
        sql: &'static str,
        run: impl FnOnce(&mut CachedStatement<'c>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let mut held = self.held.borrow_mut();
        if let Some((_, statement)) = held.iter_mut().find(|(known, _)| std::ptr::eq(*known, sql)) {
            return run(statement);
        }
        let mut statement = self.connection.prepare_cached(sql)?;
        let done = run(&mut statement);
        held.push((sql, statement));
        done
    }
}
