//! Receiving, and what a receiver does with what it has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use spine_engine::delivery::{Ack, Fence, RecoveredMemory};
use spine_protocol::{DeliveryId, Gap};

use super::delivery::DeliveryDocument;
use super::envelope::FormatWord;
use super::handoff::HandoffBody;
use super::memory::{MemoryDocument, Seconds};
use crate::problem::{Problem, ProblemDocument};

/// What a receiver asks for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(example = serde_json::json!({"max": 1, "wait_s": 0, "lease_s": 60}))]
pub struct ReceiveBody {
    /// How many at most; 1, if not said.
    #[schemars(range(min = 1, max = 100))]
    pub max: Option<usize>,
    /// How long to wait for the first one, at most 300; 30 seconds, if not said.
    pub wait_s: Option<Seconds>,
    /// How long the lease lives without a heartbeat; the agent's own, if not said.
    pub lease_s: Option<Seconds>,
    /// Whether they are accepted by this very call.
    pub accept: bool,
    /// What the receiver's process calls itself.
    #[schemars(length(max = 200))]
    pub holder: Option<String>,
    /// The protocol versions that it reads; the newest of them is given. `2`, if not said.
    pub accept_versions: Option<Vec<String>>,
    /// Handoffs below this completeness go back to their senders.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub completeness_min: Option<f64>,
    /// Give the text of the envelope as well, in this form.
    pub format: Option<FormatWord>,
}

/// How a stream of deliveries is to be.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct StreamQuery {
    /// How long a lease lives without a heartbeat; the agent's own, if not said.
    pub lease_s: Option<Seconds>,
    /// Whether they are accepted as they are given.
    #[serde(default)]
    pub accept: bool,
    /// What the receiver's process calls itself.
    #[schemars(length(max = 200))]
    pub holder: Option<String>,
    /// The protocol versions that it reads; `2`, if not said.
    #[serde(default)]
    pub versions: Vec<String>,
    /// How many it has in hands before it has settled some; 10, if not said.
    #[schemars(range(min = 1, max = 100))]
    pub max_outstanding: Option<usize>,
}

/// What a receiver is given.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReceivedListDocument {
    /// Each with its lease; empty when nothing came in time.
    pub deliveries: Vec<ReceivedDocument>,
}

/// A delivery in a receiver's hands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReceivedDocument {
    /// The delivery.
    pub delivery: DeliveryDocument,
    /// The lease to show at every further step.
    pub lease: String,
    /// What is delivered, in the version below.
    #[schemars(with = "Value")]
    pub envelope: Box<RawValue>,
    /// The major version that the envelope is given in.
    pub envelope_version: &'static str,
    /// Its text, if that was asked for.
    pub rendered: Option<String>,
}

/// A lease, as a receiver shows it.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct LeaseToken(pub Fence);

impl TryFrom<String> for LeaseToken {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self).map_err(|_| "expected the token that came with the delivery")
    }
}

impl JsonSchema for LeaseToken {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LeaseToken".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string", "pattern": "^[0-9]{1,9}-[0-9]{1,15}-[a-zA-Z0-9]+$",
            "description": "The token that came with the delivery.",
        })
    }
}

/// Taking the work.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcceptBody {
    /// The token that came with the delivery.
    pub lease: LeaseToken,
}

/// A sign of life.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtendBody {
    /// The token that came with the delivery.
    pub lease: LeaseToken,
    /// How long the lease lives from now on; as before, if not said.
    pub lease_s: Option<Seconds>,
}

/// How far a receiver is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgressBody {
    /// The token that came with the delivery.
    pub lease: LeaseToken,
    /// In words.
    #[serde(default)]
    pub note: String,
    /// In percent.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub percent: Option<f64>,
    /// Where a redelivery can go on from.
    pub checkpoint: Option<Value>,
}

/// Why a receiver could not.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NackBody {
    /// The token that came with the delivery.
    pub lease: LeaseToken,
    /// Why.
    #[schemars(length(min = 1))]
    pub reason: String,
    /// Whether the same agent is to be asked again.
    #[serde(default = "yes")]
    pub retry: bool,
    /// When, instead of after the policy's backoff.
    pub after_s: Option<Seconds>,
}

fn yes() -> bool {
    true
}

/// Why a receiver will not.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RejectBody {
    /// The token that came with the delivery.
    pub lease: LeaseToken,
    /// Why.
    #[schemars(length(min = 1))]
    pub reason: String,
    /// A question back to the sender.
    pub question: Option<String>,
}

/// What a receiver gives back when it is done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckBody {
    /// The token that came with the delivery.
    pub lease: LeaseToken,
    /// The result.
    pub result: Option<Value>,
    /// What was done, for the history.
    pub action: Option<String>,
    /// For which reason.
    pub why: Option<String>,
    /// Whom the work goes on to, in the same step.
    pub next: Option<Box<HandoffBody>>,
}

/// A delivery that is done, and the one that the work went on in.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoneDocument {
    /// The delivery.
    pub delivery: DeliveryDocument,
    /// The next one.
    pub next: Option<DeliveryDocument>,
}

/// Many that are done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckManyBody {
    /// Each by itself.
    #[schemars(length(max = 1000))]
    pub acks: Vec<AckOneBody>,
}

/// One of many that are done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckOneBody {
    /// Which delivery.
    pub id: DeliveryId,
    /// The token that came with it.
    pub lease: LeaseToken,
    /// The result.
    pub result: Option<Value>,
    /// What was done, for the history.
    pub action: Option<String>,
    /// For which reason.
    pub why: Option<String>,
}

impl AckOneBody {
    /// As the engine is asked.
    pub fn into_ack(self) -> (DeliveryId, Fence, Ack) {
        let ack = Ack { result: self.result, action: self.action, why: self.why, next: None };
        (self.id, self.lease.0, ack)
    }
}

/// What became of many.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AckManyDocument {
    /// Each, in the order they were sent.
    pub acks: Vec<OneAckDocument>,
}

/// What became of one of many.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OneAckDocument {
    /// It is done.
    Delivery(Box<DeliveryDocument>),
    /// It is not, for this reason.
    #[schemars(with = "ProblemDocument")]
    Problem(Problem),
}

/// What can be had of what a handoff lacks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecoveredDocument {
    /// Memories that are here now, in their newest version.
    pub memories: Vec<RecoveredMemoryDocument>,
    /// What is still missing, each with the reason it has now.
    pub gaps: Vec<Gap>,
    /// Which part of what was asked for the receiver has with these, from 0 to 1.
    pub completeness: f64,
}

/// A memory that the envelope does not carry, or only names.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecoveredMemoryDocument {
    /// The memory.
    #[serde(flatten)]
    pub memory: MemoryDocument,
    /// The version that the envelope names: another one than `version` means that it changed since. Null for a gap.
    pub packed_version: Option<u32>,
}

impl From<RecoveredMemory> for RecoveredMemoryDocument {
    fn from(recovered: RecoveredMemory) -> Self {
        let packed_version = recovered.packed_version;
        Self { memory: recovered.memory.into(), packed_version }
    }
}
