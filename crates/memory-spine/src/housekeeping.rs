//! What must be done from time to time: the index keeps up with active workspaces, and answers that were
//! remembered for repeated requests and old events are forgotten when their time is over.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spine_protocol::WorkspaceName;
use spine_retrieval::SearchIndex;
use spine_store::{
    Change, Command, DeliveryReads, LogReads, Put, Store, StoreError, UnixMs, all_workspaces,
};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::config::RetentionSettings;
use crate::house::{House, off_the_workers};
use crate::outbound::in_background;

/// Between two rounds.
const ROUND: Duration = Duration::from_secs(5);
/// Between two times that a workspace's old answers are forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(60);
/// Between two times that a workspace's log is looked at.
const LOG_EVERY: Duration = Duration::from_secs(60);
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
    log_looked_at: Option<Instant>,
}

/// Hears of a clock that tests move.
type Moves = Option<watch::Receiver<Duration>>;

/// Goes round until it is dropped.
pub async fn keep_house(house: Arc<House>, retention: RetentionSettings, mut moves: Moves) {
    let mut known = HashMap::new();
    loop {
        if is_moved_within(ROUND, &mut moves).await {
            // Whatever was done lately was done long ago.
            known.clear();
        }
        if let Err(error) = round(&house, &retention, &mut known).await {
            tracing::warn!(detail = error.detail(), "housekeeping: {error}");
        }
    }
}

/// Waits for the next round; true where a test's clock has moved meanwhile.
async fn is_moved_within(time: Duration, moves: &mut Moves) -> bool {
    let Some(moves) = moves else {
        tokio::time::sleep(time).await;
        return false;
    };
    tokio::time::timeout(time, moves.changed()).await.is_ok()
}

async fn round(
    house: &House,
    retention: &RetentionSettings,
    known: &mut HashMap<WorkspaceName, Known>,
) -> Result<(), StoreError> {
    for state in all_workspaces(house.store.as_ref()).await? {
        // One that fails holds up no other.
        if let Err(error) = visit(house, retention, known, &state.name, state.newest).await {
            let workspace = state.name.as_str();
            tracing::warn!(workspace, detail = error.detail(), "housekeeping: {error}");
        }
    }
    Ok(())
}

async fn visit(
    house: &House,
    retention: &RetentionSettings,
    known: &mut HashMap<WorkspaceName, Known>,
    name: &WorkspaceName,
    newest: Change,
) -> Result<(), StoreError> {
    let now = Instant::now();
    let fresh = Known {
        newest: Change::ZERO,
        active_at: now,
        settled: true,
        forgotten_at: None,
        log_looked_at: None,
    };
    let workspace = known.entry(name.clone()).or_insert(fresh);
    if newest != workspace.newest {
        (workspace.newest, workspace.active_at, workspace.settled) = (newest, now, false);
        tend_index(house, name, Writes::GoOn).await?;
    } else if !workspace.settled {
        // The index commits in the first quiet round; what has no vector is tried until it has one.
        workspace.settled = tend_index(house, name, Writes::Pause).await? == 0;
    }
    if workspace.is_forgetting_due(now, retention.idempotency) {
        workspace.forgotten_at = Some(now);
        forget(house, name).await?;
        // Forgetting is no activity.
        workspace.newest = house.store.newest_change(name).await?;
    }
    if workspace.is_log_due(now) {
        workspace.log_looked_at = Some(now);
        forget_events(house, name, retention.events).await?;
        // Forgetting is no activity.
        workspace.newest = house.store.newest_change(name).await?;
    }
    Ok(())
}

impl Known {
    fn is_log_due(&self, now: Instant) -> bool {
        self.log_looked_at.is_none_or(|last| now - last >= LOG_EVERY)
    }

    fn is_forgetting_due(&self, now: Instant, kept: Duration) -> bool {
        let Some(last) = self.forgotten_at else { return true };
        // What was remembered last is forgotten, then there is nothing more.
        now - last >= FORGET_EVERY && last < self.active_at + kept + FORGET_EVERY
    }
}

/// Whether a workspace was written to since the last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writes {
    GoOn,
    Pause,
}

