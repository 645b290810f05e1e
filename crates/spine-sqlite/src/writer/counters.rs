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

/// One workspace's, before the group and now.
struct Moved {
    workspace: WorkspaceName,
    before: Counter,
    now: Counter,
}

#[derive(Default)]
pub(super) struct Counters {
    /// Of the last command: most are of the same workspace as the one before.
    last: Option<Moved>,
    others: HashMap<WorkspaceName, Moved>,
}

impl Counters {
    /// The workspace's counter as it stands in this group.
    pub(super) fn of(
        &mut self,
        connection: &Connection,
        workspace: &WorkspaceName,
    ) -> rusqlite::Result<&mut Counter> {
        let moved = match self.last.take() {
            Some(last) if last.workspace == *workspace => last,
            last => {
                self.others.extend(last.map(|last| (last.workspace.clone(), last)));
                self.another(connection, workspace)?
            }
        };
        Ok(&mut self.last.insert(moved).now)
    }

    fn another(
        &mut self,
        connection: &Connection,
        workspace: &WorkspaceName,
    ) -> rusqlite::Result<Moved> {
        if let Some(known) = self.others.remove(workspace) {
            return Ok(known);
        }
        let counter = load(connection, workspace)?;
        Ok(Moved { workspace: workspace.clone(), before: counter, now: counter })
    }

    /// Writes those that moved.
    pub(super) fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO workspaces (workspace, newest_change, newest_memory) \
                   VALUES (?, ?, ?)";
        let all = self.others.values().chain(&self.last);
        for Moved { workspace, now, .. } in all.filter(|moved| moved.before != moved.now) {
            let mut statement = connection.prepare_cached(sql)?;
            statement.execute(params![workspace.as_str(), now.change, now.memory])?;
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
