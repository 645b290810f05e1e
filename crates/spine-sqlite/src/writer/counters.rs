//! The counter row of each workspace, read and written once in a group.

use std::collections::HashMap;

use rusqlite::params;
use spine_protocol::WorkspaceName;

use super::statements::Statements;

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
        statements: &Statements<'_>,
        workspace: &WorkspaceName,
    ) -> rusqlite::Result<&mut Counter> {
        let moved = match self.last.take() {
            Some(last) if last.workspace == *workspace => last,
            last => {
                self.others.extend(last.map(|last| (last.workspace.clone(), last)));
                self.another(statements, workspace)?
            }
        };
        Ok(&mut self.last.insert(moved).now)
    }

    fn another(
        &mut self,
        statements: &Statements<'_>,
        workspace: &WorkspaceName,
    ) -> rusqlite::Result<Moved> {
        if let Some(known) = self.others.remove(workspace) {
            return Ok(known);
        }
        let counter = load(statements, workspace)?;
        Ok(Moved { workspace: workspace.clone(), before: counter, now: counter })
    }

    /// Writes those that moved.
    pub(super) fn save(&self, statements: &Statements<'_>) -> rusqlite::Result<()> {
        let sql = "INSERT OR REPLACE INTO workspaces (workspace, newest_change, newest_memory) \
                   VALUES (?, ?, ?)";
        let all = self.others.values().chain(&self.last);
        for Moved { workspace, now, .. } in all.filter(|moved| moved.before != moved.now) {
            statements.execute(sql, params![workspace.as_str(), now.change, now.memory])?;
        }
        Ok(())
    }
}

fn load(statements: &Statements<'_>, workspace: &WorkspaceName) -> rusqlite::Result<Counter> {
    let sql = "SELECT newest_change, newest_memory FROM workspaces WHERE workspace = ?";
    let counter =
        |row: &rusqlite::Row<'_>| Ok(Counter { change: row.get(0)?, memory: row.get(1)? });
    Ok(statements.find(sql, [workspace.as_str()], counter)?.unwrap_or_default())
}
