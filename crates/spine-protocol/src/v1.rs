//! Version 1, the flat form older agents read: made from version 2, taken back with the envelope its agent holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::envelope::{Constraint, Envelope, Scope, Unknown};
use crate::json::{self, same};
use crate::name::ConstraintName;
use crate::read::{ReadError, from_value};
use crate::string_type::ParseError;
use crate::succession::{NewConstraint, NewHistory, Request};
use crate::version::{Major, VersionError};
use crate::{AgentName, EnvelopeId, MemoryId, Timestamp};

/// The flat form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Memory Spine envelope, version 1")]
pub struct FlatEnvelope {
    /// Always 1.
    #[schemars(extend("const" = 1))]
    pub version: u32,
    /// The id of the version 2 envelope it was made from; an older agent's own handoff may have none.
    #[serde(default)]
    pub id: Option<EnvelopeId>,
    /// The sender.
    pub from: AgentName,
    /// The receiver.
    pub target: AgentName,
    /// The intent, then what is to be done now.
    pub task_summary: String,
    /// Values by name.
    #[serde(default)]
    pub constraints: Map<String, Value>,
    /// The memories, to be fetched by id.
    #[serde(default)]
    pub memory_refs: Vec<MemoryId>,
    /// What was done so far, oldest first.
    #[serde(default)]
    pub history: Vec<FlatStep>,
    /// When it was made.
    #[serde(default)]
    pub created_at: Option<Timestamp>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// One step of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlatStep {
    /// Who did it.
    pub agent: AgentName,
    /// What was done.
    pub action: String,
    /// The memory that holds the outcome.
    pub memory_id: Option<MemoryId>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Between the intent and the summary in `task_summary`.
const SEPARATOR: &str = "\n\n";

impl FlatEnvelope {
    /// Version 2 as an older agent reads it. A rendering: it is never stored.
    pub fn of(envelope: &Envelope) -> Self {
        Self {
            version: 1,
            id: Some(envelope.id),
            from: envelope.from.clone(),
            target: envelope.target.clone(),
            task_summary: flat_summary(&envelope.task.intent, &envelope.task.summary),
            constraints: flat_constraints(&envelope.constraints),
            memory_refs: envelope.memories.iter().map(|memory| memory.id).collect(),
            history: flat_history(envelope),
            created_at: Some(envelope.created_at.clone()),
            unknown: Unknown::new(),
        }
    }

    /// Reads what an older agent wrote.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let value = json::read_value(bytes)?;
        check_version(&value)?;
        let flat: Self = from_value(&value)?;
        if flat.task_summary.trim().is_empty() {
            return Err(ReadError::at("/task_summary", "expected a text, got an empty one"));
        }
        Ok(flat)
    }

    /// What an older agent hands on, as a request on top of the envelope it holds. What its form cannot say is
    /// inherited: intent, scopes, waivers, decisions; what it left out of the constraints is not dropped.
    pub fn into_request(self, held: &Envelope) -> Result<FlatRequest, ReadError> {
        let constraints = new_constraints(self.constraints, held)?;
        let summary = summary_of(&self.task_summary, &held.task.intent).to_owned();
        let mut request = Request::new(held.workspace.clone(), self.from, self.target, summary);
        request.constraints = constraints;
        request.history = new_steps(self.history, held);
        Ok(FlatRequest { request, memory_refs: self.memory_refs })
    }
}

/// What an older agent hands on.
#[derive(Debug, Clone)]
pub struct FlatRequest {
    /// For [`crate::derive`], with the held envelope as parent.
    pub request: Request,
    /// The memories it asks for.
    pub memory_refs: Vec<MemoryId>,
}

fn check_version(value: &Value) -> Result<(), ReadError> {
    let members = value
        .as_object()
        .ok_or_else(|| ReadError::at("", "expected an envelope: a JSON object"))?;
    match members.get("version") {
        Some(version) if same(version, &Value::from(1)) => Ok(()),
        Some(Value::Number(version)) => {
            let error = VersionError::of(&version.to_string());
            Err(ReadError {
                code: VersionError::CODE,
                ..ReadError::at("/version", error.to_string())
            })
        }
        _ => Err(ReadError::at("/version", "expected the number 1")),
    }
}

