//! Giving work.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, MemoryId, Priority, PublicationId};
use spine_store::RecordName;

use super::card::{Card, Slip};
use super::task::{NextIn, StateIn, Task};
use super::wait;
use crate::access::DELIVERY_HEADER;
use crate::mcp::asker::Asker;
use crate::mcp::held::{default_parent, renew};
use crate::operations::handoffs::{HandOffAnswer, HandedOffDocument, OneOfManyDocument};
use crate::operations::{channels, deliveries, envelopes, handoffs};
use crate::problem::{Problem, ProblemKind};
use crate::wire::channel::{JoinBody, NamePath, PublicationDocument, PublishBody};
use crate::wire::delivery::{DeliveryAnswer, DeliveryPath};
use crate::wire::handoff::{EnvelopeBody, HandoffBody, ParentWord};
use crate::wire::one_or_many::OneOrMany;
use crate::wire::send::{CancelBody, SendBody, UntilWord};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendIn {
    target_agent: AgentName,
    /// What it is to do now.
    task_summary: String,
    /// The user's request, word for word. Only for a new task; a task keeps its intent.
    intent: Option<String>,
    /// By name: what everybody on the task must keep to. Inherited.
    #[serde(default)]
    constraints: Map<String, Value>,
    /// Inherited constraints given up: name to reason.
    #[serde(default)]
    waive: BTreeMap<String, String>,
    #[serde(default)]
    state: StateIn,
    /// Memories it needs; ms-… in the summary count, too.
    #[serde(default)]
    memory_refs: Vec<MemoryId>,
    /// How many other useful memories; 20 if not said.
    include_recent: Option<u32>,
    expected_output: Option<OutputIn>,
    max_tokens: Option<u32>,
    /// Whom it is about, as user:123.
    subject: Option<String>,
    priority: Option<Priority>,
    /// dlv_… or env_… that this follows; the delivery you hold, if not said.
    parent: Option<ParentWord>,
    /// A task of its own, though you hold a delivery.
    #[serde(default)]
    new_task: bool,
    /// Asked in turn if the target fails.
    fallbacks: Option<Vec<AgentName>>,
    #[schemars(range(min = 0, max = 45))]
    wait_s: Option<f64>,
    /// done if not said.
    wait_until: Option<UntilWord>,
}

/// What is to be given back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputIn {
    format: Option<String>,
    #[serde(default)]
    criteria: Vec<String>,
    /// A JSON Schema that the result is checked against.
    schema: Option<Map<String, Value>>,
}

impl OutputIn {
    fn written(self) -> Value {
        let mut written = json!({"criteria": self.criteria});
        let more =
            [("format", self.format.map(Value::from)), ("schema", self.schema.map(Value::Object))];
        for (name, value) in more {
            if let (Some(value), Some(members)) = (value, written.as_object_mut()) {
                members.insert(name.to_owned(), value);
            }
        }
        written
    }
}

impl SendIn {
    fn into_body(self) -> Result<HandoffBody, Problem> {
        let wait = wait::body(self.wait_s, self.wait_until)?;
        let more = json!({
            "intent": self.intent, "include_recent": self.include_recent,
            "expected_output": self.expected_output.map(OutputIn::written),
            "max_tokens": self.max_tokens, "subject": self.subject, "priority": self.priority,
            "new_task": self.new_task,
        });
        let (state, memory_refs, constraints, waive) =
            (self.state, self.memory_refs, self.constraints, self.waive);
        let task = Task::of(self.target_agent, self.task_summary);
        let task = Task { state, memory_refs, constraints, waive, more, ..task };
        let send = SendBody { fallbacks: self.fallbacks, wait, ..SendBody::default() };
        Ok(HandoffBody { parent: self.parent, send: Some(send), ..task.into_body()? })
    }
}

/// A handoff that was sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SentOut {
    delivery: Card,
    hop: u32,
    tokens: u32,
    /// The part of what was asked for that is in it, 0 to 1.
    completeness: f64,
    /// What is missing, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<String>,
    /// What it follows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parents: Vec<EnvelopeId>,
}

/// With the delivery that the work comes out of, which is thereby alive.
async fn in_hands(
    asker: Asker,
    parent: Option<ParentWord>,
    new_task: bool,
) -> Result<Asker, Problem> {
    let origin = match parent {
        None => default_parent(&asker, new_task).await?,
        Some(ParentWord::Delivery(id)) => Some(id),
        Some(ParentWord::Envelope(_)) => None,
    };
    let Some(id) = origin else { return Ok(asker) };
    renew(&asker, id).await;
    Ok(match parent {
        None => asker.saying(DELIVERY_HEADER, &id.to_string()),
        Some(_) => asker,
    })
}

