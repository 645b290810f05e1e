//! What a sender says about the next envelope.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::envelope::{Decision, ExpectedOutput, Priority, Question, Scope};
use crate::name::ConstraintName;
use crate::{
    AgentName, Digest, EnvelopeId, MemoryId, Subject, Timestamp, Traceparent, WorkspaceName,
};

/// Id and moment of a new envelope; both come from outside.
#[derive(Debug, Clone)]
pub struct Stamp {
    /// The new id.
    pub id: EnvelopeId,
    /// The moment.
    pub created_at: Timestamp,
}

/// What a sender says. Everything not said is inherited, or has the protocol's default.
#[derive(Debug, Clone)]
pub struct Request {
    /// The isolation boundary; the same as the parents'.
    pub workspace: WorkspaceName,
    /// The sender.
    pub from: AgentName,
    /// The receiver, or `broadcast`.
    pub target: AgentName,
    /// Whom the task is about; the same as the parents'.
    pub subject: Option<Subject>,
    /// What the receiver is to do now.
    pub summary: String,
    /// The user's request; only a root can give one.
    pub intent: Option<String>,
    /// What is new about the state.
    pub state: StateUpdate,
    /// New or tightened constraints; `max_tokens` among them is the budget.
    pub constraints: Vec<NewConstraint>,
    /// Constraints to give up.
    pub waive: Vec<NewWaiver>,
    /// Steps to put on record.
    pub history: Vec<NewHistory>,
    /// What the receiver is to give back.
    pub expected_output: Option<ExpectedOutput>,
    /// A hop limit; raising it needs a waiver of `max_hops`.
    pub max_hops: Option<u32>,
    /// The budget, given in the call.
    pub max_tokens: Option<u32>,
    /// The budget that the target is registered with.
    pub target_max_tokens: Option<u32>,
    /// Its place in the receiver's queue.
    pub priority: Priority,
    /// After this moment it is parked, not delivered.
    pub expires_at: Option<Timestamp>,
    /// The trace it belongs to.
    pub traceparent: Option<Traceparent>,
}

impl Request {
    /// The least that can be said.
    pub fn new(
        workspace: WorkspaceName,
        from: AgentName,
        target: AgentName,
        summary: impl Into<String>,
    ) -> Self {
        Self {
            workspace,
            from,
            target,
            subject: None,
            summary: summary.into(),
            intent: None,
            state: StateUpdate::default(),
            constraints: Vec::new(),
            waive: Vec::new(),
            history: Vec::new(),
            expected_output: None,
            max_hops: None,
            max_tokens: None,
            target_max_tokens: None,
            priority: Priority::Normal,
            expires_at: None,
            traceparent: None,
        }
    }
}

/// What is new about a task's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StateUpdate {
    /// Added to the parents'.
    pub progress: Vec<String>,
    /// Added to the parents'.
    pub decisions: Vec<Decision>,
    /// Takes the place of the parents', if given.
    pub remaining: Option<Vec<String>>,
    /// Added to the parents'; one with an answer answers theirs.
    pub open_questions: Vec<Question>,
}

/// A constraint to set or to tighten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewConstraint {
    /// What it is called.
    pub name: ConstraintName,
    /// Any JSON but null.
    pub value: Value,
    /// How far it reaches.
    #[serde(default)]
    pub scope: Scope,
}

/// A constraint to give up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewWaiver {
    /// What it is called.
    pub name: ConstraintName,
    /// For which reason.
    pub reason: String,
    /// By whom; the sender, if not said.
    pub by: Option<AgentName>,
}

/// A step to put on record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewHistory {
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