fn flat_summary(intent: &str, summary: &str) -> String {
    if intent == summary { intent.to_owned() } else { format!("{intent}{SEPARATOR}{summary}") }
}

/// An older agent may keep the intent in front, repeat it alone, or write a summary of its own.
fn summary_of<'a>(task_summary: &'a str, intent: &str) -> &'a str {
    let rest = task_summary.strip_prefix(intent).and_then(|rest| rest.strip_prefix(SEPARATOR));
    rest.filter(|rest| !rest.trim().is_empty()).unwrap_or(task_summary)
}

/// A receiver's own constraint is at least as tight as the lineage's of the same name.
fn flat_constraints(constraints: &[Constraint]) -> Map<String, Value> {
    let by_scope = |scope| constraints.iter().filter(move |c| c.scope == scope);
    let ordered = by_scope(Scope::Lineage).chain(by_scope(Scope::Hop));
    ordered.map(|c| (c.name.as_str().to_owned(), c.value.clone())).collect()
}

fn flat_history(envelope: &Envelope) -> Vec<FlatStep> {
    let flat = |entry: &crate::envelope::HistoryEntry| FlatStep {
        agent: entry.agent.clone(),
        action: entry.action.clone(),
        memory_id: entry.memory_id,
        unknown: Unknown::new(),
    };
    envelope.history.iter().map(flat).collect()
}

/// What the agent repeats is no news; what was for it alone does not go on.
fn new_constraints(
    given: Map<String, Value>,
    held: &Envelope,
) -> Result<Vec<NewConstraint>, ReadError> {
    let repeats = |name: &str, value: &Value| {
        held.constraints.iter().any(|c| c.name.as_str() == name && same(&c.value, value))
    };
    let news = given.into_iter().filter(|(name, value)| !repeats(name, value));
    news.map(|(name, value)| {
        let pointer = format!("/constraints/{}", json::escape(&name));
        let name: ConstraintName =
            name.parse().map_err(|error: ParseError| ReadError::at(pointer, error.to_string()))?;
        Ok(NewConstraint { name, value, scope: Scope::Lineage })
    })
    .collect()
}

/// The agent was given the history and sends it back with its own steps at the end.
fn new_steps(given: Vec<FlatStep>, held: &Envelope) -> Vec<NewHistory> {
    let mut known = flat_history(held);
    let mut news = Vec::new();
    for step in given {
        let is_same = |k: &FlatStep| {
            (&k.agent, &k.action, k.memory_id) == (&step.agent, &step.action, step.memory_id)
        };
        match known.iter().position(is_same) {
            Some(index) => drop(known.remove(index)),
            None => news.push(step),
        }
    }
    let on_record = |step: FlatStep| NewHistory {
        agent: step.agent,
        action: step.action,
        why: None,
        memory_id: step.memory_id,
        result_digest: None,
        at: None,
    };
    news.into_iter().map(on_record).collect()
}

/// An envelope in one of the versions, as it goes over the wire.
#[derive(Debug, Clone)]
pub enum Emitted {
    /// The flat form.
    V1(Box<FlatEnvelope>),
    /// The envelope.
    V2(Envelope),
}

impl Emitted {
    /// Which version it is.
    pub fn major(&self) -> Major {
        match self {
            Self::V1(_) => Major::V1,
            Self::V2(_) => Major::V2,
        }
    }

    /// Its canonical bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ReadError> {
        match self {
            Self::V1(flat) => json::canonical(&crate::read::to_value(flat.as_ref())?),
            Self::V2(envelope) => Ok(envelope.canonical_bytes().to_vec()),
        }
    }
}

/// One envelope in each of the versions asked for, each once, oldest first: a fleet migrates agent by agent.
pub fn emit<S: AsRef<str>>(
    envelope: &Envelope,
    versions: &[S],
) -> Result<Vec<Emitted>, VersionError> {
    let mut majors =
        versions.iter().map(|v| Major::parse(v.as_ref())).collect::<Result<Vec<_>, _>>()?;
    majors.sort();
    majors.dedup();
    let in_version = |major| match major {
        Major::V1 => Emitted::V1(Box::new(FlatEnvelope::of(envelope))),
        Major::V2 => Emitted::V2(envelope.clone()),
    };
    Ok(majors.into_iter().map(in_version).collect())
}
