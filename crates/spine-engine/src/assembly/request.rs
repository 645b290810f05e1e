//! What a sender asks for when it hands work over.

use serde::{Deserialize, Serialize};
use spine_protocol::{
    AgentName, Envelope, EnvelopeId, ExpectedOutput, Format, MemoryId, NewConstraint, NewHistory,
    NewWaiver, Priority, ReadError, Request, StateUpdate, Strategy, Subject, Timestamp,
    TokenizerName, Traceparent,
};
use spine_store::{Change, ThreadName};

use super::limits::RECENT_MEMORIES_DEFAULT;

/// `agent_handoff()`: everything but the target and the summary has a default. Its JSON has the public names of the
/// call, and refuses a name it does not know: a misspelt option must not pass for one that was not given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandoffRequest {
    /// The receiver, or `broadcast`.
    #[serde(rename = "target_agent", alias = "target")]
    pub target: AgentName,
    /// What the receiver is to do now.
    #[serde(rename = "task_summary", alias = "summary")]
    pub summary: String,
    /// The user's request; only a new task can give one.
    pub intent: Option<String>,
    /// How many of the most useful memories travel beside those asked for.
    #[serde(default = "recent_memories_default")]
    pub include_recent: usize,
    /// Whether pinned memories travel.
    #[serde(default = "yes")]
    pub include_pins: bool,
    /// Memories asked for by id.
    #[serde(default)]
    pub memory_refs: Vec<MemoryId>,
    /// New or tightened constraints.
    #[serde(default)]
    pub constraints: Vec<NewConstraint>,
    /// Constraints to give up.
    #[serde(default)]
    pub waive: Vec<NewWaiver>,
    /// Steps to put on record.
    #[serde(default, rename = "execution_history", alias = "history")]
    pub history: Vec<NewHistory>,
    /// What is new about the state.
    #[serde(default)]
    pub state: StateUpdate,
    /// What the receiver is to give back.
    pub expected_output: Option<ExpectedOutput>,
    /// How detail is chosen.
    #[serde(default)]
    pub strategy: Strategy,
    /// The budget.
    pub max_tokens: Option<u32>,
    /// The budget that the target is registered with.
    pub target_max_tokens: Option<u32>,
    /// What counts.
    #[serde(default)]
    pub tokenizer: TokenizerName,
    /// The rendering that is counted.
    #[serde(default)]
    pub format: Format,
    /// Whom the task is about.
    pub subject: Option<Subject>,
    /// Draw the useful memories from this thread only.
    pub thread: Option<ThreadName>,
    /// The envelopes that this one follows; none is a new task.
    #[serde(default)]
    pub parents: Vec<EnvelopeId>,
    /// A hop limit.
    pub max_hops: Option<u32>,
    /// Its place in the receiver's queue.
    #[serde(default)]
    pub priority: Priority,
    /// After this moment it is parked, not delivered.
    pub expires_at: Option<Timestamp>,
    /// The trace it belongs to. A request that is repeated comes with another one and is the same request: it is not
    /// written, and so not in the digest that requests are recognised by.
    #[serde(default, skip_serializing)]
    pub traceparent: Option<Traceparent>,
}

fn recent_memories_default() -> usize {
    RECENT_MEMORIES_DEFAULT
}

fn yes() -> bool {
    true
}

impl HandoffRequest {
    /// The least that can be asked.
    pub fn new(target: AgentName, summary: impl Into<String>) -> Self {
        Self {
            target,
            summary: summary.into(),
            intent: None,
            include_recent: RECENT_MEMORIES_DEFAULT,
            include_pins: true,
            memory_refs: Vec::new(),
            constraints: Vec::new(),
            waive: Vec::new(),
            history: Vec::new(),
            state: StateUpdate::default(),
            expected_output: None,
            strategy: Strategy::default(),
            max_tokens: None,
            target_max_tokens: None,
            tokenizer: TokenizerName::default(),
            format: Format::default(),
            subject: None,
            thread: None,
            parents: Vec::new(),
            max_hops: None,
            priority: Priority::default(),
            expires_at: None,
            traceparent: None,
        }
    }

    /// A word that only a newer version knows would be packed by a rule that nobody chose.
    pub(super) fn check(&self) -> Result<(), ReadError> {
        match &self.strategy {
            Strategy::Other(word) => {
                let problem = format!("expected full, summary, priority or lazy, got {word:?}");
                Err(ReadError::at("/strategy", problem))
            }
            _ => Ok(()),
        }
    }

    /// Work that goes on belongs to the trace it began in, unless the caller names one.
    pub(super) fn stay_in_trace(&mut self, parents: &[Envelope]) {
        if self.traceparent.is_none() {
            self.traceparent = parents.iter().find_map(|parent| parent.traceparent.clone());
        }
    }

    /// What the protocol makes an envelope of.
    pub(super) fn to_protocol(
        &self,
        workspace: spine_protocol::WorkspaceName,
        from: AgentName,
    ) -> Request {
        let mut request = Request::new(workspace, from, self.target.clone(), self.summary.clone());
        request.subject.clone_from(&self.subject);
        request.intent.clone_from(&self.intent);
        request.state = self.state.clone();
        request.constraints.clone_from(&self.constraints);
        request.waive.clone_from(&self.waive);
        request.history.clone_from(&self.history);
        request.expected_output.clone_from(&self.expected_output);
        request.max_hops = self.max_hops;
        request.max_tokens = self.max_tokens;
        request.target_max_tokens = self.target_max_tokens;
        request.priority = self.priority;
        request.expires_at.clone_from(&self.expires_at);
        request.traceparent.clone_from(&self.traceparent);
        request
    }
}

/// An envelope that was assembled, with what the store keeps of it: see [`Assembled::add_to`].
#[derive(Debug, Clone)]
pub struct Assembled {
    /// The envelope.
    pub envelope: Envelope,
    /// Why each memory is or is not in it.
    pub explanation: super::Explanation,
    /// How long it took, if it was made now.
    pub took_ms: Option<u64>,
    /// The newest erasure before it was made.
    pub(crate) newest_erasure: Change,
}