/// How many memories still have no vector.
async fn tend_index(
    house: &House,
    workspace: &WorkspaceName,
    writes: Writes,
) -> Result<usize, StoreError> {
    let workspace = workspace.clone();
    let work = move |index: &SearchIndex, handle: &Handle| {
        let mut left = usize::MAX;
        for _ in 0..MAINTAIN_BATCHES_MAX {
            let before = left;
            left = handle.block_on(in_background(async {
                match writes {
                    Writes::GoOn => index.embed(&workspace).await,
                    Writes::Pause => index.maintain(&workspace).await,
                }
            }))?;
            // An embedder that gives nothing now may do so in the next round.
            if left == 0 || left >= before {
                break;
            }
        }
        Ok(left)
    };
    off_the_workers(house.index.clone(), work).await
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

/// Forgets the oldest events, some at a time, as long as the oldest is older than the log is kept.
async fn forget_events(
    house: &House,
    workspace: &WorkspaceName,
    kept: Option<Duration>,
) -> Result<(), StoreError> {
    let Some(until) = events_until(house, workspace, kept).await? else { return Ok(()) };
    for _ in 0..FORGET_COMMANDS {
        let oldest = house.store.events(workspace, Change::ZERO, 1).await?;
        if oldest.items.first().is_none_or(|event| event.at > until) {
            return Ok(());
        }
        let mut command = Command::new(workspace.clone(), house.store.now());
        command.puts.push(Put::ForgetEvents { until, rows_max: FORGET_ROWS_MAX });
        for outcome in house.store.apply(vec![command]).await? {
            outcome?;
        }
    }
    Ok(())
}

/// The log vouches for every lineage that is still whole (R4): what is as old as the oldest of them stays.
async fn events_until(
    house: &House,
    workspace: &WorkspaceName,
    kept: Option<Duration>,
) -> Result<Option<UnixMs>, StoreError> {
    let Some(kept) = kept else { return Ok(None) };
    let kept_ms = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
    let until = UnixMs(house.store.now().0.saturating_sub(kept_ms));
    let oldest = house.store.old_roots(workspace, None, 1).await?.items.into_iter().next();
    let made = oldest.map(|root| i64::try_from(root.unix_ms()).unwrap_or(i64::MAX));
    Ok(Some(made.map_or(until, |made| until.min(UnixMs(made.saturating_sub(1))))))
}

#[cfg(test)]
mod tests {
    use spine_protocol::{Digest, EnvelopeId};
    use spine_store::{EventDraft, StoredEnvelope};

    use super::*;
    use crate::house::house_in;

    const DAY: Duration = Duration::from_secs(86_400);

    async fn note(house: &House, workspace: &WorkspaceName, days_ago: i64) {
        let at = UnixMs(house.store.now().0 - days_ago * 86_400_000);
        let mut command = Command::new(workspace.clone(), at);
        command.events.push(EventDraft::new("tested"));
        house.store.apply(vec![command]).await.unwrap().pop().unwrap().unwrap();
    }

    async fn begin_lineage(house: &House, workspace: &WorkspaceName, days_ago: u64) {
        let unix_ms = u64::try_from(house.store.now().0).unwrap() - days_ago * 86_400_000;
        let id = EnvelopeId::from_parts(unix_ms, 1);
        let envelope = StoredEnvelope {
            id,
            root: id,
            digest: Digest::of(&[b""]),
            bytes: [].into(),
            notes: Vec::new(),
            pruned: false,
            change: Change::ZERO,
        };
        let mut command = Command::new(workspace.clone(), house.store.now());
        command.puts.push(Put::NewEnvelope(Box::new(envelope)));
        house.store.apply(vec![command]).await.unwrap().pop().unwrap().unwrap();
    }

    /// What vouches for a lineage that is still whole stays with it (R4), however old.
    #[tokio::test]
    async fn the_log_is_not_cut_behind_a_lineage_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (house, workspace) = (house_in(folder.path()), "default".parse().unwrap());
        for days_ago in [100, 94, 93] {
            note(&house, &workspace, days_ago).await;
        }
        begin_lineage(&house, &workspace, 95).await;
        forget_events(&house, &workspace, Some(DAY * 90)).await.unwrap();
        assert_eq!(house.store.events(&workspace, Change::ZERO, 10).await.unwrap().items.len(), 2);
    }

    /// Events that are older than the log is kept go; without a time, all stay.
    #[tokio::test]
    async fn old_events_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let (house, workspace) = (house_in(folder.path()), "default".parse().unwrap());
        for days_ago in [100, 91, 89, 0] {
            note(&house, &workspace, days_ago).await;
        }
        let kept =
            async || house.store.events(&workspace, Change::ZERO, 10).await.unwrap().items.len();
        forget_events(&house, &workspace, None).await.unwrap();
        assert_eq!(kept().await, 4);
        forget_events(&house, &workspace, Some(DAY * 90)).await.unwrap();
        assert_eq!(kept().await, 2);
        forget_events(&house, &workspace, Some(Duration::ZERO)).await.unwrap();
        assert_eq!(kept().await, 0);
    }
}
