//! `agent_handoff()` as it is sent.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use spine_engine::assembly::HandoffRequest;
use spine_protocol::{
    AgentName, ConstraintName, Decision, DeliveryId, Digest, EnvelopeId, ExpectedOutput, Format,
    MemoryId, NewConstraint, NewHistory, NewWaiver, ParseError, Priority, Question, ReadError,
    Scope, StateUpdate, Strategy, Subject, Timestamp, TokenizerName, Traceparent, from_value,
};
use spine_store::ThreadName;

use super::memory::Word;
use super::one_or_many::Listed;
use super::send::SendBody;
use crate::route::Input;

/// A handoff to assemble. Everything but the target and the summary has a default.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({
    "target_agent": "code-generator",
    "task_summary": "Write the client from the findings in ms-1.",
    "intent": "Integrate the payment gateway.",
    "constraints": {"language": "python"},
    "max_tokens": 4000,
}))]
pub struct HandoffBody {
    /// The receiver, or `broadcast`.
    pub target_agent: AgentName,
    /// What the receiver is to do now.
    pub task_summary: String,
    /// The user's request, word for word; only a new task can give one.
    pub intent: Option<String>,
    /// How many of the most useful memories travel beside those asked for; 20 if not said.
    pub include_recent: Option<u32>,
    /// Whether pinned memories travel.
    #[serde(default = "yes")]
    pub include_pins: bool,
    /// New or tightened constraints.
    #[serde(default)]
    pub constraints: NamedList<ConstraintBody>,
    /// Constraints to give up, each with a reason.
    #[serde(default)]
    pub waive: NamedList<WaiverBody>,
    /// Steps to put on record.
    #[serde(default)]
    pub execution_history: Vec<HistoryBody>,
    /// What the receiver is to give back.
    pub expected_output: Option<ExpectedOutput>,
    /// What is new about the state.
    #[serde(default)]
    pub state: StateBody,
    /// Memories asked for by id.
    #[serde(default)]
    pub memory_refs: Vec<MemoryId>,
    /// How detail is chosen: `full`, `summary`, `priority` or `lazy`.
    #[serde(default)]
    pub strategy: Option<Strategy>,
    /// The budget; the target's own, the parent's, or 4000 if not said.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// What counts: `o200k_base`, `cl100k_base` or `approx`.
    pub tokenizer: Option<TokenizerName>,
    /// The rendering that is counted: `markdown`, `xml` or `json`.
    pub format: Option<Format>,
    /// Whom the task is about.
    pub subject: Option<Subject>,
    /// Draw the useful memories from this thread only.
    #[schemars(with = "Option<Word>")]
    pub thread: Option<ThreadName>,
    /// The envelope, or the delivery, that this one follows; none is a new task, unless the header
    /// `Memory-Spine-Delivery` says where it comes from.
    pub parent: Option<ParentWord>,
    /// The envelopes that this one joins.
    #[serde(default)]
    pub parents: Vec<EnvelopeId>,
    /// A hop limit.
    pub max_hops: Option<u32>,
    /// Its place in the receiver's queue.
    #[serde(default)]
    pub priority: Priority,
    /// After this moment it is parked, not delivered.
    pub expires_at: Option<Timestamp>,
    /// Whether this is a task of its own, though it comes out of a delivery. That is on record.
    #[serde(default)]
    pub new_task: bool,
    /// How it is sent, where it is: `POST /v1/handoffs`, `next`, `resend`.
    pub send: Option<SendBody>,
}

/// Many handoffs have this name in a body.
impl Listed for HandoffBody {
    const LIST: &'static str = "handoffs";
}

/// What a handoff follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum ParentWord {
    /// An envelope.
    Envelope(EnvelopeId),
    /// A delivery's envelope.
    Delivery(DeliveryId),
}

impl TryFrom<String> for ParentWord {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        match text.parse() {
            Ok(delivery) => Ok(Self::Delivery(delivery)),
            Err(_) => text.parse().map(Self::Envelope),
        }
    }
}

impl JsonSchema for ParentWord {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ParentWord".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^(env|dlv)_[0-7][0-9A-HJKMNP-TV-Z]{25}$"})
    }
}

fn yes() -> bool {
    true
}

impl HandoffBody {
    /// As the engine is asked, without the delivery that it may follow.
    pub fn into_request(self, traceparent: Option<Traceparent>) -> HandoffRequest {
        let mut request = HandoffRequest::new(self.target_agent, self.task_summary);
        request.intent = self.intent;
        if let Some(count) = self.include_recent {
            request.include_recent = count as usize;
        }
        request.include_pins = self.include_pins;
        request.constraints = self.constraints.0.into_iter().map(Into::into).collect();
        request.waive = self.waive.0.into_iter().map(Into::into).collect();
        request.history = self.execution_history.into_iter().map(Into::into).collect();
        request.expected_output = self.expected_output;
        request.state = self.state.into();
        request.memory_refs = self.memory_refs;
        request.strategy = self.strategy.unwrap_or(request.strategy);
        request.max_tokens = self.max_tokens;
        request.tokenizer = self.tokenizer.unwrap_or(request.tokenizer);
        request.format = self.format.unwrap_or(request.format);
        request.subject = self.subject;
        request.thread = self.thread;
        let parent = self.parent.and_then(|parent| match parent {
            ParentWord::Envelope(id) => Some(id),
            ParentWord::Delivery(_) => None,
        });
        request.parents = parent.into_iter().chain(self.parents).collect();
        request.max_hops = self.max_hops;
        request.priority = self.priority;
        request.expires_at = self.expires_at;
        request.traceparent = traceparent;
        request
    }
}