pub async fn send(asker: Asker, input: SendIn) -> Result<SentOut, Problem> {
    asker.agent()?;
    let body = input.into_body()?;
    let asker = in_hands(asker, body.parent, body.new_task).await?;
    let one = OneOrMany { items: vec![body], is_list: false };
    match handoffs::hand_off(asker.call((), (), one)).await?.0.into_value() {
        HandOffAnswer::One(sent) => Ok(sent_out(*sent)),
        HandOffAnswer::Many { handoffs } => match handoffs.into_iter().next() {
            Some(OneOfManyDocument::Done(sent)) => Ok(sent_out(*sent)),
            Some(OneOfManyDocument::Failed { problem }) => Err(problem),
            None => Err(spine_engine::delivery::DeliveryError::Contended.into()),
        },
    }
}

fn sent_out(sent: HandedOffDocument) -> SentOut {
    let HandedOffDocument { handoff, delivery } = sent;
    let gaps = handoff.gaps.iter().map(|gap| format!("{}: {}", gap.reference, gap.reason));
    SentOut {
        delivery: delivery.into(),
        hop: handoff.hop,
        tokens: handoff.token_count,
        completeness: handoff.completeness,
        gaps: gaps.collect(),
        parents: parents_of(handoff.envelope.get()),
    }
}

fn parents_of(envelope: &str) -> Vec<EnvelopeId> {
    #[derive(Deserialize)]
    struct Parents {
        parents: Vec<spine_protocol::ParentRef>,
    }
    let read = serde_json::from_str::<Parents>(envelope);
    read.map(|read| read.parents.into_iter().map(|parent| parent.id).collect()).unwrap_or_default()
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishIn {
    #[schemars(with = "String")]
    channel: RecordName,
    /// The channel's subscribers, if not said.
    receivers: Option<Vec<AgentName>>,
    /// What each is to do.
    task_summary: String,
    /// The user's request, word for word, of a new task.
    intent: Option<String>,
    #[serde(default)]
    constraints: Map<String, Value>,
    #[serde(default)]
    memory_refs: Vec<MemoryId>,
    /// As in handoff_send.
    parent: Option<ParentWord>,
    #[serde(default)]
    new_task: bool,
    join: Option<NextIn>,
    /// How many must be done for the join; all if not said.
    join_need: Option<u32>,
}

/// What was published.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedOut {
    publication_id: PublicationId,
    /// Nothing more is to come.
    settled: bool,
    deliveries: Vec<Slip>,
    /// What the join was sent as.
    #[serde(skip_serializing_if = "Option::is_none")]
    joined: Option<DeliveryId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

impl From<PublicationDocument> for PublishedOut {
    fn from(publication: PublicationDocument) -> Self {
        let made = publication.join.and_then(|join| join.made);
        Self {
            publication_id: publication.id,
            settled: publication.settled,
            deliveries: publication.deliveries.into_iter().map(Into::into).collect(),
            joined: made.map(|made| made.delivery_id),
            left_out: None,
        }
    }
}

pub async fn publish(asker: Asker, input: PublishIn) -> Result<PublishedOut, Problem> {
    asker.agent()?;
    let asker = in_hands(asker, input.parent, input.new_task).await?;
    let path = NamePath { name: input.channel };
    let join = input.join.map(NextIn::into_body).transpose()?;
    let need = input.join_need;
    let join = join.map(|handoff| JoinBody { handoff, need, timeout_s: None, send: None });
    let broadcast: AgentName = broadcast()?;
    let more = json!({"intent": input.intent, "new_task": input.new_task});
    let task = Task::of(broadcast, input.task_summary);
    let (constraints, memory_refs) = (input.constraints, input.memory_refs);
    let task = Task { constraints, memory_refs, more, ..task };
    let body = HandoffBody { parent: input.parent, ..task.into_body()? };
    let body = EnvelopeBody::Assemble(Box::new(body));
    let made = envelopes::make(asker.at_step(0)?.call((), (), body)).await?;
    let envelope_id = made.0.into_value().id;
    let body = PublishBody { envelope_id, receivers: input.receivers, join, send: None };
    Ok(channels::publish(asker.call(path, (), body)).await?.0.into_value().into())
}

fn broadcast() -> Result<AgentName, Problem> {
    let name = "broadcast".parse();
    name.map_err(|error: spine_protocol::ParseError| {
        Problem::new(ProblemKind::Internal, "report this").logged(error.to_string())
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelIn {
    delivery_id: DeliveryId,
    reason: String,
    #[serde(default)]
    lineage: bool,
}

/// What was called off.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CancelledOut {
    cancelled: Vec<DeliveryId>,
}

pub async fn cancel(asker: Asker, input: CancelIn) -> Result<CancelledOut, Problem> {
    let CancelIn { delivery_id: id, reason, lineage } = input;
    let body = CancelBody { reason, lineage };
    let over = deliveries::cancel(asker.call(DeliveryPath { id }, (), body)).await?.into_value();
    Ok(CancelledOut {
        cancelled: match over {
            DeliveryAnswer::One(one) => vec![one.id],
            DeliveryAnswer::Many(many) => many.deliveries.iter().map(|one| one.id).collect(),
        },
    })
}
