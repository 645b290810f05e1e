//! Envelopes, and what is known of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use spine_engine::assembly::Explanation;
use spine_protocol::{
    AgentName, Constraint, Detail, Digest, Envelope, EnvelopeId, Finding, Format, Gap, MemoryId,
    ParentRef, Timestamp, Trimmed, Verification, Waiver,
};

use super::delivery::DeliveryDocument;
use super::event::EventDocument;
use crate::problem::{Problem, ProblemKind};

/// An envelope that was made, and the figures of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HandoffDocument {
    /// Its id.
    pub id: EnvelopeId,
    /// The major version.
    pub envelope_version: &'static str,
    /// The hop it is at.
    pub hop: u32,
    /// What its rendering costs.
    pub token_count: u32,
    /// The memories in it.
    pub memory_refs: Vec<MemoryId>,
    /// Which part of the explicit references is in it, from 0 to 1.
    pub completeness: f64,
    /// Those that are not, each with its reason.
    pub gaps: Vec<Gap>,
    /// What lost detail for the budget.
    pub trimmed: Trimmed,
    /// What the search had to do without; empty when whole.
    pub degraded: Vec<String>,
    /// The envelope itself.
    #[schemars(with = "spine_protocol::Body")]
    pub envelope: Box<RawValue>,
}

impl HandoffDocument {
    /// Of an envelope.
    pub fn of(envelope: &Envelope, degraded: Vec<String>) -> Result<Self, Problem> {
        Ok(Self {
            id: envelope.id,
            envelope_version: "2",
            hop: envelope.hop,
            token_count: envelope.assembly.tokens,
            memory_refs: envelope.memories.iter().map(|memory| memory.id).collect(),
            completeness: envelope.completeness.score(),
            gaps: envelope.completeness.gaps.clone(),
            trimmed: envelope.trimmed.clone(),
            degraded,
            envelope: raw(envelope.canonical_bytes())?,
        })
    }
}

/// Canonical bytes are JSON already.
pub fn raw(canonical: &[u8]) -> Result<Box<RawValue>, Problem> {
    let unwritable = |error: String| {
        let said = "what is stored cannot be written: report this, with the request id";
        Problem::new(ProblemKind::Internal, said).logged(error)
    };
    let text = std::str::from_utf8(canonical);
    let text = text.map_err(|error| unwritable(error.to_string()))?.to_owned();
    RawValue::from_string(text).map_err(|error| unwritable(error.to_string()))
}

/// One task: its envelopes, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LineageDocument {
    /// The first envelope.
    pub root: EnvelopeId,
    /// The user's request.
    pub intent: String,
    /// Every envelope, oldest first.
    pub envelopes: Vec<LineageNode>,
    /// Their deliveries, oldest first.
    pub deliveries: Vec<DeliveryDocument>,
}

/// The whole story of a task.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceDocument {
    /// The first envelope.
    pub root: EnvelopeId,
    /// Every envelope, oldest first.
    pub envelopes: Vec<LineageNode>,
    /// Their deliveries, oldest first.
    pub deliveries: Vec<DeliveryDocument>,
    /// Everything that was logged of them, oldest first.
    pub events: Vec<EventDocument>,
}

/// One envelope of a lineage, without its memories.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LineageNode {
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
    /// When it was made.
    pub created_at: Timestamp,
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
    /// From 0 to 1.
    pub completeness: f64,
    /// Explicit references that are not in it.
    pub gaps: Vec<Gap>,
    /// How many memories lost detail.
    pub trimmed_count: u32,
}

impl From<&Envelope> for LineageNode {
    fn from(envelope: &Envelope) -> Self {
        Self {
            id: envelope.id,
            digest: envelope.digest,
            parents: envelope.parents.clone(),
            hop: envelope.hop,
            from: envelope.from.clone(),
            target: envelope.target.clone(),
            created_at: envelope.created_at.clone(),
            task_summary: envelope.task.summary.clone(),
            memory_refs: envelope.memories.iter().map(|memory| memory.id).collect(),
            constraints: envelope.constraints.clone(),
            waived: envelope.waived.clone(),
            token_count: envelope.assembly.tokens,
            max_tokens: envelope.assembly.max_tokens,
            completeness: envelope.completeness.score(),
            gaps: envelope.completeness.gaps.clone(),
            trimmed_count: envelope.trimmed.count,
        }
    }
}

