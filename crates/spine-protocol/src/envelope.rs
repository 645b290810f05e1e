//! The envelope, version 2: every field, and the sealed packet itself.

use std::ops::Deref;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::name::ConstraintName;
use crate::string_type::word_enum;
use crate::version::Protocol;
use crate::{
    AgentName, Digest, EnvelopeId, MemoryId, Salt, Subject, Timestamp, Traceparent, WorkspaceName,
};

/// Fields that this version does not know: ignored, kept, and inside the digest.
pub type Unknown = Map<String, Value>;

/// The immutable packet. It can be made from its parents ([`crate::derive`]) or read from bytes that verify;
/// there is no other way to have one, and none to change one.
#[derive(Debug, Clone)]
pub struct Envelope {
    body: Arc<Body>,
    canonical: Arc<[u8]>,
}

impl Envelope {
    /// Only for those who have checked that `canonical` is `body`, with its true digest.
    pub(crate) fn sealed(body: Body, canonical: Vec<u8>) -> Self {
        Self { body: Arc::new(body), canonical: canonical.into() }
    }

    /// The RFC 8785 bytes, digest and texts included: what is stored and sent.
    pub fn canonical_bytes(&self) -> &[u8] {
        &self.canonical
    }

    /// The same bytes, shared.
    pub fn shared_bytes(&self) -> Arc<[u8]> {
        Arc::clone(&self.canonical)
    }

    /// How children name this envelope.
    pub fn parent_ref(&self) -> ParentRef {
        ParentRef { id: self.id, digest: self.digest, unknown: Unknown::new() }
    }
}

impl Deref for Envelope {
    type Target = Body;

    fn deref(&self) -> &Body {
        &self.body
    }
}

