//! Everything there is to tell of a workspace's health.

use std::collections::{BTreeMap, BTreeSet};

use spine_protocol::AgentName;
use spine_store::{QueueState, UnixMs};

use super::figures::{Figures, MINUTE_MS, Minutes, TARGETS_MAX, Window};
use super::minute::Minute;
use super::verdict::{OpenBreaker, Reason, Verdict, reasons, verdict};
use super::{Health, Notice, Result, Room};
use crate::Caller;
use crate::delivery::breaker::{Breaker, BreakerState};
use crate::delivery::{AgentView, DeliveryError};

/// The health of a workspace at a moment.
#[derive(Debug, Clone)]
pub struct Report {
    /// The moment.
    pub at: UnixMs,
    /// From when on figures are known.
    pub since: Option<UnixMs>,
    /// In a word.
    pub verdict: Verdict,
    /// Why, the worst first.
    pub reasons: Vec<Reason>,
    /// The figures, by window.
    pub windows: Vec<(Window, Minute)>,
    /// What is in all queues.
    pub queue: QueueTotal,
    /// Each target, by name.
    pub targets: Vec<TargetReport>,
    /// Targets beyond those.
    pub targets_left_off: usize,
    /// The figures by minute, of all or of the target that was asked for.
    pub minutes: Minutes,
    /// Pending deliveries at the end of a minute, where somebody looked.
    pub depths: BTreeMap<i64, u64>,
}

/// What is in all queues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueTotal {
    /// Deliveries that wait.
    pub pending: u64,
    /// Deliveries taken, not yet accepted.
    pub leased: u64,
    /// Deliveries worked on.
    pub accepted: u64,
    /// Deliveries given up.
    pub parked: u64,
    /// The earliest moment at which a pending one can be, or could have been, taken.
    pub oldest_pending: Option<UnixMs>,
}

/// One target.
#[derive(Debug, Clone)]
pub struct TargetReport {
    /// Who.
    pub agent: AgentName,
    /// Its figures, by window.
    pub windows: Vec<(Window, Minute)>,
    /// What waits for it.
    pub queue: QueueState,
    /// Its breaker.
    pub breaker: Breaker,
    /// Whether it is given no work.
    pub paused: bool,
}

impl Health {
    /// The health of the caller's workspace, its series of one target if asked; and whom to tell of what was found.
    pub async fn report(
        &self,
        caller: &Caller,
        target: Option<&AgentName>,
    ) -> Result<(Report, Vec<Notice>)> {
        let notices = self.look(&caller.workspace).await?;
        let agents = self.deliveries.agents(caller).await?;
        let room = self.room(&caller.workspace);
        let mut room = room.lock().await;
        let now = self.store.now();
        room.note_depths(&agents, now);
        if let Some(target) = target {
            check_known(&room.figures, &agents, target)?;
        }
        Ok((self.made(&room, agents, target, now), notices))
    }

    /// Agents that something was sent to in the last day, as many as have figures of their own; and whom to tell of what was
    /// found.
    pub async fn seen(&self, caller: &Caller) -> Result<(BTreeSet<AgentName>, Vec<Notice>)> {
        let notices = self.look(&caller.workspace).await?;
        let room = self.room(&caller.workspace);
        let seen = room.lock().await.figures.targets.keys().cloned().collect();
        Ok((seen, notices))
    }

    fn made(
        &self,
        room: &Room,
        agents: Vec<AgentView>,
        target: Option<&AgentName>,
        now: UnixMs,
    ) -> Report {
        let windows = over_all(&room.figures.all, now);
        let open = open_breakers(&agents);
        let reasons = match windows.as_slice() {
            [(_, five_minutes), (_, hour), _] => {
                reasons(five_minutes, hour, &open, &self.thresholds)
            }
            _ => Vec::new(),
        };
        let mut targets = targets(&room.figures, &agents, now);
        let targets_left_off = targets.len().saturating_sub(TARGETS_MAX);
        targets.truncate(TARGETS_MAX);
        let minutes = match target {
            None => room.figures.all.clone(),
            Some(target) => room.figures.targets.get(target).cloned().unwrap_or_default(),
        };
        Report {
            at: now,
            since: room.since,
            verdict: verdict(&reasons),
            reasons,
            windows,
            queue: total(&agents),
            targets,
            targets_left_off,
            minutes,
            depths: room.depths_of(target),
        }
    }
}

fn open_breakers(agents: &[AgentView]) -> Vec<OpenBreaker> {
    let open = agents.iter().filter(|agent| agent.breaker.state != BreakerState::Closed);
    let named =
        |view: &AgentView| OpenBreaker { agent: view.name.clone(), is_forced: view.breaker.forced };
    open.map(named).collect()
}

fn check_known(figures: &Figures, agents: &[AgentView], target: &AgentName) -> Result<()> {
    let known =
        figures.targets.contains_key(target) || agents.iter().any(|agent| agent.name == *target);
    let unknown = || DeliveryError::NotFound { kind: "agent", name: target.to_string() };
    known.then_some(()).ok_or_else(unknown)
}

fn over_all(minutes: &Minutes, now: UnixMs) -> Vec<(Window, Minute)> {
    Window::ALL.into_iter().map(|window| (window, minutes.over(window, now))).collect()
}

/// Every target with a handoff in a day or anything open.
fn targets(figures: &Figures, agents: &[AgentView], now: UnixMs) -> Vec<TargetReport> {
    let by_name: BTreeMap<&AgentName, &AgentView> =
        agents.iter().map(|agent| (&agent.name, agent)).collect();
    let waiting = agents.iter().filter(|agent| agent.queue.is_some()).map(|agent| &agent.name);
    let names: BTreeSet<&AgentName> = figures.targets.keys().chain(waiting).collect();
    let empty = Minutes::default();
    let target = |name: &AgentName| {
        let view = by_name.get(name);
        let queue = view.and_then(|view| view.queue.clone());
        TargetReport {
            agent: name.clone(),
            windows: over_all(figures.targets.get(name).unwrap_or(&empty), now),
            queue: queue.unwrap_or_else(|| QueueState::new(name.clone())),
            breaker: view.map(|view| view.breaker.clone()).unwrap_or_default(),
            paused: view.is_some_and(|view| view.options.paused),
        }
    };
    names.into_iter().map(target).collect()
}

fn total(agents: &[AgentView]) -> QueueTotal {
    let mut total = QueueTotal::default();
    for queue in agents.iter().filter_map(|agent| agent.queue.as_ref()) {
        total.pending += queue.pending;
        total.leased += queue.leased;
        total.accepted += queue.accepted;
        total.parked += queue.parked;
        total.oldest_pending = total.oldest_pending.into_iter().chain(queue.oldest_pending).min();
    }
    total
}

impl Room {
    fn note_depths(&mut self, agents: &[AgentView], now: UnixMs) {
        let minute = now.0.div_euclid(MINUTE_MS);
        let queues = agents.iter().filter_map(|agent| agent.queue.as_ref());
        let depths = queues.map(|queue| (queue.agent.clone(), queue.pending)).collect();
        self.depths.insert(minute, depths);
        self.depths = self.depths.split_off(&(minute - Window::Day.minutes()));
    }

    fn depths_of(&self, target: Option<&AgentName>) -> BTreeMap<i64, u64> {
        let depth = |depths: &BTreeMap<AgentName, u64>| match target {
            None => depths.values().sum(),
            Some(target) => depths.get(target).copied().unwrap_or_default(),
        };
        self.depths.iter().map(|(minute, depths)| (*minute, depth(depths))).collect()
    }
}
