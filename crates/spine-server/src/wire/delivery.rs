//! One delivery, as it is answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use spine_engine::delivery::{self, Delivery};
use spine_protocol::{AgentName, DeliveryId, Digest, EnvelopeId, Priority, Timestamp};
use spine_store::{DeliveryState, UnixMs};

use super::envelope::raw;
use super::memory::Word;

/// A delivery: where it stands, and all that was tried.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryDocument {
    /// Its id.
    pub id: DeliveryId,
    /// What is delivered.
    pub envelope_id: EnvelopeId,
    /// The first envelope of its task.
    pub root: EnvelopeId,
    /// Where it stands.
    pub state: StateWord,
    /// In whose queue or hands it is.
    pub agent: AgentName,
    /// Whom it was first meant for.
    pub target: AgentName,
    /// Who sent it.
    pub sender: Option<AgentName>,
    /// Its place in the queue.
    pub priority: Priority,
    /// One at a time, in order, among those with the same key.
    #[schemars(with = "Option<Word>")]
    pub order_key: Option<String>,
    /// When it was sent.
    pub sent_at: Option<Timestamp>,
    /// When anything last happened to it.
    pub updated_at: Option<Timestamp>,
    /// From when on it can be taken.
    pub visible_at: Option<Timestamp>,
    /// When it was first accepted.
    pub accepted_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The number of the newest lease.
    pub attempt: u32,
    /// Attempts that ended without a result, the newest ones.
    pub attempts: Vec<AttemptDocument>,
    /// How many of those there were in all.
    pub attempts_ended: u32,
    /// Who is asked next when attempts run out.
    pub fallbacks: Vec<AgentName>,
    /// Which part of the explicit references is in the envelope, from 0 to 1.
    pub completeness: f64,
    /// Whether its deadline has passed and it is not over.
    pub overdue: bool,
    /// After this moment it is parked, not delivered.
    pub expires_at: Option<Timestamp>,
    /// The deadline that its constraints name.
    pub deadline: Option<Timestamp>,
    /// The lease, while there is one.
    pub lease: Option<LeaseDocument>,
    /// What receivers noted, the newest ones.
    pub progress: Vec<ProgressDocument>,
    /// Where a redelivery can go on from.
    pub checkpoint: Option<Value>,
    /// Why it is or was parked, the newest reasons.
    pub parked: Vec<ParkedDocument>,
    /// How it ended.
    pub ending: Option<EndingDocument>,
    /// What the receiver gave back.
    #[schemars(with = "Option<Value>")]
    pub result: Option<Box<RawValue>>,
    /// The publication it is a part of.
    pub publication_id: Option<String>,
    /// The pipeline it goes through.
    pub pipeline: Option<String>,
    /// The handoff that was refused for its hops.
    pub refused: Option<Value>,
}

/// The state of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum StateWord {
    /// Waits to be taken.
    Pending,
    /// Taken, not yet accepted.
    Leased,
    /// The receiver works on it.
    Accepted,
    /// Done.
    Done,
    /// Refused by the receiver.
    Rejected,
    /// Called off.
    Cancelled,
    /// Waits for a person.
    Parked,
}

impl From<DeliveryState> for StateWord {
    fn from(state: DeliveryState) -> Self {
        match state {
            DeliveryState::Pending => Self::Pending,
            DeliveryState::Leased => Self::Leased,
            DeliveryState::Accepted => Self::Accepted,
            DeliveryState::Done => Self::Done,
            DeliveryState::Rejected => Self::Rejected,
            DeliveryState::Cancelled => Self::Cancelled,
            DeliveryState::Parked => Self::Parked,
        }
    }
}

impl From<StateWord> for DeliveryState {
    fn from(word: StateWord) -> Self {
        match word {
            StateWord::Pending => Self::Pending,
            StateWord::Leased => Self::Leased,
            StateWord::Accepted => Self::Accepted,
            StateWord::Done => Self::Done,
            StateWord::Rejected => Self::Rejected,
            StateWord::Cancelled => Self::Cancelled,
            StateWord::Parked => Self::Parked,
        }
    }
}

impl DeliveryDocument {
    /// Of a delivery, at this moment.
    pub fn of(delivery: Delivery, now: UnixMs) -> Self {
        let Delivery { row, story } = delivery;
        let is_over = !row.state.is_open() && row.state != DeliveryState::Parked;
        Self {
            id: row.id,
            envelope_id: row.envelope,
            root: row.root,
            state: row.state.into(),
            agent: row.agent,
            target: story.target,
            sender: story.sender,
            priority: row.priority,
            order_key: row.order_key.map(String::from),
            sent_at: story.sent_at.to_timestamp(),
            updated_at: row.updated_at.to_timestamp(),
            visible_at: row.visible_at.to_timestamp(),
            accepted_at: story.accepted_at.and_then(UnixMs::to_timestamp),
            ended_at: story.ending.as_ref().and_then(|ending| ending.at.to_timestamp()),
            attempt: row.epoch,
            attempts: story.attempts.into_iter().map(Into::into).collect(),
            attempts_ended: story.attempts_ended,
            fallbacks: story.fallbacks,
            completeness: story.completeness,
            overdue: !is_over && story.deadline.is_some_and(|deadline| deadline < now),
            expires_at: story.expires_at.and_then(UnixMs::to_timestamp),
            deadline: story.deadline.and_then(UnixMs::to_timestamp),
            lease: story.lease.map(Into::into),
            progress: story.progress.into_iter().map(Into::into).collect(),
            checkpoint: story.checkpoint,
            parked: story.parked.into_iter().map(Into::into).collect(),
            ending: story.ending.map(Into::into),
            // The engine keeps results as canonical JSON.
            result: row.result.and_then(|bytes| raw(&bytes).ok()),
            publication_id: story.publication,
            pipeline: story.pipeline,
            refused: story.refused,
        }
    }