impl PartialEq for Envelope {
    fn eq(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

/// What an envelope says. To read, not to send: see [`Envelope`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Memory Spine envelope, version 2")]
pub struct Body {
    /// `2.0`, or a newer minor version.
    pub protocol: Protocol,
    /// `env_` and a ULID.
    pub id: EnvelopeId,
    /// SHA-256 over the canonical form without `digest` and without `text` and `salt` of each memory.
    pub digest: Digest,
    /// The envelopes this one follows, with their digests; none for a root.
    pub parents: Vec<ParentRef>,
    /// The first envelope of the lineage; its own id for a root.
    pub root: EnvelopeId,
    /// 1 for a root, else the highest of the parents plus one.
    pub hop: u32,
    /// The hop at which the chain ends.
    pub max_hops: u32,
    /// The isolation boundary.
    pub workspace: WorkspaceName,
    /// The sender.
    pub from: AgentName,
    /// The receiver, or `broadcast`.
    pub target: AgentName,
    /// Whom the task is about.
    pub subject: Option<Subject>,
    /// When it was made.
    pub created_at: Timestamp,
    /// After this moment it is parked, not delivered.
    pub expires_at: Option<Timestamp>,
    /// Its place in the receiver's queue.
    #[serde(default)]
    pub priority: Priority,
    /// The trace it belongs to.
    pub traceparent: Option<Traceparent>,
    /// What is asked, and how far it is.
    pub task: Task,
    /// What the receiver should know, as it was when packed.
    pub memories: Vec<PackedMemory>,
    /// What was done so far, oldest first.
    pub history: Vec<HistoryEntry>,
    /// What the receiver must keep to.
    pub constraints: Vec<Constraint>,
    /// Constraints that were given up, openly.
    #[serde(default)]
    pub waived: Vec<Waiver>,
    /// What the receiver is to give back.
    pub expected_output: Option<ExpectedOutput>,
    /// How it was packed.
    pub assembly: Assembly,
    /// Which of the explicit references are here.
    pub completeness: Completeness,
    /// What lost detail for the budget.
    #[serde(default)]
    pub trimmed: Trimmed,
    /// What was blacked out.
    #[serde(default)]
    pub redactions: Vec<Redaction>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// An envelope named by its child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParentRef {
    /// Its id.
    pub id: EnvelopeId,
    /// Its digest, so that it cannot be replaced.
    pub digest: Digest,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

word_enum!(
    /// A place in a queue, and a memory's weight.
    #[derive(Default)]
    closed Priority {
        /// After everything else.
        Low = "low",
        /// The default.
        #[default]
        Normal = "normal",
        /// Before normal work.
        High = "high",
        /// Before everything else.
        Critical = "critical",
    }
);

/// What is asked, and how far it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// The user's request, word for word, from the root.
    pub intent: String,
    /// Whether the root was given an intent or took its summary for one.
    pub intent_source: IntentSource,
    /// What this receiver is to do now.
    pub summary: String,
    /// How far it is.
    #[serde(default)]
    pub state: State,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

word_enum!(
    /// Where a lineage's intent comes from.
    closed IntentSource {
        /// The root's sender gave it.
        Given = "given",
        /// The root's summary stands for it.
        Summary = "summary",
    }
);

/// How far a task is. Progress, decisions and questions accumulate along a lineage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// What has been achieved, oldest first.
    #[serde(default)]
    pub progress: Vec<String>,
    /// What has been settled, oldest first.
    #[serde(default)]
    pub decisions: Vec<Decision>,
    /// What is still to do.
    #[serde(default)]
    pub remaining: Vec<String>,
    /// What has been asked; an answered question stays, with its answer.
    #[serde(default)]
    pub open_questions: Vec<Question>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Something settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// What was decided.
    pub what: String,
    /// For which reason.
    pub why: Option<String>,
    /// By whom.
    pub by: Option<String>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Something asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question.
    pub question: String,
    /// The answer, once there is one.
    pub answer: Option<String>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// A memory as it travels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PackedMemory {
    /// Its id in the workspace.
    pub id: MemoryId,
    /// The version that was packed.
    pub version: u32,
    /// How much of it travels.
    pub detail: Detail,
    /// Its title.
    pub title: Option<String>,
    /// Its text or summary; absent for a bare reference, and after erasure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Hashed before the text; absent where the text is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<Salt>,
    /// SHA-256 over salt, then text; stands for both in the envelope's digest, and stays after erasure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_digest: Option<Digest>,
    /// Its weight.
    #[serde(default)]
    pub priority: Priority,
    /// Why it travels.
    pub source: Source,
    /// How close it is to the task, 0 to 1.
    pub relevance: Option<f64>,
    /// What its part of the rendering costs.
    pub tokens: u32,
    /// When it was stored.
    pub created_at: Timestamp,
    /// The time it is about, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl PackedMemory {
    /// Whether a text travelled and has been taken out since.
    pub fn is_erased(&self) -> bool {
        self.text_digest.is_some() && self.text.is_none()
    }
}

word_enum!(
    /// How much of a memory travels.
    closed Detail {
        /// The bare reference.
        Ref = "ref",
        /// A summary.
        Summary = "summary",
        /// The whole text.
        Full = "full",
    }
);

word_enum!(
    /// Why a memory travels; of several reasons the strongest, in this order.
    open Source {
        /// Pinned in the workspace.
        Pinned = "pinned",
        /// Named in the summary.
        Mentioned = "mentioned",
        /// Named by a step of the history.
        History = "history",
        /// Asked for by id.
        Requested = "requested",
        /// A parent carried it.
        Inherited = "inherited",
        /// Among the newest.
        Recent = "recent",
        /// Close to the task.
        Relevant = "relevant",
    }
);

/// One step of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryEntry {
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
    /// The hop of the envelope that put it on record.
    pub hop: u32,
    /// When.
    pub at: Timestamp,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Something the receiver must keep to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Constraint {
    /// What it is called.
    pub name: ConstraintName,
    /// Any JSON but null; `deadline` and `max_hops` are understood, everything else is carried as given.
    pub value: Value,
    /// How far it reaches.
    #[serde(default)]
    pub scope: Scope,
    /// Who set it, or tightened it last.
    pub set_by: AgentName,
    /// The envelope that set it, or tightened it last.
    pub since: EnvelopeId,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

word_enum!(
    /// How far a constraint reaches.
    #[derive(Default)]
    closed Scope {
        /// To every envelope after this one.
        #[default]
        Lineage = "lineage",
        /// To this receiver only.
        Hop = "hop",
    }
);

/// A constraint that was given up, on record for the rest of the lineage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waiver {
    /// The constraint's name.
    pub name: ConstraintName,
    /// The value that no longer holds.
    pub value: Value,
    /// For which reason.
    pub reason: String,
    /// By whom.
    pub by: AgentName,
    /// At which hop.
    pub at_hop: u32,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// What the receiver is to give back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectedOutput {
    /// In which form.
    pub format: Option<String>,
    /// How long.
    pub length: Option<String>,
    /// What a good result fulfils.
    #[serde(default)]
    pub criteria: Vec<String>,
    /// A JSON Schema that the result is checked against.
    pub schema: Option<Value>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// How an envelope was packed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Assembly {
    /// Which way of choosing detail.
    pub strategy: Strategy,
    /// The receiver's budget.
    pub max_tokens: u32,
    /// What counts.
    pub tokenizer: TokenizerName,
    /// The rendering that is counted.
    pub format: Format,
    /// The count of that rendering: at most `max_tokens`.
    pub tokens: u32,
    /// What the rendering leaves out, as counts; the envelope itself has it all.
    #[serde(default, skip_serializing_if = "Omitted::is_none")]
    pub omitted: Omitted,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

word_enum!(
    /// Which way of choosing detail.
    #[derive(Default)]
    open Strategy {
        /// Every gathered memory in full.
        Full = "full",
        /// A summary of each.
        Summary = "summary",
        /// The most value within the budget.
        #[default]
        Priority = "priority",
        /// Bare references.
        Lazy = "lazy",
    }
);

word_enum!(
    /// What counts tokens.
    #[derive(Default)]
    open TokenizerName {
        /// OpenAI's `o200k_base`, exact.
        #[default]
        O200kBase = "o200k_base",
        /// OpenAI's `cl100k_base`, exact.
        Cl100kBase = "cl100k_base",
        /// An estimate for models without a public tokenizer.
        Approx = "approx",
    }
);

word_enum!(
    /// A rendering.
    #[derive(Default)]
    open Format {
        /// Markdown.
        #[default]
        Markdown = "markdown",
        /// XML-tagged text.
        Xml = "xml",
        /// JSON for reading; not the wire form.
        Json = "json",
    }
);

/// How many entries the rendering leaves out of each list: the oldest of history, progress and settled
/// decisions, the last of gaps and trimmed items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Omitted {
    /// Steps of the history.
    #[serde(default)]
    pub history: u32,
    /// Progress notes.
    #[serde(default)]
    pub progress: u32,
    /// Settled decisions.
    #[serde(default)]
    pub decisions: u32,
    /// Gaps.
    #[serde(default)]
    pub gaps: u32,
    /// Trimmed items.
    #[serde(default)]
    pub trimmed: u32,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Omitted {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Which of the explicit references are here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Completeness {
    /// How many were asked for.
    pub requested: u32,
    /// How many are here, at least as a reference.
    pub included: u32,
    /// The others, each with its reason.
    #[serde(default)]
    pub gaps: Vec<Gap>,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Completeness {
    /// From 0 to 1; 1 where nothing was asked for.
    pub fn score(&self) -> f64 {
        if self.requested == 0 { 1.0 } else { f64::from(self.included) / f64::from(self.requested) }
    }
}

/// Something that was asked for and is not here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// What was asked for.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Why it is not here: `unknown`, `deleted`, `expired`, `unavailable`, `too large`, `budget`.
    pub reason: String,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// What lost detail.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trimmed {
    /// Each item, up to a limit.
    #[serde(default)]
    pub items: Vec<TrimmedItem>,
    /// How many in all.
    #[serde(default)]
    pub count: u32,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// One memory that lost detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrimmedItem {
    /// Which.
    pub id: MemoryId,
    /// What it would have been.
    pub from: Detail,
    /// What it is.
    pub to: TrimmedTo,
    /// Why.
    pub reason: String,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}

word_enum!(
    /// What is left of a trimmed memory.
    closed TrimmedTo {
        /// Nothing.
        None = "none",
        /// The bare reference.
        Ref = "ref",
        /// A summary.
        Summary = "summary",
    }
);

/// Something that was blacked out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Redaction {
    /// Where: a memory's id, or `history`.
    #[serde(rename = "in")]
    pub place: String,
    /// What it was: `aws-access-key`.
    pub kind: String,
    /// Fields of newer versions.
    #[serde(flatten)]
    pub unknown: Unknown,
}
