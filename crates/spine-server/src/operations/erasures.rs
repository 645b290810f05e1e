//! Forgetting, on record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_engine::delivery::{Erasure, Forgotten};
use spine_protocol::{MemoryId, ReadError, Subject, Timestamp};

use crate::problem::{Problem, ProblemKind};
use crate::route::{Call, Json};

/// What is to be forgotten: a subject or a memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"subject": "user-17", "reason": "asked to be forgotten", "dry_run": true}))]
pub struct ErasureBody {
    /// Everything about this subject.
    pub subject: Option<Subject>,
    /// Every version of this memory.
    pub memory: Option<MemoryId>,
    /// Why.
    #[schemars(length(min = 1))]
    pub reason: String,
    /// Only say what it would be.
    #[serde(default)]
    pub dry_run: bool,
}

/// What was forgotten.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErasureDocument {
    /// The subject that was forgotten.
    pub subject: Option<Subject>,
    /// The memory that was forgotten.
    pub memory: Option<MemoryId>,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Option<Timestamp>,
    /// Memories of which every version is gone.
    pub memories: u32,
    /// Envelopes whose texts are gone.
    pub envelopes: u32,
    /// Tasks of which only skeletons are left.
    pub lineages: u32,
    /// Deliveries whose result, notes and checkpoint are gone.
    pub deliveries: u32,
    /// Whether this only says what it would be.
    pub dry_run: bool,
}

/// Everything that was forgotten, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErasureListDocument {
    /// The erasures.
    pub erasures: Vec<ErasureDocument>,
}

impl ErasureDocument {
    fn of(erasure: Erasure, dry_run: bool) -> Self {
        let (subject, memory) = match erasure.what {
            Forgotten::Subject(subject) => (Some(subject), None),
            Forgotten::Memory(memory) => (None, Some(memory)),
        };
        Self {
            subject,
            memory,
            reason: erasure.reason,
            at: erasure.at.to_timestamp(),
            memories: erasure.memories,
            envelopes: erasure.envelopes,
            lineages: erasure.lineages,
            deliveries: erasure.deliveries,
            dry_run,
        }
    }
}

pub async fn erase(call: Call<(), (), ErasureBody>) -> Result<Json<ErasureDocument>, Problem> {
    let ErasureBody { subject, memory, reason, dry_run } = call.body;
    let what = match (subject, memory) {
        (Some(subject), None) => Forgotten::Subject(subject),
        (None, Some(memory)) => Forgotten::Memory(memory),
        _ => {
            let error = ReadError::at("", "expected one of `subject` and `memory`");
            return Err(Problem::body(ProblemKind::InvalidBody, &error));
        }
    };
    let (deliveries, caller) = (&call.app.deliveries, &call.pass.caller);
    let erasure = deliveries.erase(caller, what, &reason, dry_run).await?;
    Ok(Json::of(ErasureDocument::of(erasure, dry_run)))
}

pub async fn list(call: Call<(), (), ()>) -> Result<Json<ErasureListDocument>, Problem> {
    let erasures = call.app.deliveries.erasures(call.caller()).await?;
    let shown = erasures.into_iter().map(|erasure| ErasureDocument::of(erasure, false));
    Ok(Json::of(ErasureListDocument { erasures: shown.collect() }))
}
