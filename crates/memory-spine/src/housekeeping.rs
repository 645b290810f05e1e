//! What must be done from time to time: the index keeps up with active workspaces, and answers that were
//! remembered for repeated requests are forgotten when their time is over.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spine_engine::memories::limits::IDEMPOTENCY_KEPT;
use spine_protocol::WorkspaceName;
use spine_store::{Change, Command, LogReads, Put, Store, StoreError, all_workspaces};

use crate::house::House;

/// Between two rounds.
const ROUND: Duration = Duration::from_secs(5);
/// Between two times that a workspace's old answers are forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(60);
/// Rows that one command forgets: it must not hold up the writes behind it.
const FORGET_ROWS_MAX: u32 = 2_000;
/// Commands for one workspace at a time.
const FORGET_COMMANDS: usize = 25;
/// Batches that are embedded for one workspace in a round.
const MAINTAIN_BATCHES_MAX: usize = 64;

/// What is known of one workspace.
struct Known {
    newest: Change,
    active_at: Instant,
    /// Whether the index has committed what it was given.
    settled: bool,
    forgotten_at: Option<Instant>,
}

/// Goes round until it is dropped.
pub async fn keep_house(house: Arc<House>) {
    let mut known = HashMap::new();
    loop {
        tokio::time::sleep(ROUND).await;
        if let Err(error) = round(&house, &mut known).await {
            tracing::warn!(detail = error.detail(), "housekeeping: {error}");
        }
    }
}

async fn round(
    house: &Arc<House>,
    known: &mut HashMap<WorkspaceName, Known>,
) -> Result<(), StoreError> {
    for state in all_workspaces(house.store.as_ref()).await? {
        visit(house, known, &state.name, state.newest).await?;
    }
    Ok(())
}

async fn visit(
    house: &Arc<House>,
    known: &mut HashMap<WorkspaceName, Known>,
    name: &WorkspaceName,
    newest: Change,
) -> Result<(), StoreError> {
    let now = Instant::now();
    let fresh = Known { newest: Change::ZERO, active_at: now, settled: true, forgotten_at: None };
    let workspace = known.entry(name.clone()).or_insert(fresh);
    if newest != workspace.newest {
        (workspace.newest, workspace.active_at, workspace.settled) = (newest, now, false);
        maintain(house, name).await?;
    } else if !workspace.settled {
        // The index commits in the first quiet round.
        workspace.settled = true;
        maintain(house, name).await?;
    }
    if workspace.is_forgetting_due(now) {
        workspace.forgotten_at = Some(now);
        forget(house, name).await?;
        // Forgetting is no activity.
        workspace.newest = house.store.newest_change(name).await?;
    }
    Ok(())
}

impl Known {
    fn is_forgetting_due(&self, now: Instant) -> bool {
        let Some(last) = self.forgotten_at else { return true };
        // What was remembered last is forgotten, then there is nothing more.
        now - last >= FORGET_EVERY && last < self.active_at + IDEMPOTENCY_KEPT + FORGET_EVERY
    }
}

async fn maintain(house: &Arc<House>, workspace: &WorkspaceName) -> Result<(), StoreError> {
    let (house, workspace) = (house.clone(), workspace.clone());
    let handle = tokio::runtime::Handle::current();
    let work = move || {
        for _ in 0..MAINTAIN_BATCHES_MAX {
            if handle.block_on(house.index.maintain(&workspace))? == 0 {
                break;
            }
        }
        Ok(())
    };
    tokio::task::spawn_blocking(work).await.unwrap_or(Ok(()))
}

async fn forget(house: &House, workspace: &WorkspaceName) -> Result<(), StoreError> {
    let now = house.store.now();
    let mut command = Command::new(workspace.clone(), now);
    command.puts.push(Put::ForgetIdempotency { until: now, rows_max: FORGET_ROWS_MAX });
    for outcome in house.store.apply(vec![command; FORGET_COMMANDS]).await? {
        outcome?;
    }
    Ok(())
}