/// A constraint to set or to tighten.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstraintBody {
    /// What it is called.
    pub name: ConstraintName,
    /// Any JSON but null.
    pub value: Value,
    /// How far it reaches.
    #[serde(default)]
    pub scope: Scope,
}

impl From<ConstraintBody> for NewConstraint {
    fn from(body: ConstraintBody) -> Self {
        Self { name: body.name, value: body.value, scope: body.scope }
    }
}

impl Named for ConstraintBody {
    type Short = Value;

    fn named(name: ConstraintName, value: Value) -> Self {
        Self { name, value, scope: Scope::Lineage }
    }
}

/// A constraint to give up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaiverBody {
    /// What it is called.
    pub name: ConstraintName,
    /// For which reason.
    pub reason: String,
    /// By whom; the sender, if not said.
    pub by: Option<AgentName>,
}

impl From<WaiverBody> for NewWaiver {
    fn from(body: WaiverBody) -> Self {
        Self { name: body.name, reason: body.reason, by: body.by }
    }
}

impl Named for WaiverBody {
    type Short = String;

    fn named(name: ConstraintName, reason: String) -> Self {
        Self { name, reason, by: None }
    }
}

/// A step to put on record.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryBody {
    /// Who did it.
    pub agent: AgentName,
    /// What was done.
    pub action: String,
    /// For which reason.
    pub why: Option<String>,
    /// The memory that holds the outcome.
    pub memory_id: Option<MemoryId>,
    /// The digest of the result it gave.
    pub result_digest: Option<Digest>,
    /// When; the moment of the new envelope, if not said.
    pub at: Option<Timestamp>,
}

impl From<HistoryBody> for NewHistory {
    fn from(body: HistoryBody) -> Self {
        Self {
            agent: body.agent,
            action: body.action,
            why: body.why,
            memory_id: body.memory_id,
            result_digest: body.result_digest,
            at: body.at,
        }
    }
}

/// What is new about a task's state.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StateBody {
    /// Added to the parents'.
    pub progress: Vec<String>,
    /// Added to the parents'.
    pub decisions: Vec<Decision>,
    /// Takes the place of the parents', if given.
    pub remaining: Option<Vec<String>>,
    /// Added to the parents'; one with an answer answers theirs.
    pub open_questions: Vec<Question>,
}

impl From<StateBody> for StateUpdate {
    fn from(body: StateBody) -> Self {
        let StateBody { progress, decisions, remaining, open_questions } = body;
        Self { progress, decisions, remaining, open_questions }
    }
}

/// Something with a name that also has a short form: `{"language": "python"}`.
pub trait Named: Sized {
    /// What stands behind the name in the short form.
    type Short;

    /// From the short form.
    fn named(name: ConstraintName, short: Self::Short) -> Self;
}

/// A list of named things, or an object of their short forms.
#[derive(Debug)]
pub struct NamedList<T>(pub Vec<T>);

impl<T> Default for NamedList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Named<Short: JsonSchema> + JsonSchema> JsonSchema for NamedList<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}List", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (long, short) = (generator.subschema_for::<T>(), generator.subschema_for::<T::Short>());
        json_schema!({"anyOf": [
            {"type": "array", "items": long},
            {"type": "object", "additionalProperties": short},
        ]})
    }
}

impl<'de, T> Deserialize<'de> for NamedList<T>
where
    T: Named<Short: Deserialize<'de>> + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NamedListVisitor(PhantomData))
    }
}

struct NamedListVisitor<T>(PhantomData<T>);

impl<'de, T> Visitor<'de> for NamedListVisitor<T>
where
    T: Named<Short: Deserialize<'de>> + Deserialize<'de>,
{
    type Value = NamedList<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of values by name, or a list of objects with a name each")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(NamedList(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(name) = map.next_key()? {
            items.push(T::named(name, map.next_value()?));
        }
        Ok(NamedList(items))
    }
}

/// A handoff to assemble, or an envelope that was made elsewhere.
pub enum EnvelopeBody {
    /// To assemble.
    Assemble(Box<HandoffBody>),
    /// To take in, as JSON that was read strictly.
    Import(Value),
}

const IMPORT: &str = "envelope";

/// An envelope that was made elsewhere.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct ImportBody {
    /// The whole envelope, version 2, with its digest.
    envelope: spine_protocol::Body,
}

impl JsonSchema for EnvelopeBody {
    fn schema_name() -> Cow<'static, str> {
        "HandoffOrEnvelope".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let assemble = generator.subschema_for::<HandoffBody>();
        let import = generator.subschema_for::<ImportBody>();
        json_schema!({"anyOf": [assemble, import]})
    }
}

impl Input for EnvelopeBody {
    fn read(value: &Value) -> Result<Self, ReadError> {
        let members = value.as_object();
        let Some(envelope) = members.and_then(|members| members.get(IMPORT)) else {
            return Ok(Self::Assemble(Box::new(from_value(value)?)));
        };
        match members.into_iter().flatten().find(|(name, _)| *name != IMPORT) {
            Some((name, _)) => {
                Err(ReadError::at(format!("/{name}"), "expected nothing beside `envelope`"))
            }
            None => Ok(Self::Import(envelope.clone())),
        }
    }
}
