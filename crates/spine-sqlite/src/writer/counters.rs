//! The counter row of each workspace, read and written once in a group.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};
use spine_protocol::WorkspaceName;

/// The numbers given last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counter {
    pub(super) change: i64,
    pub(super) memory: i64,
}

#[derive(Default)]
pub(super) struct Counters(HashMap<WorkspaceName, (Counter, Counter)>);

impl Counters {
    /// The workspace's counter as it stands in this group.
    pub(super) fn of(
        &mut self,
        connection: &Connection,
        workspace: &WorkspaceName,
    ) -> rusqlite::Result<&mut Counter> {
        if !self.0.contains_key(workspace) {
            let counter = load(connection, workspace)?;
            self.0.insert(workspace.clone(), (counter, counter));
        }
        Ok(&mut self.0.entry(workspace.clone()).or_default().1)
    }

    /// Writes those that moved.
    pub(super) fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO workspaces (workspace, newest_change, newest_memory) \
                   VALUES (?, ?, ?)";
        for (workspace, (_, counter)) in self.0.iter().filter(|(_, (before, now))| before != now) {
            let mut statement = connection.prepare_cached(sql)?;
            statement.execute(params![workspace.as_str(), counter.change, counter.memory])?;
        }
        Ok(())
    }
}

fn load(connection: &Connection, workspace: &WorkspaceName) -> rusqlite::Result<Counter> {
    let sql = "SELECT newest_change, newest_memory FROM workspaces WHERE workspace = ?";
    let mut statement = connection.prepare_cached(sql)?;
    let counter =
        |row: &rusqlite::Row<'_>| Ok(Counter { change: row.get(0)?, memory: row.get(1)? });
    Ok(statement.query_row([workspace.as_str()], counter).optional()?.unwrap_or_default())
}
