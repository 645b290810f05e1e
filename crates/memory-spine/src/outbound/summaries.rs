//! Summaries by a chat endpoint, written ahead of time: a handoff finds them there or does without, and never waits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spine_engine::Caller;
use spine_engine::memories::{Edit, Memories, MemoryError, MemoryPatch};
use spine_engine::text::secrets::redacted;
use spine_outbound::{Outbound, OutboundError, OutboundErrorKind, OutboundOptions};
use spine_protocol::{Digest, MemoryId, WorkspaceName};
use spine_store::{Change, Memory, MemoryRow, Store, StoreError, all_workspaces};

use super::limits::{
    SUMMARIES_WAITING_MAX, SUMMARY_PAUSE, SUMMARY_REQUEST_MS_MAX, SUMMARY_ROUND, SUMMARY_ROWS,
};
use crate::config::{OutboundSettings, SummarySettings};

/// Where a memory says that its summary is ours, and of which text.
const MARK: &str = "memory_spine_summary";
const HOUR: Duration = Duration::from_secs(3_600);

/// Writes summaries of memories that have none.
pub struct Summariser {
    outbound: Outbound,
    settings: SummarySettings,
    store: Arc<dyn Store>,
    memories: Memories,
}

/// A memory that waits for its summary.
struct Waiting {
    workspace: WorkspaceName,
    id: MemoryId,
}

/// What is to be done, and how far the changes of each workspace were looked at.
#[derive(Default)]
struct Desk {
    waiting: VecDeque<Waiting>,
    seen: BTreeMap<WorkspaceName, Change>,
}

impl Summariser {
    /// Over what may be reached.
    pub fn new(
        reach: &OutboundSettings,
        settings: SummarySettings,
        store: Arc<dyn Store>,
        memories: Memories,
    ) -> Result<Self, OutboundError> {
        let options = OutboundOptions { request_ms_max: SUMMARY_REQUEST_MS_MAX, ..reach.options() };
        Ok(Self { outbound: Outbound::new(options)?, settings, store, memories })
    }

    /// Goes on until it is dropped.
    pub async fn run(self) {
        let (mut desk, mut budget) = (Desk::default(), Budget::default());
        loop {
            if let Err(error) = self.gather(&mut desk).await {
                tracing::warn!(detail = error.detail(), "memories without summaries: {error}");
            }
            let Some(waiting) = desk.waiting.pop_front() else {
                tokio::time::sleep(SUMMARY_ROUND).await;
                continue;
            };
            tokio::time::sleep(budget.wait(self.settings.requests_per_h_max, Instant::now())).await;
            if self.write(&waiting, &mut budget).await.is_err() {
                desk.waiting.push_front(waiting);
                tokio::time::sleep(SUMMARY_PAUSE).await;
            }
        }
    }

    /// Looks at what changed, as long as there is room for what is found.
    async fn gather(&self, desk: &mut Desk) -> Result<(), StoreError> {
        for state in all_workspaces(self.store.as_ref()).await? {
            let seen = desk.seen.entry(state.name.clone()).or_insert(Change::ZERO);
            while *seen < state.newest && desk.waiting.len() < SUMMARIES_WAITING_MAX {
                let page = self.store.memory_changes(&state.name, *seen, SUMMARY_ROWS).await?;
                let read_to = page.items.last().map_or(*seen, MemoryRow::change);
                *seen = page.next.unwrap_or(read_to.max(state.newest));
                for row in page.items {
                    if let MemoryRow::Live(memory) = row
                        && self.wants(&memory)
                    {
                        let workspace = state.name.clone();
                        desk.waiting.push_back(Waiting { workspace, id: memory.id });
                    }
                }
            }
        }
        Ok(())
    }

