//! What the engine keeps of a delivery beside its row: how it is to be tried, and all that was tried.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_protocol::{AgentName, Digest, EnvelopeId, Subject};
use spine_store::{DeliveryState, ErrorKind, StoreError, UnixMs};

use super::limits::{ATTEMPTS_KEPT_MAX, PARKED_REASONS_MAX, PROGRESS_KEPT_MAX};
use super::policy::Policy;

/// Most stories fit into so many.
const STORY_BYTES_USUAL: usize = 512;

/// A delivery: its row, and its story.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// What the store looks at.
    pub row: spine_store::Delivery,
    /// What only the engine looks at. Apart, since it is large and deliveries are passed on from hand to hand.
    pub story: Box<Story>,
}

impl Delivery {
    /// From a row, whose story must be one.
    pub fn of_row(mut row: spine_store::Delivery) -> Result<Self, StoreError> {
        let damaged =
            |error: serde_json::Error| StoreError::new(ErrorKind::Corrupt, error.to_string());
        // Its bytes are not carried along: whoever writes the row spells the story anew.
        let story = serde_json::from_slice(&std::mem::take(&mut row.story)).map_err(damaged)?;
        Ok(Self { row, story })
    }

    /// The row to put, with its story in it.
    pub fn to_row(&self) -> spine_store::Delivery {
        // A story is maps, lists, texts and numbers: it always has a spelling.
        let mut story = Vec::with_capacity(STORY_BYTES_USUAL);
        let _ = serde_json::to_writer(&mut story, &self.story);
        spine_store::Delivery { story, ..self.row.clone() }
    }

    /// A new one as it is on disk, that many puts behind another in the same command. It is not read again: a read that
    /// fails would hide that all of it was written.
    pub(super) fn written_with(mut self, first: &Self, place: u64) -> Self {
        self.row.change = spine_store::Change(first.row.change.0 + place);
        self.row.sequence = self.row.change;
        self.row.updated_at = first.row.updated_at;
        self
    }

    /// Where it stands.
    pub fn state(&self) -> DeliveryState {
        self.row.state
    }
}

/// Everything about a delivery that no index needs. What is as usual is not spelled, for it would be half of each story; so the
/// usual can never become another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// Who sent it.
    pub sender: Option<AgentName>,
    /// When it was sent.
    pub sent_at: UnixMs,
    /// The agent it was first meant for.
    pub target: AgentName,
    /// How it is tried.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub policy: Policy,
    /// Whether somebody must take it soon: a direct handoff.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub direct: bool,
    /// Who is asked next when attempts run out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<AgentName>,
    /// The publication it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publication: Option<String>,
    /// The pipeline it goes through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// After this moment it is parked, not delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixMs>,
    /// A deadline that its constraints name: after it the work is overdue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<UnixMs>,
    /// Included over requested, of its envelope.
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub completeness: f64,
    /// Whom it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// Whether its result is checked against a schema.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub has_schema: bool,
    /// While pending: parked when nobody took it until then.
    pub pending_until: UnixMs,
    /// While pending and direct: an attempt is spent when nobody took it until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take_by: Option<UnixMs>,
    /// The lease, while there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// Attempts spent with the present agent since it was last queued for it.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub spent: u32,
    /// Whether all of those were spent because nobody took or held it.
    #[serde(default = "yes", skip_serializing_if = "is_so")]
    pub absent: bool,
    /// The attempts that ended, the newest ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// How many attempts ended in all.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub attempts_ended: u32,
    /// When it was first accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<UnixMs>,
    /// What the receivers noted, the newest ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<Progress>,
    /// Where a redelivery can go on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Value>,
    /// Why it is or was parked, the newest reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parked: Vec<ParkedReason>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// A handoff that was refused for its hops, for the person who looks at this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Value>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: BTreeMap<String, Value>,
}

/// One lease, as long as it lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The process that holds it, if it gave itself a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Since when.
    pub since: UnixMs,
    /// Until when, without a heartbeat.
    pub until: UnixMs,
    /// How long a heartbeat extends it.
    pub lease_ms: u64,
    /// Drawn when it was given: tells it from one that was to be given in its place and was not.
    #[serde(default)]
    pub ticket: u64,
}

