//! Alerts as a pure state machine: events and figures in, changes out. It does not read or write anything.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use spine_protocol::AlertId;
use spine_store::{Event, UnixMs};

use super::limits::{
    ALERT_DELIVERIES_MAX, ALERTS_OPEN_MAX, FAILED_QUIET_MS, FAILURES_IN_A_ROW, HOP_LIMIT_QUIET_MS,
};
use super::noted::is_failure;

/// What an alert is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// A handoff ran out of attempts.
    HandoffFailed,
    /// Several to one target did, with nothing accepted in between.
    FailuresInARow,
    /// A breaker opened.
    BreakerOpen,
    /// Too much of what was asked for does not travel.
    CompletenessLow,
    /// A chain reached its limit.
    HopLimit,
    /// Somebody tries whether alerts arrive.
    Test,
}

impl AlertKind {
    /// All that the server opens by itself.
    pub const ALL: [Self; 5] = [
        Self::HandoffFailed,
        Self::FailuresInARow,
        Self::BreakerOpen,
        Self::CompletenessLow,
        Self::HopLimit,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HandoffFailed => "handoff_failed",
            Self::FailuresInARow => "failures_in_a_row",
            Self::BreakerOpen => "breaker_open",
            Self::CompletenessLow => "completeness_low",
            Self::HopLimit => "hop_limit",
            Self::Test => "test",
        }
    }

    /// How much it matters.
    pub fn severity(self) -> &'static str {
        match self {
            Self::HandoffFailed | Self::Test => "info",
            Self::FailuresInARow | Self::HopLimit => "warning",
            Self::BreakerOpen | Self::CompletenessLow => "critical",
        }
    }

    /// After how long without another it is over.
    fn quiet_ms(self) -> Option<i64> {
        match self {
            Self::HandoffFailed => Some(FAILED_QUIET_MS as i64),
            Self::HopLimit => Some(HOP_LIMIT_QUIET_MS as i64),
            _ => None,
        }
    }
}

/// What happened to an alert.
#[derive(Debug, Clone, PartialEq)]
pub enum AlertChange {
    /// There was none of this kind and target.
    Opened(Box<Opening>),
    /// Once more.
    Counted {
        /// Which one.
        id: AlertId,
        /// When.
        at: UnixMs,
        /// The delivery that did it.
        delivery: Option<String>,
    },
    /// It is over.
    Resolved {
        /// Which one.
        id: AlertId,
        /// Since when.
        at: UnixMs,
    },
}

/// A new alert.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    /// Its id.
    pub id: AlertId,
    /// What it is about.
    pub kind: AlertKind,
    /// Of which target.
    pub target: Option<String>,
    /// Since when.
    pub at: UnixMs,
    /// How often it happened by then.
    pub count: u64,
    /// In a line.
    pub title: String,
    /// In more words.
    pub detail: String,
    /// The deliveries it is about, the newest first.
    pub deliveries: Vec<String>,
}

/// An alert that is open, as far as the machine must know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    id: AlertId,
    last_at: UnixMs,
}

/// Failures to one target with nothing accepted in between.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Streak {
    failures: u32,
    deliveries: Vec<String>,
}

/// Where the machine stands. Kept in the store, so that every engine goes on from the same place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Watch {
    /// The newest event that it knows.
    pub seen: u64,
    /// Until when no notices are sent, by kind and target.
    pub silences: BTreeMap<String, UnixMs>,
    open: BTreeMap<String, Open>,
    streaks: BTreeMap<String, Streak>,
}

/// One name for a kind and a target.
pub fn topic(kind: AlertKind, target: Option<&str>) -> String {
    format!("{} {}", kind.as_str(), target.unwrap_or_default())
}

/// Something that an alert is about.
struct Cause<'a> {
    kind: AlertKind,
    target: Option<&'a str>,
    at: UnixMs,
    count: u64,
    detail: String,
    deliveries: Vec<String>,
}