/// Whether a lineage is what it was.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerificationDocument {
    /// Whether nothing is damaged; an erased text is no damage.
    pub intact: bool,
    /// In a few words, such as `intact, 1 part erased`.
    pub summary: String,
    /// How many envelopes there are.
    pub envelopes: usize,
    /// What is to be told.
    pub findings: Vec<FindingDocument>,
}

/// What is to be told about one envelope.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindingDocument {
    /// Which envelope.
    pub id: EnvelopeId,
    /// Whether this is damage, and not erasure or pruning.
    pub damage: bool,
    /// In words.
    pub detail: String,
}

impl From<Verification> for VerificationDocument {
    fn from(verification: Verification) -> Self {
        let finding = |finding: &Finding| FindingDocument {
            id: finding.id(),
            damage: finding.is_damage(),
            detail: finding.to_string(),
        };
        Self {
            intact: verification.is_intact(),
            summary: verification.to_string(),
            envelopes: verification.envelopes,
            findings: verification.findings.iter().map(finding).collect(),
        }
    }
}

/// What is not in an envelope in full.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrimmedDocument {
    /// What lost detail for the budget.
    pub trimmed: Trimmed,
    /// Explicit references that are not in it.
    pub gaps: Vec<Gap>,
}

/// Why each memory is or is not in an envelope.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplanationDocument {
    /// In the order of their claims; empty for an envelope that was made elsewhere.
    pub memories: Vec<MemoryExplanationDocument>,
    /// What the search had to do without.
    pub degraded: Vec<String>,
}

/// Why one memory is or is not there.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryExplanationDocument {
    /// Which.
    pub id: MemoryId,
    /// Why it was gathered.
    pub source: String,
    /// What its source has on a place.
    pub claim: f64,
    /// Closeness to the task, 0 to 1.
    pub relevance: f64,
    /// How new it is, 0 to 1.
    pub recency: f64,
    /// How much its author says it matters, 0 to 1.
    pub priority: f64,
    /// What each detail costs and is worth.
    pub levels: Vec<LevelDocument>,
    /// The detail it travels in; null if it does not.
    pub chosen: Option<Detail>,
    /// The rule that decided.
    pub rule: String,
}

/// One detail of one memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LevelDocument {
    /// Which detail.
    pub detail: Detail,
    /// What it costs.
    pub tokens: u32,
    /// What it is worth.
    pub value: f64,
}

impl From<Explanation> for ExplanationDocument {
    fn from(explanation: Explanation) -> Self {
        let level = |level: spine_engine::assembly::WeighedLevel| LevelDocument {
            detail: level.detail,
            tokens: level.tokens,
            value: level.value,
        };
        let memory =
            |memory: spine_engine::assembly::MemoryExplanation| MemoryExplanationDocument {
                id: memory.id,
                source: memory.source,
                claim: memory.claim,
                relevance: memory.usefulness.relevance,
                recency: memory.usefulness.recency,
                priority: memory.usefulness.priority,
                levels: memory.levels.into_iter().map(level).collect(),
                chosen: memory.chosen,
                rule: memory.rule,
            };
        Self {
            memories: explanation.memories.into_iter().map(memory).collect(),
            degraded: explanation.degraded,
        }
    }
}

/// The address of one envelope.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct EnvelopePath {
    /// Its id.
    pub id: EnvelopeId,
}

/// A form of rendering.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum FormatWord {
    /// Markdown.
    Markdown,
    /// XML-tagged text.
    Xml,
    /// JSON for reading.
    Json,
}

impl From<FormatWord> for Format {
    fn from(word: FormatWord) -> Self {
        match word {
            FormatWord::Markdown => Self::Markdown,
            FormatWord::Xml => Self::Xml,
            FormatWord::Json => Self::Json,
        }
    }
}
