//! What the server answers, where it pays to know it by name. Fields that this client does not know are kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spine_protocol::{
    AgentName, Constraint, DeliveryId, Digest, EnvelopeId, Gap, MemoryId, ParentRef, Priority,
    Timestamp, Trimmed, Waiver,
};

/// A memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// From 1.
    pub version: u32,
    /// The text itself.
    pub content: String,
    /// A line to show it by.
    pub title: Option<String>,
    /// Whether the same content was there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<bool>,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// An envelope that was made, and its figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Handoff {
    /// The envelope's id.
    pub id: EnvelopeId,
    /// The hop it is at.
    pub hop: u32,
    /// What its rendering costs.
    pub token_count: u32,
    /// The memories in it.
    pub memory_refs: Vec<MemoryId>,
    /// Which part of the explicit references is in it.
    pub completeness: f64,
    /// Those that are not.
    pub gaps: Vec<Gap>,
    /// What lost detail.
    pub trimmed: Trimmed,
    /// The rest, with the envelope itself.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A handoff that was assembled and sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sent {
    /// What was assembled.
    pub handoff: Handoff,
    /// Its delivery.
    pub delivery: Delivery,
}

/// A server that is there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Alive {
    /// Its version.
    pub version: String,
    /// A name that no other start of a server has.
    #[serde(default)]
    pub instance: String,
}

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits to be taken.
    Pending,
    /// Taken, not yet accepted.
    Leased,
    /// Worked on.
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

impl State {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Leased => "leased",
            Self::Accepted => "accepted",
            Self::Done => "done",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Parked => "parked",
        }
    }
}

/// A delivery.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// What is delivered.
    pub envelope_id: EnvelopeId,
    /// The first envelope of its task.
    pub root: EnvelopeId,
    /// Where it stands.
    pub state: State,
    /// In whose queue or hands it is.
    pub agent: AgentName,
    /// Whom it was first meant for.
    pub target: AgentName,
    /// Who sent it.
    pub sender: Option<AgentName>,
    /// Its place in the queue.
    pub priority: Priority,
    /// When it was sent.
    pub sent_at: Option<Timestamp>,
    /// When it was first accepted.
    pub accepted_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The number of the newest lease.
    pub attempt: u32,
    /// Attempts that ended without a result.
    pub attempts: Vec<Attempt>,
    /// Which part of the explicit references is in the envelope.
    pub completeness: f64,
    /// Whether its deadline has passed.
    #[serde(default)]
    pub overdue: bool,
    /// What receivers noted.
    #[serde(default)]
    pub progress: Vec<Value>,
    /// Why it is or was parked.
    #[serde(default)]
    pub parked: Vec<Parking>,
    /// How it ended.
    pub ending: Option<Ending>,
    /// What the receiver gave back.
    pub result: Option<Value>,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// An attempt that ended without a result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Attempt {
    /// Whom it was with.
    pub agent: AgentName,
    /// `not_taken`, `lease_expired` or `nacked`.
    pub outcome: String,
    /// What the receiver said.
    pub reason: Option<String>,
    /// The process that held the lease.
    pub holder: Option<String>,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Why something is parked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Parking {
    /// In one word.
    pub cause: String,
    /// In many.
    #[serde(default)]
    pub reason: Option<String>,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// How a delivery ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ending {
    /// Why, if there is a reason.
    pub reason: Option<String>,
    /// A question back.
    pub question: Option<String>,
    /// What was done.
    pub action: Option<String>,
    /// Whether a person did it.
    #[serde(default)]
    pub by_hand: bool,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A delivery in a receiver's hands.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Received {
    /// The delivery.
    pub delivery: Delivery,
    /// The lease to show at every further step.
    pub lease: String,
    /// What is delivered.
    pub envelope: Value,
    /// The major version that it is given in.
    pub envelope_version: String,
    /// Its text, if that was asked for.
    pub rendered: Option<String>,
}

/// A delivery that is done, and the one that the work went on in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Done {
    /// The delivery.
    pub delivery: Delivery,
    /// The next one.
    pub next: Option<Delivery>,
}

/// The whole story of a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trace {
    /// The first envelope.
    pub root: EnvelopeId,
    /// Every envelope, oldest first.
    pub envelopes: Vec<Hop>,
    /// Every delivery.
    pub deliveries: Vec<Delivery>,
    /// What happened.
    pub events: Vec<Value>,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// One envelope of a task, without its memories' texts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hop {
    /// Its id.
    pub id: EnvelopeId,
    /// Its digest.
    pub digest: Digest,
    /// The envelopes it follows.
    pub parents: Vec<ParentRef>,
    /// How far down it is.
    pub hop: u32,
    /// The sender.
    pub from: AgentName,
    /// The receiver.
    pub target: AgentName,
    /// What the receiver was to do.
    pub task_summary: String,
    /// The memories in it.
    pub memory_refs: Vec<MemoryId>,
    /// What the receiver had to keep to.
    pub constraints: Vec<Constraint>,
    /// What was given up, openly.
    pub waived: Vec<Waiver>,
    /// What its rendering costs.
    pub token_count: u32,
    /// Its budget.
    pub max_tokens: u32,
    /// Explicit references that are not in it.
    pub gaps: Vec<Gap>,
    /// How many memories lost detail.
    pub trimmed_count: u32,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Whether a lineage is what it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Verification {
    /// Whether nothing is damaged.
    pub intact: bool,
    /// In a few words.
    pub summary: String,
    /// How many envelopes there are.
    pub envelopes: usize,
    /// What is to be told.
    pub findings: Vec<Finding>,
}

/// What is to be told about one envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finding {
    /// Which envelope.
    pub id: EnvelopeId,
    /// Whether this is damage.
    pub damage: bool,
    /// In words.
    pub detail: String,
}

/// An agent, its queue and its breaker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Agent {
    /// Its name.
    pub name: AgentName,
    /// Whether it is given no work for now.
    pub paused: bool,
    /// Its circuit breaker.
    pub breaker: Breaker,
    /// What waits for it.
    pub queue: Queue,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A circuit breaker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Breaker {
    /// `closed`, `open` or `half_open`.
    pub state: String,
    /// Deliveries in a row that nobody took or held.
    pub failures: u32,
    /// When one handoff may try.
    pub retry_at: Option<Timestamp>,
    /// Whether a person holds it open.
    #[serde(default)]
    pub forced: bool,
    /// The rest.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What waits for an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Queue {
    /// Deliveries that wait.
    pub pending: u64,
    /// Deliveries taken.
    pub leased: u64,
    /// Deliveries worked on.
    pub accepted: u64,
    /// Deliveries that wait for a person.
    pub parked: u64,
    /// Since when the oldest waits.
    pub oldest_pending_at: Option<Timestamp>,
}