impl Watch {
    /// Takes an event of the log in. Ids are made by the caller.
    pub fn note(
        &mut self,
        event: &Event,
        new_id: &dyn Fn(UnixMs) -> AlertId,
        changes: &mut Vec<AlertChange>,
    ) {
        self.quiet(event.at, changes);
        match &*event.kind {
            "delivery.parked" if is_failure(event) => self.failed(event, new_id, changes),
            "delivery.parked" if event.data.text("cause").as_deref() == Some("hop_limit") => {
                self.at_hop_limit(event, new_id, changes);
            }
            "delivery.accepted" => self.accepted(event, changes),
            "breaker.opened" | "breaker.forced_open" => self.opened(event, new_id, changes),
            "breaker.closed" | "breaker.reset" => {
                let target = event.data.text("breaker");
                self.resolve(AlertKind::BreakerOpen, target.as_deref(), event.at, changes);
            }
            _ => {}
        }
        self.seen = self.seen.max(event.change.0);
    }

    /// Takes the completeness of all handoffs in the window in.
    pub fn completeness(
        &mut self,
        share: Option<f64>,
        alert_below: f64,
        at: UnixMs,
        new_id: &dyn Fn(UnixMs) -> AlertId,
        changes: &mut Vec<AlertChange>,
    ) {
        let kind = AlertKind::CompletenessLow;
        let low = share.filter(|share| *share < alert_below);
        let Some(share) = low else { return self.resolve(kind, None, at, changes) };
        if self.open.contains_key(&topic(kind, None)) {
            return;
        }
        let detail = format!(
            "{:.0} % of what handoffs of the last 5 minutes asked for travelled with them (alert: under {:.0} %).",
            share * 100.0,
            alert_below * 100.0
        );
        let cause = Cause { kind, target: None, at, count: 1, detail, deliveries: Vec::new() };
        self.raise(cause, new_id, changes);
    }

    /// With nothing open, and this as the newest event that it knows.
    pub fn after(seen: u64) -> Self {
        Self { seen, ..Self::default() }
    }

    /// Whether any alert is open.
    pub fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// How many of each kind are open and not silenced.
    pub fn open_alerts(&self, now: UnixMs) -> BTreeMap<AlertKind, u64> {
        let is_silent = |topic: &str| self.silences.get(topic).is_some_and(|until| *until > now);
        let mut counts = BTreeMap::new();
        let told = self.open.keys().filter(|topic| !is_silent(topic));
        told.filter_map(|topic| kind_of(topic))
            .for_each(|kind| *counts.entry(kind).or_default() += 1);
        counts
    }

    /// Ends what has been quiet for long enough by now.
    pub fn quiet(&mut self, now: UnixMs, changes: &mut Vec<AlertChange>) {
        let over: Vec<(String, AlertId, UnixMs)> = self
            .open
            .iter()
            .filter_map(|(topic, open)| {
                let at = UnixMs(open.last_at.0 + quiet_ms_of(topic)?);
                (at <= now).then(|| (topic.clone(), open.id, at))
            })
            .collect();
        for (topic, id, at) in over {
            self.open.remove(&topic);
            changes.push(AlertChange::Resolved { id, at });
        }
    }

    fn failed(
        &mut self,
        event: &Event,
        new_id: &dyn Fn(UnixMs) -> AlertId,
        changes: &mut Vec<AlertChange>,
    ) {
        let Some(agent) = event.data.text("agent") else { return };
        let agent = &*agent;
        let deliveries = delivery(event);
        let detail = format!("A handoff to {agent} ran out of attempts and waits for a person.");
        let (kind, target, at) = (AlertKind::HandoffFailed, None, event.at);
        let cause = Cause { kind, target, at, count: 1, detail, deliveries: deliveries.clone() };
        self.raise(cause, new_id, changes);
        if self.streaks.len() >= ALERTS_OPEN_MAX && !self.streaks.contains_key(agent) {
            return;
        }
        let streak = self.streaks.entry(agent.to_owned()).or_default();
        streak.failures += 1;
        streak.deliveries.splice(0..0, deliveries);
        streak.deliveries.truncate(ALERT_DELIVERIES_MAX);
        if streak.failures < FAILURES_IN_A_ROW {
            return;
        }
        let (count, deliveries) = (u64::from(streak.failures), streak.deliveries.clone());
        let detail = format!("{count} handoffs in a row ran out of attempts.");
        let (kind, target) = (AlertKind::FailuresInARow, Some(agent));
        self.raise(Cause { kind, target, at, count, detail, deliveries }, new_id, changes);
    }