    /// Of many.
    pub fn list(deliveries: Vec<Delivery>, now: UnixMs) -> Vec<Self> {
        deliveries.into_iter().map(|delivery| Self::of(delivery, now)).collect()
    }
}

/// An attempt that ended without a result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AttemptDocument {
    /// Whom it was with.
    pub agent: AgentName,
    /// `not_taken`, `lease_expired` or `nacked`.
    pub outcome: &'static str,
    /// What the receiver said.
    pub reason: Option<String>,
    /// The process that held the lease.
    pub holder: Option<String>,
    /// When it could first be taken, or was leased.
    pub since: Option<Timestamp>,
    /// When it ended.
    pub at: Option<Timestamp>,
}

impl From<delivery::Attempt> for AttemptDocument {
    fn from(attempt: delivery::Attempt) -> Self {
        Self {
            agent: attempt.agent,
            outcome: attempt.outcome.as_str(),
            reason: attempt.reason,
            holder: attempt.holder,
            since: attempt.since.to_timestamp(),
            at: attempt.at.to_timestamp(),
        }
    }
}

/// A lease, without its token.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeaseDocument {
    /// Until when, without a heartbeat.
    pub until: Option<Timestamp>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// The process that holds it.
    pub holder: Option<String>,
}

impl From<delivery::Lease> for LeaseDocument {
    fn from(lease: delivery::Lease) -> Self {
        let (until, since) = (lease.until.to_timestamp(), lease.since.to_timestamp());
        Self { until, since, holder: lease.holder }
    }
}

/// A note of a receiver at work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProgressDocument {
    /// When.
    pub at: Option<Timestamp>,
    /// What it said.
    pub note: String,
    /// How far it is.
    pub percent: Option<f64>,
}

impl From<delivery::Progress> for ProgressDocument {
    fn from(progress: delivery::Progress) -> Self {
        let at = progress.at.to_timestamp();
        Self { at, note: progress.note, percent: progress.percent }
    }
}

/// Why something is parked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ParkedDocument {
    /// When.
    pub at: Option<Timestamp>,
    /// `attempts_exhausted`, `nobody_took_it`, `expired`, `hop_limit`, `join_failed` or `asked`.
    pub cause: &'static str,
    /// In words.
    pub reason: String,
    /// Who parked it, if somebody did.
    pub by: Option<AgentName>,
}

impl From<delivery::ParkedReason> for ParkedDocument {
    fn from(parked: delivery::ParkedReason) -> Self {
        let (at, cause) = (parked.at.to_timestamp(), parked.cause.as_str());
        Self { at, cause, reason: parked.reason, by: parked.by }
    }
}

/// How a delivery ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EndingDocument {
    /// When.
    pub at: Option<Timestamp>,
    /// Who ended it.
    pub by: Option<AgentName>,
    /// Why: of a rejection, a cancellation, a discard.
    pub reason: Option<String>,
    /// A question back to the sender.
    pub question: Option<String>,
    /// What the receiver did, in its own words.
    pub action: Option<String>,
    /// For which reason it did that.
    pub why: Option<String>,
    /// The digest of the result.
    pub result_digest: Option<Digest>,
    /// The envelope that the work went on in.
    pub next: Option<EnvelopeId>,
    /// Whether a person did it by hand.
    pub by_hand: bool,
}

impl From<delivery::Ending> for EndingDocument {
    fn from(ending: delivery::Ending) -> Self {
        Self {
            at: ending.at.to_timestamp(),
            by: ending.by,
            reason: ending.reason,
            question: ending.question,
            action: ending.action,
            why: ending.why,
            result_digest: ending.result_digest,
            next: ending.next,
            by_hand: ending.by_hand,
        }
    }
}

/// The address of one delivery.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeliveryPath {
    /// Its id.
    pub id: DeliveryId,
}

/// Deliveries, one page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryListDocument {
    /// The deliveries.
    pub deliveries: Vec<DeliveryDocument>,
    /// What to give as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

/// One delivery, or many: as it was asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DeliveryAnswer {
    /// The one.
    One(Box<DeliveryDocument>),
    /// Each, in the order they were sent.
    Many(DeliveriesDocument),
}

/// All the deliveries that something concerned.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveriesDocument {
    /// The deliveries.
    pub deliveries: Vec<DeliveryDocument>,
}

/// Which deliveries to list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeliveryListQuery {
    /// In any of these states; in all, if not said.
    #[serde(default)]
    pub state: Vec<StateWord>,
    /// In this agent's queue or hands.
    pub agent: Option<AgentName>,
    /// Something happened to it at this moment or later.
    pub since: Option<Timestamp>,
    /// Something last happened to it at this moment or earlier.
    pub until: Option<Timestamp>,
    /// Of this envelope.
    pub envelope_id: Option<EnvelopeId>,
    /// Of the task with this first envelope.
    pub root: Option<EnvelopeId>,
    /// `newest` first, if not said, or `oldest`.
    #[serde(default)]
    pub order: OrderWord,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Which end comes first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum OrderWord {
    /// The last one sent.
    #[default]
    Newest,
    /// The first one sent.
    Oldest,
}
