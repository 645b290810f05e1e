//! A task to hand off, as a model writes it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use spine_protocol::{AgentName, MemoryId, from_value};

use crate::problem::{Problem, ProblemKind};
use crate::wire::handoff::HandoffBody;

/// What the state of a task gains.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StateIn {
    /// Done so far.
    pub progress: Vec<String>,
    pub decisions: Vec<DecisionIn>,
    /// Still to do.
    pub remaining: Option<Vec<String>>,
    pub open_questions: Vec<String>,
}

/// Something settled.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionIn {
    what: String,
    why: Option<String>,
}

/// Work that goes on to another agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NextIn {
    pub target_agent: AgentName,
    /// What it is to do now.
    pub task_summary: String,
    #[serde(default)]
    pub state: StateIn,
    /// Memories it needs.
    #[serde(default)]
    pub memory_refs: Vec<MemoryId>,
}

impl StateIn {
    fn written(self) -> Value {
        let decisions = self.decisions.into_iter();
        let decisions: Vec<Value> =
            decisions.map(|one| json!({"what": one.what, "why": one.why})).collect();
        let questions = self.open_questions.into_iter();
        let questions: Vec<Value> = questions.map(|text| json!({"question": text})).collect();
        let mut state = json!({
            "progress": self.progress, "decisions": decisions, "open_questions": questions,
        });
        if let (Some(remaining), Some(members)) = (self.remaining, state.as_object_mut()) {
            members.insert("remaining".to_owned(), remaining.into());
        }
        state
    }
}

impl NextIn {
    /// As the routes take it.
    pub fn into_body(self) -> Result<HandoffBody, Problem> {
        Task {
            memory_refs: self.memory_refs,
            state: self.state,
            ..Task::of(self.target_agent, self.task_summary)
        }
        .into_body()
    }
}

/// Everything that a tool may say of a handoff.
#[derive(Debug)]
pub struct Task {
    pub target_agent: AgentName,
    pub task_summary: String,
    pub state: StateIn,
    pub memory_refs: Vec<MemoryId>,
    pub constraints: Map<String, Value>,
    pub waive: BTreeMap<String, String>,
    /// Further fields of a handoff, by name; what is null is not said.
    pub more: Value,
}

impl Task {
    /// The least there is to say.
    pub fn of(target_agent: AgentName, task_summary: String) -> Self {
        Self {
            target_agent,
            task_summary,
            state: StateIn::default(),
            memory_refs: Vec::new(),
            constraints: Map::new(),
            waive: BTreeMap::new(),
            more: Value::Null,
        }
    }

    /// As the routes take it, read by the same rules: what is wrong is named as they name it.
    pub fn into_body(self) -> Result<HandoffBody, Problem> {
        let mut body = json!({
            "target_agent": self.target_agent,
            "task_summary": self.task_summary,
            "state": self.state.written(),
            "memory_refs": self.memory_refs,
            "constraints": self.constraints,
            "waive": self.waive,
        });
        if let (Some(members), Value::Object(more)) = (body.as_object_mut(), self.more) {
            members.extend(more.into_iter().filter(|(_, value)| !value.is_null()));
        }
        from_value(&body).map_err(|error| Problem::body(ProblemKind::InvalidBody, &error))
    }
}
