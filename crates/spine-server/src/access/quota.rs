//! What a workspace may use.
//!
//! A rate is counted here, on this server. Memories and bytes are counted in the store when a workspace with
//! a quota is first written to, and again every minute; in between, what this server stored is added. So a
//! quota can be exceeded for a minute by what other servers store, not by what comes through this one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_protocol::WorkspaceName;
use spine_store::limits::PAGE_ROWS_MAX;
use spine_store::{
    Change, Collection, Command, ErrorKind, Filter, ListQuery, Order, Put, Record, RecordKey,
    RecordName, Store, StoreError,
};

use super::rate::Rates;
use crate::limits::{QUOTA_RETRY_AFTER_S, USAGE_REMEMBERED};
use crate::problem::{Problem, ProblemKind};

const RECORD: &str = "limits";

/// What a workspace may use; what is not given has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(example = serde_json::json!({"memories_max": 100_000, "bytes_max": 1_073_741_824, "handoffs_per_s": 50}))]
pub struct Quota {
    /// Live memories.
    pub memories_max: Option<u64>,
    /// Bytes of their texts, titles and summaries.
    pub bytes_max: Option<u64>,
    /// Envelopes made in a second.
    pub handoffs_per_s: Option<u32>,
}

/// What a workspace uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Usage {
    /// Live memories.
    pub memories: u64,
    /// Bytes of their texts, titles and summaries.
    pub bytes: u64,
}

struct Known {
    quota: Quota,
    usage: Option<Usage>,
    at: Instant,
}

/// Quotas of all workspaces.
pub struct Quotas {
    store: Arc<dyn Store>,
    known: Mutex<HashMap<WorkspaceName, Known>>,
    rates: Rates,
}

impl Quotas {
    /// Over a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, known: Mutex::default(), rates: Rates::default() }
    }

    /// What is set for a workspace.
    pub async fn get(&self, workspace: &WorkspaceName) -> Result<Quota, StoreError> {
        Ok(self.read(workspace).await?.map(|(quota, _)| quota).unwrap_or_default())
    }

    /// Sets what a workspace may use.
    pub async fn set(&self, workspace: &WorkspaceName, quota: Quota) -> Result<(), StoreError> {
        let change = self.read(workspace).await?.map_or(Change::ZERO, |(_, change)| change);
        let value = serde_json::to_vec(&quota)
            .map_err(|error| StoreError::new(ErrorKind::TooLarge, error.to_string()))?;
        let record = Record { key: record_key()?, value, due_at: None, change };
        let mut command = Command::new(workspace.clone(), self.store.now());
        command.puts.push(Put::Record(Box::new(record)));
        for outcome in self.store.apply(vec![command]).await? {
            outcome?;
        }
        self.known().remove(workspace);
        Ok(())
    }

    async fn read(&self, workspace: &WorkspaceName) -> Result<Option<(Quota, Change)>, StoreError> {
        let found = self.store.records(workspace, vec![record_key()?]).await?.pop();
        let parsed = |record: Record| match serde_json::from_slice(&record.value) {
            Ok(quota) => Ok((quota, record.change)),
            Err(error) => Err(StoreError::new(ErrorKind::Corrupt, error.to_string())),
        };
        found.map(parsed).transpose()
    }

    /// Lets so many memories of so many bytes in, or says that there is no room.
    pub async fn admit_memories(
        &self,
        workspace: &WorkspaceName,
        more: Usage,
    ) -> Result<(), Problem> {
        let quota = self.current(workspace).await?;
        if quota.memories_max.is_none() && quota.bytes_max.is_none() {
            return Ok(());
        }
        let usage = self.usage(workspace).await?;
        let over =
            |max: Option<u64>, used: u64, more: u64| max.is_some_and(|max| used + more > max);
        if over(quota.memories_max, usage.memories, more.memories) {
            return Err(used_up("memories", usage.memories, quota.memories_max));
        }
        if over(quota.bytes_max, usage.bytes, more.bytes) {
            return Err(used_up("bytes", usage.bytes, quota.bytes_max));
        }
        if let Some(usage) = self.known().get_mut(workspace).and_then(|known| known.usage.as_mut())
        {
            usage.memories += more.memories;
            usage.bytes += more.bytes;
        }
        Ok(())
    }

    /// Lets one handoff in, or says when there is room again.
    pub async fn admit_handoff(&self, workspace: &WorkspaceName) -> Result<(), Problem> {
        let Some(per_s) = self.current(workspace).await?.handoffs_per_s else { return Ok(()) };
        self.rates.take(workspace.as_str(), per_s.max(1), Instant::now()).map_err(|wait_s| {
            let said =
                format!("the workspace may make {per_s} handoffs a second: go on more slowly");
            let problem = Problem::new(ProblemKind::QuotaExceeded, said);
            problem.with("quota", "handoffs_per_s").retry_after(wait_s.ceil() as u64)
        })
    }

    async fn current(&self, workspace: &WorkspaceName) -> Result<Quota, StoreError> {
        let known = self.known().get(workspace).map(|known| (known.quota, known.at));
        if let Some((quota, _)) = known.filter(|(_, at)| at.elapsed() < USAGE_REMEMBERED) {
            return Ok(quota);
        }
        let quota = self.get(workspace).await?;
        let fresh = Known { quota, usage: None, at: Instant::now() };
        self.known().insert(workspace.clone(), fresh);
        Ok(quota)
    }

    /// What a workspace uses, counted anew every minute.
    pub async fn usage(&self, workspace: &WorkspaceName) -> Result<Usage, StoreError> {
        if let Some(usage) = self.known().get(workspace).and_then(|known| known.usage) {
            return Ok(usage);
        }
        let usage = self.count(workspace).await?;
        if let Some(known) = self.known().get_mut(workspace) {
            known.usage = Some(usage);
        }
        Ok(usage)
    }

    async fn count(&self, workspace: &WorkspaceName) -> Result<Usage, StoreError> {
        let (mut usage, mut after) = (Usage::default(), None);
        loop {
            let (filter, order) = (Filter::default(), Order::OldestFirst);
            let now = self.store.now();
            let query = ListQuery { filter, now, order, after, limit: PAGE_ROWS_MAX };
            let page = self.store.list_memories(workspace, query).await?;
            usage.memories += page.items.len() as u64;
            usage.bytes += page.items.iter().map(|m| m.body.size_bytes() as u64).sum::<u64>();
            after = page.next;
            if after.is_none() {
                return Ok(usage);
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<WorkspaceName, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn record_key() -> Result<RecordKey, StoreError> {
    let name = RECORD.parse::<RecordName>();
    let name = name.map_err(|error| StoreError::new(ErrorKind::TooLarge, error.to_string()))?;
    Ok(RecordKey { collection: Collection::Quota, name })
}

fn used_up(what: &str, used: u64, max: Option<u64>) -> Problem {
    let max = max.unwrap_or_default();
    let said = format!(
        "the workspace holds {used} of {max} {what}: delete some, or have the quota raised"
    );
    let problem = Problem::new(ProblemKind::QuotaExceeded, said).with("quota", what);
    problem.with("used", used).with("max", max).retry_after(QUOTA_RETRY_AFTER_S)
}