    fn at_hop_limit(
        &mut self,
        event: &Event,
        new_id: &dyn Fn(UnixMs) -> AlertId,
        changes: &mut Vec<AlertChange>,
    ) {
        let (kind, at, agent) = (AlertKind::HopLimit, event.at, event.data.text("agent"));
        let (target, deliveries) = (agent.as_deref(), delivery(event));
        let detail = "A chain of handoffs reached its limit; the last one waits for a person.";
        let detail = detail.to_owned();
        self.raise(Cause { kind, target, at, count: 1, detail, deliveries }, new_id, changes);
    }

    fn accepted(&mut self, event: &Event, changes: &mut Vec<AlertChange>) {
        let Some(agent) = event.data.text("agent") else { return };
        self.streaks.remove(&*agent);
        self.resolve(AlertKind::FailuresInARow, Some(&*agent), event.at, changes);
    }

    fn opened(
        &mut self,
        event: &Event,
        new_id: &dyn Fn(UnixMs) -> AlertId,
        changes: &mut Vec<AlertChange>,
    ) {
        let Some(agent) = event.data.text("breaker") else { return };
        let agent = &*agent;
        let streak = self.streaks.get(agent).cloned().unwrap_or_default();
        let detail = if event.kind == "breaker.forced_open" {
            "A person holds it open.".to_owned()
        } else {
            "Nobody took or held what was sent. New direct handoffs fail at once.".to_owned()
        };
        let (kind, target, at) = (AlertKind::BreakerOpen, Some(agent), event.at);
        let deliveries = streak.deliveries;
        self.raise(Cause { kind, target, at, count: 1, detail, deliveries }, new_id, changes);
    }

    fn raise(
        &mut self,
        cause: Cause<'_>,
        new_id: &dyn Fn(UnixMs) -> AlertId,
        changes: &mut Vec<AlertChange>,
    ) {
        let Cause { kind, target, at, count, detail, deliveries } = cause;
        let topic = topic(kind, target);
        if let Some(open) = self.open.get_mut(&topic) {
            open.last_at = at;
            let (id, delivery) = (open.id, deliveries.into_iter().next());
            changes.push(AlertChange::Counted { id, at, delivery });
        } else if self.open.len() < ALERTS_OPEN_MAX {
            let id = new_id(at);
            self.open.insert(topic, Open { id, last_at: at });
            let (target, title) = (target.map(str::to_owned), title(kind, target));
            let opening = Opening { id, kind, target, at, count, title, detail, deliveries };
            changes.push(AlertChange::Opened(Box::new(opening)));
        }
    }

    fn resolve(
        &mut self,
        kind: AlertKind,
        target: Option<&str>,
        at: UnixMs,
        changes: &mut Vec<AlertChange>,
    ) {
        // Everything that is accepted comes here, and mostly nothing is open.
        let open = (!self.open.is_empty()).then(|| self.open.remove(&topic(kind, target)));
        if let Some(open) = open.flatten() {
            changes.push(AlertChange::Resolved { id: open.id, at });
        }
    }
}

fn title(kind: AlertKind, target: Option<&str>) -> String {
    let target = target.unwrap_or("a target");
    match kind {
        AlertKind::HandoffFailed => "A handoff ran out of attempts".to_owned(),
        AlertKind::FailuresInARow => format!("Handoffs to {target} fail one after another"),
        AlertKind::BreakerOpen => format!("The breaker of {target} opened"),
        AlertKind::CompletenessLow => "Handoffs lack what they were asked to carry".to_owned(),
        AlertKind::HopLimit => format!("A chain of handoffs ended at {target}: its hop limit"),
        AlertKind::Test => "This is a test".to_owned(),
    }
}

fn quiet_ms_of(topic: &str) -> Option<i64> {
    kind_of(topic).and_then(AlertKind::quiet_ms)
}

fn kind_of(topic: &str) -> Option<AlertKind> {
    AlertKind::ALL.into_iter().find(|kind| topic.split(' ').next() == Some(kind.as_str()))
}

fn delivery(event: &Event) -> Vec<String> {
    event.delivery.iter().map(ToString::to_string).collect()
}