/// An attempt that ended without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Whom it was with.
    pub agent: AgentName,
    /// The lease's number; none where nobody took it.
    pub epoch: Option<u32>,
    /// The process that held the lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// When it could first be taken, or was leased.
    pub since: UnixMs,
    /// When it ended.
    pub at: UnixMs,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// What the receiver said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    /// A direct handoff that nobody took.
    NotTaken,
    /// Leased, and not kept alive.
    LeaseExpired,
    /// Given back with a reason.
    Nacked,
}

impl AttemptOutcome {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotTaken => "not_taken",
            Self::LeaseExpired => "lease_expired",
            Self::Nacked => "nacked",
        }
    }
}

/// A note of a receiver at work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// When.
    pub at: UnixMs,
    /// What it said.
    pub note: String,
    /// How far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}

/// Why something is parked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedReason {
    /// When.
    pub at: UnixMs,
    /// A stable word for it.
    pub cause: ParkCause,
    /// In words.
    pub reason: String,
    /// Who parked it, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentName>,
}

/// What led to parking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParkCause {
    /// No attempts and no fallbacks are left.
    AttemptsExhausted,
    /// Nobody took it for too long.
    NobodyTookIt,
    /// Its `expires_at` has passed.
    Expired,
    /// The next handoff would have been beyond the hop limit.
    HopLimit,
    /// The results of a publication could not be joined.
    JoinFailed,
    /// Somebody asked for it.
    Asked,
}

impl ParkCause {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::NobodyTookIt => "nobody_took_it",
            Self::Expired => "expired",
            Self::HopLimit => "hop_limit",
            Self::JoinFailed => "join_failed",
            Self::Asked => "asked",
        }
    }
}

/// How a delivery ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// When.
    pub at: UnixMs,
    /// Who ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AgentName>,
    /// The lease that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u32>,
    /// Why: of a rejection, a cancellation, a discard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A question back to the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The digest of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_digest: Option<Digest>,
    /// What the receiver did, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// For which reason it did that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The envelope that the work went on in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<EnvelopeId>,
    /// Whether a person did it by hand.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub by_hand: bool,
}

impl Ending {
    /// An ending that says nothing but when and by whom.
    pub fn new(at: UnixMs, by: Option<AgentName>) -> Self {
        Self {
            at,
            by,
            epoch: None,
            reason: None,
            question: None,
            result_digest: None,
            action: None,
            why: None,
            next: None,
            by_hand: false,
        }
    }
}

impl Story {
    /// The envelope that the work went on in.
    pub fn next(&self) -> Option<EnvelopeId> {
        self.ending.as_ref().and_then(|ending| ending.next)
    }

    /// Nothing has happened yet.
    pub(super) fn blank(sent_at: UnixMs, target: AgentName) -> Self {
        Self {
            sender: None,
            sent_at,
            target,
            policy: Policy::default(),
            direct: false,
            fallbacks: Vec::new(),
            publication: None,
            pipeline: None,
            expires_at: None,
            deadline: None,
            completeness: 1.0,
            subject: None,
            has_schema: false,
            pending_until: sent_at,
            take_by: None,
            lease: None,
            spent: 0,
            absent: true,
            attempts: Vec::new(),
            attempts_ended: 0,
            accepted_at: None,
            progress: Vec::new(),
            checkpoint: None,
            parked: Vec::new(),
            ending: None,
            refused: None,
            unknown: BTreeMap::new(),
        }
    }

    pub(super) fn add_attempt(&mut self, attempt: Attempt) {
        self.absent &= attempt.outcome != AttemptOutcome::Nacked;
        self.spent += 1;
        self.attempts_ended += 1;
        push_bounded(&mut self.attempts, attempt, ATTEMPTS_KEPT_MAX);
    }

    pub(super) fn add_progress(&mut self, progress: Progress) {
        push_bounded(&mut self.progress, progress, PROGRESS_KEPT_MAX);
    }

    pub(super) fn add_parked(&mut self, reason: ParkedReason) {
        push_bounded(&mut self.parked, reason, PARKED_REASONS_MAX);
    }
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn whole() -> f64 {
    1.0
}

fn is_whole(completeness: &f64) -> bool {
    *completeness == whole()
}

fn yes() -> bool {
    true
}

fn is_so(flag: &bool) -> bool {
    *flag
}

fn push_bounded<T>(list: &mut Vec<T>, item: T, max: usize) {
    if list.len() >= max {
        list.drain(..=list.len() - max);
    }
    list.push(item);
}
