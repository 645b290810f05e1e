//! What is left after a crash: every acknowledged write, an undamaged file, an order without holes.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use spine_protocol::{MemoryId, WorkspaceName};
use spine_retrieval::folder_beside;
use spine_sqlite::{CheckDepth, Options, SqliteStore};
use spine_store::limits::PAGE_ROWS_MAX;
use spine_store::testing::block_on;
use spine_store::{Change, LogReads, MemoryReads, MemoryRow, Store, StoreError};

use crate::house::workspace;
use crate::index_check::{IndexVerdict, compare_with_rebuilt};
use crate::{Ack, STORE_FILE};

/// What was found in a reopened store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Memories that are there, acknowledged or not.
    pub memories: usize,
    /// Acknowledged, and not there or not the same.
    pub lost: Vec<Ack>,
    /// What SQLite's integrity check says, if not that all is well.
    pub damage: Option<String>,
    /// Change numbers that are missing, given twice, or beyond the newest.
    pub numbers_wrong: usize,
    /// What is left of the index, if the writer kept one.
    pub index: Option<IndexVerdict>,
}

impl Verdict {
    /// Whether the store kept its promises.
    pub fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.is_consistent()
    }

    /// Whether what is there is whole, be it much or little.
    pub fn is_consistent(&self) -> bool {
        let index_differs = self.index.as_ref().is_some_and(|index| index.differing > 0);
        self.damage.is_none() && self.numbers_wrong == 0 && !index_differs
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { memories, lost, damage, numbers_wrong, index } = self;
        let damage = damage.as_deref().unwrap_or("none");
        let lost = lost.len();
        write!(
            f,
            "{memories} memories, {lost} lost, {numbers_wrong} numbers wrong, damage: {damage}"
        )?;
        let Some(IndexVerdict { kept, differing }) = index else { return Ok(()) };
        write!(f, "; index: {kept} changes kept, {differing} searches differ")
    }
}

/// Reopens the store of a folder and compares it with what was acknowledged.
pub fn verify(folder: &Path, acknowledged: &[Ack]) -> Result<Verdict, StoreError> {
    let file = folder.join(STORE_FILE);
    let store = Arc::new(SqliteStore::open(&file, Options::default())?);
    let damage = store.check(CheckDepth::Full).err().map(|error| error.detail().to_owned());
    let workspace = workspace()?;
    let rows = all_memories(&store, &workspace)?;
    let newest = block_on(store.newest_change(&workspace))?;
    let events = event_changes(&store, &workspace)?;
    let lost = lost(&rows, acknowledged);
    let (of_index, shared): (_, Arc<dyn Store>) = (folder_beside(&file), store);
    let index =
        of_index.exists().then(|| compare_with_rebuilt(&of_index, &shared, &workspace, &rows));
    let (memories, numbers_wrong) = (rows.len(), wrong(&events, &rows, newest));
    Ok(Verdict { memories, lost, damage, numbers_wrong, index: index.transpose()? })
}

fn all_memories(
    store: &SqliteStore,
    workspace: &WorkspaceName,
) -> Result<Vec<MemoryRow>, StoreError> {
    let (mut rows, mut next) = (Vec::new(), Some(Change::ZERO));
    while let Some(after) = next {
        let page = block_on(store.memory_changes(workspace, after, PAGE_ROWS_MAX))?;
        rows.extend(page.items);
        next = page.next;
    }
    Ok(rows)
}

fn event_changes(
    store: &SqliteStore,
    workspace: &WorkspaceName,
) -> Result<Vec<Change>, StoreError> {
    let (mut changes, mut next) = (Vec::new(), Some(Change::ZERO));
    while let Some(after) = next {
        let page = block_on(store.events(workspace, after, PAGE_ROWS_MAX))?;
        changes.extend(page.items.iter().map(|event| event.change));
        next = page.next;
    }
    Ok(changes)
}

fn lost(rows: &[MemoryRow], acknowledged: &[Ack]) -> Vec<Ack> {
    let there: HashMap<MemoryId, Ack> = rows.iter().map(|row| (row.id(), row.into())).collect();
    let is_lost = |ack: &&Ack| there.get(&ack.id).is_none_or(|found| !found.left.keeps(ack.left));
    acknowledged.iter().filter(is_lost).copied().collect()
}

/// Each version takes a number, and its end is one too; so does each event. What is left of the rows has numbers that no
/// event has.
fn wrong(events: &[Change], rows: &[MemoryRow], newest: Change) -> usize {
    let written: usize = rows.iter().map(|row| row.version() as usize).sum();
    let mut numbers: Vec<Change> =
        events.iter().copied().chain(rows.iter().map(MemoryRow::change)).collect();
    numbers.sort_unstable();
    let all = numbers.len();
    numbers.dedup();
    let beyond = numbers.iter().filter(|change| **change > newest).count();
    (written + events.len()).abs_diff(newest.0 as usize) + (all - numbers.len()) + beyond
}
