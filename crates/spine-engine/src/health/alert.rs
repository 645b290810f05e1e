//! An alert as it is kept.

use serde::{Deserialize, Serialize};
use spine_protocol::AlertId;
use spine_store::{EventDraft, UnixMs};

use super::alerts::{AlertKind, Opening};
use super::limits::{ALERT_DELIVERIES_MAX, ALERT_SENT_MAX};

/// An alert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alert {
    /// Its id.
    pub id: AlertId,
    /// What it is about.
    pub kind: AlertKind,
    /// Of which target.
    pub target: Option<String>,
    /// In a line.
    pub title: String,
    /// In more words.
    pub detail: String,
    /// How often it happened.
    pub count: u64,
    /// Since when.
    pub opened_at: UnixMs,
    /// When it happened last.
    pub last_at: UnixMs,
    /// Since when it is over.
    pub resolved_at: Option<UnixMs>,
    /// Who looks after it.
    pub acknowledged: Option<Acknowledged>,
    /// Until when nobody is told.
    pub silenced: Option<Silenced>,
    /// The deliveries it is about, the newest first.
    pub deliveries: Vec<String>,
    /// Whom it was sent to, the newest first.
    pub sent: Vec<Sent>,
    /// What people are still to be told of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owed: Vec<Owed>,
}

/// What people are told of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// That it is open.
    Opened,
    /// That it is over.
    Resolved,
}

impl Turn {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Resolved => "resolved",
        }
    }
}

/// Something that not everybody has been told yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owed {
    /// What.
    pub turn: Turn,
    /// Since when.
    pub at: UnixMs,
    /// The webhooks that are settled: they took it, or were given up.
    pub settled: Vec<String>,
}

/// Who looks after an alert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// Since when.
    pub at: UnixMs,
    /// Who.
    pub by: Option<String>,
    /// What they said.
    pub note: Option<String>,
}

/// A time in which nobody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silenced {
    /// Until when.
    pub until: UnixMs,
    /// Who wanted it.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// One time that somebody was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The webhook's name.
    pub webhook: String,
    /// When.
    pub at: UnixMs,
    /// Whether it was taken.
    pub ok: bool,
    /// The answer's status.
    pub status: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
}

impl Alert {
    pub(super) fn of(opening: Opening) -> Self {
        let Opening { id, kind, target, at, count, title, detail, deliveries } = opening;
        Self {
            id,
            kind,
            target,
            title,
            detail,
            count,
            opened_at: at,
            last_at: at,
            resolved_at: None,
            acknowledged: None,
            silenced: None,
            deliveries,
            sent: Vec::new(),
            owed: Vec::new(),
        }
    }

    /// One that only tries whether alerts arrive. It is in no list.
    pub fn test(id: AlertId, at: UnixMs) -> Self {
        let (kind, target) = (AlertKind::Test, None);
        let (title, detail) = ("This is a test".to_owned(), "Alerts arrive here.".to_owned());
        let deliveries = Vec::new();
        Self::of(Opening { id, kind, target, at, count: 1, title, detail, deliveries })
    }

    pub(super) fn count(&mut self, at: UnixMs, delivery: Option<String>) {
        self.count += 1;
        self.last_at = at;
        self.deliveries.splice(0..0, delivery);
        self.deliveries.truncate(ALERT_DELIVERIES_MAX);
    }

    /// Notes what came of telling one webhook; when all of them are settled, nothing is owed any more.
    pub(super) fn note_sent(&mut self, turn: Turn, sent: Sent, webhooks: &[String]) {
        for owed in self.owed.iter_mut().filter(|owed| owed.turn == turn) {
            owed.settled.push(sent.webhook.clone());
        }
        self.owed.retain(|owed| !webhooks.iter().all(|name| owed.settled.contains(name)));
        self.sent.insert(0, sent);
        self.sent.truncate(ALERT_SENT_MAX);
    }

    /// The alert as it was when people were to be told this.
    pub(super) fn at(&self, turn: Turn) -> Self {
        let resolved_at = self.resolved_at.filter(|_| turn == Turn::Resolved);
        Self { resolved_at, ..self.clone() }
    }

    /// The silence, as long as it lasts.
    pub fn silenced_at(&self, now: UnixMs) -> Option<&Silenced> {
        self.silenced.as_ref().filter(|silenced| silenced.until > now)
    }

    pub(super) fn event(&self, kind: &'static str) -> EventDraft {
        let mut event = EventDraft::new(kind);
        event.data.note("alert", &self.id.to_string());
        event.data.note("kind", self.kind.as_str());
        event.data.note("severity", self.kind.severity());
        event.data.note("target", self.target.as_deref());
        event.data.note("count", self.count);
        event
    }
}