    /// Long, and with no summary but an outdated one of ours. An author's own is never touched.
    fn wants(&self, memory: &Memory) -> bool {
        let body = &memory.body;
        let outdated = |summary: &String| {
            let mark = body.metadata.get(MARK);
            let is = |field: &str, text: &str| {
                mark.and_then(|mark| mark.get(field)) == Some(&Value::from(digest(text)))
            };
            is("summary", summary) && !is("text", &body.text)
        };
        body.text.len() >= self.settings.text_bytes_min
            && body.summary.as_ref().is_none_or(outdated)
            && !body.is_expired(self.store.now())
    }

    /// An error is one that passes: the same memory is tried again.
    async fn write(&self, waiting: &Waiting, budget: &mut Budget) -> Result<(), ()> {
        let caller = Caller::of(waiting.workspace.clone());
        // It may be gone by now, or have a summary.
        let Ok(memory) = self.memories.get(&caller, waiting.id).await else { return Ok(()) };
        if !self.wants(&memory) {
            return Ok(());
        }
        budget.spend(Instant::now());
        match self.summary_of(&memory.body.text).await {
            Ok(summary) => self.keep(&caller, memory, summary).await,
            Err(failure) => {
                let (memory, detail) = (memory.id, failure.detail());
                tracing::warn!(%memory, detail, "a summary could not be written");
                if may_pass(&failure) {
                    return Err(());
                }
            }
        }
        Ok(())
    }

    /// What a guarded envelope would not carry does not go to the endpoint either.
    async fn summary_of(&self, text: &str) -> Result<String, OutboundError> {
        let SummarySettings { endpoint, parameter, tokens_max, .. } = &self.settings;
        let (clean, _) = redacted(text);
        self.outbound.summarise(endpoint, *parameter, &clean, *tokens_max).await
    }

    /// Puts it to the version it is a summary of; a newer one comes by again.
    async fn keep(&self, caller: &Caller, memory: Memory, summary: String) {
        let (id, version, mut metadata) = (memory.id, memory.version, memory.body.metadata);
        let mark = json!({
            "model": self.settings.endpoint.model,
            "text": digest(&memory.body.text),
            "summary": digest(&summary),
        });
        metadata.insert(MARK.to_owned(), mark);
        let patch = MemoryPatch {
            summary: Edit::Set(summary),
            metadata: Some(metadata),
            ..MemoryPatch::default()
        };
        match self.memories.update(caller, id, patch, Some(version)).await {
            Ok(_) | Err(MemoryError::VersionConflict { .. } | MemoryError::Missing { .. }) => {}
            Err(error) => tracing::warn!(memory = %id, %error, "a summary could not be kept"),
        }
    }
}

fn digest(text: &str) -> String {
    Digest::of(&[text.as_bytes()]).to_string()
}

fn may_pass(failure: &OutboundError) -> bool {
    use OutboundErrorKind as Kind;
    match failure.kind() {
        Kind::CannotConnect | Kind::TimedOut | Kind::TlsFailed | Kind::Busy => true,
        Kind::Status(status) => matches!(status, 401 | 403 | 408 | 429 | 500..=599),
        _ => false,
    }
}

/// The requests of the last hour.
#[derive(Default)]
struct Budget(VecDeque<Instant>);

impl Budget {
    /// How long until there is room for one more.
    fn wait(&mut self, max: usize, now: Instant) -> Duration {
        while self.0.front().is_some_and(|at| now - *at >= HOUR) {
            self.0.pop_front();
        }
        let first = self.0.front().filter(|_| self.0.len() >= max);
        first.map_or(Duration::ZERO, |at| HOUR.saturating_sub(now - *at))
    }

    fn spend(&mut self, now: Instant) {
        self.0.push_back(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_has_so_many_requests_and_no_more() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        for minute in [0, 10] {
            assert_eq!(budget.wait(2, start + minutes(minute)), Duration::ZERO);
            budget.spend(start + minutes(minute));
        }
        assert_eq!(budget.wait(2, start + minutes(20)), minutes(40));
        assert_eq!(budget.wait(2, start + minutes(60)), Duration::ZERO);
        budget.spend(start + minutes(60));
        assert_eq!(budget.wait(2, start + minutes(61)), minutes(9));
    }
}
