//! Every error of the engine, in one place.

use serde_json::json;
use spine_engine::assembly::AssemblyError;
use spine_engine::delivery::DeliveryError;
use spine_engine::lineage::LineageError;
use spine_engine::memories::{MemoryError, MissingReason};
use spine_protocol::{ReadError, RuleError, SealError};
use spine_store::{ErrorKind, StoreError};

use super::{Problem, ProblemKind};
use crate::access::AGENT_HEADER;
use crate::limits::{FULL_RETRY_AFTER_S, UNAVAILABLE_RETRY_AFTER_S};

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let problem = Self::new(kind_of_store(error.kind()), error.to_string());
        let problem = problem.logged(error.detail());
        match problem.kind() {
            ProblemKind::Overloaded => problem.retry_after(FULL_RETRY_AFTER_S),
            ProblemKind::Unavailable | ProblemKind::OutcomeUnknown | ProblemKind::DiskFull => {
                problem.retry_after(UNAVAILABLE_RETRY_AFTER_S)
            }
            _ => problem,
        }
    }
}

fn kind_of_store(kind: ErrorKind) -> ProblemKind {
    match kind {
        ErrorKind::GuardFailed => ProblemKind::Contended,
        ErrorKind::Overloaded => ProblemKind::Overloaded,
        ErrorKind::OutcomeUnknown => ProblemKind::OutcomeUnknown,
        ErrorKind::DiskFull => ProblemKind::DiskFull,
        ErrorKind::Corrupt => ProblemKind::StoreDamaged,
        ErrorKind::TooLarge => ProblemKind::TooLarge,
        ErrorKind::Unavailable
        | ErrorKind::InUse
        | ErrorKind::CannotOpen
        | ErrorKind::TooNew
        | ErrorKind::NotAStore
        | ErrorKind::FileExists => ProblemKind::Unavailable,
    }
}

impl From<MemoryError> for Problem {
    fn from(error: MemoryError) -> Self {
        let detail = error.to_string();
        match error {
            MemoryError::Invalid { field, .. } => {
                Self::new(ProblemKind::InvalidBody, detail).with("pointer", pointer_to(field))
            }
            MemoryError::TooLarge { field, found, max, unit } => {
                Self::new(ProblemKind::TooLarge, detail)
                    .with("pointer", pointer_to(field))
                    .with("limit", json!({"found": found, "max": max, "unit": unit}))
            }
            MemoryError::AnswerTooLarge { field, max } => Self::new(ProblemKind::TooLarge, detail)
                .with("pointer", pointer_to(field))
                .with("max_bytes", max),
            MemoryError::Missing { reason: MissingReason::NotFound, .. }
            | MemoryError::NoSuchVersion { .. } => Self::new(ProblemKind::NotFound, detail),
            MemoryError::Missing { reason, .. } => {
                Self::new(ProblemKind::Gone, detail).with("reason", reason.as_str())
            }
            MemoryError::VersionConflict { current, .. } => {
                Self::new(ProblemKind::VersionConflict, detail).with("current_version", current)
            }
            MemoryError::IdempotencyConflict => Self::new(ProblemKind::IdempotencyConflict, detail),
            MemoryError::Contended => {
                Self::new(ProblemKind::Contended, detail).retry_after(FULL_RETRY_AFTER_S)
            }
            MemoryError::Store(error) => error.into(),
        }
    }
}

/// The engine's word for the text is `text`; callers send it as `content`.
fn pointer_to(field: &str) -> String {
    format!("/{}", if field == "text" { "content" } else { field })
}

impl From<AssemblyError> for Problem {
    fn from(error: AssemblyError) -> Self {
        let detail = error.to_string();
        let kind = kind_of_code(error.code());
        match error {
            AssemblyError::Store(error) => error.into(),
            AssemblyError::Rule(error) => (*error).into(),
            AssemblyError::Invalid(error) => error.into(),
            AssemblyError::Seal(error) => error.into(),
            AssemblyError::SenderUnknown => {
                let how = "send the header Memory-Spine-Agent, or use a key that names an agent";
                Self::new(kind, format!("{detail} ({how})")).with("parameter", AGENT_HEADER)
            }
            AssemblyError::Budget { needed, max_tokens, parts } => Self::new(kind, detail)
                .with("needed_tokens", needed)
                .with("max_tokens", max_tokens)
                .with("parts", json!(parts)),
            _ => Self::new(kind, detail),
        }
    }
}

impl From<RuleError> for Problem {
    fn from(error: RuleError) -> Self {
        let (detail, kind) = (error.to_string(), kind_of_code(error.code()));
        match error {
            RuleError::Invalid(error) => error.into(),
            RuleError::HopLimit { hop, max_hops, .. } => {
                Self::new(kind, detail).with("hop", hop).with("max_hops", max_hops)
            }
            RuleError::ConstraintChanged { name, .. }
            | RuleError::ConstraintConflict { name, .. }
            | RuleError::ConstraintDropped { name, .. } => {
                Self::new(kind, detail).with("constraint", name.as_str())
            }
            _ => Self::new(kind, detail),
        }
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        Self::body(kind_of_code(error.code), &error)
    }
}

impl From<SealError> for Problem {
    fn from(error: SealError) -> Self {
        let (detail, kind) = (error.to_string(), kind_of_code(error.code()));
        match error {
            SealError::Invalid(error) => error.into(),
            SealError::OverBudget { needed, max_tokens } => {
                Self::new(kind, detail).with("needed_tokens", needed).with("max_tokens", max_tokens)
            }
            SealError::Tokenizer(_) => Self::new(kind, detail).with("pointer", "/tokenizer"),
        }
    }
}

impl From<LineageError> for Problem {
    fn from(error: LineageError) -> Self {
        let detail = error.to_string();
        match error {
            LineageError::EnvelopeUnknown { .. } => Self::new(ProblemKind::NotFound, detail),
            LineageError::Pruned { .. } => {
                Self::new(ProblemKind::Pruned, detail).with("reason", "pruned")
            }
            LineageError::EnvelopeExists { .. } => Self::new(ProblemKind::EnvelopeExists, detail),
            LineageError::WorkspaceDiffers { .. } => {
                Self::new(ProblemKind::WorkspaceDiffers, detail).with("pointer", "/workspace")
            }
            LineageError::TooLong { .. } => Self::new(ProblemKind::TooLarge, detail),
            LineageError::IdempotencyConflict => {
                Self::new(ProblemKind::IdempotencyConflict, detail)
            }
            LineageError::Rule(error) => (*error).into(),
            LineageError::Damaged(error) => {
                Self::new(ProblemKind::StoreDamaged, detail).logged(error.to_string())
            }
            LineageError::Store(error) => error.into(),
            _ => Self::new(ProblemKind::Internal, detail),
        }
    }
}

impl From<DeliveryError> for Problem {
    fn from(error: DeliveryError) -> Self {
        let (detail, kind) = (error.to_string(), kind_of_code(error.code()));
        match error {
            DeliveryError::Assembly(error) => error.into(),
            DeliveryError::Store(error) => error.into(),
            DeliveryError::Invalid { field, .. } => {
                Self::new(ProblemKind::InvalidBody, detail).with("pointer", format!("/{field}"))
            }
            DeliveryError::TooLarge { field, found, max, unit } => Self::new(kind, detail)
                .with("pointer", format!("/{field}"))
                .with("limit", json!({"found": found, "max": max, "unit": unit})),
            DeliveryError::Cancelled { reason, .. } => {
                Self::new(kind, detail).with("reason", reason)
            }
            DeliveryError::Over { state, .. } | DeliveryError::NotParked { state, .. } => {
                Self::new(kind, detail).with("state", state.as_str())
            }
            DeliveryError::CircuitOpen { agent, retry_at, retry_after_ms } => {
                Self::new(kind, detail)
                    .retry_after(retry_after_ms.div_ceil(1000))
                    .with("retry_at", json!(retry_at.to_timestamp()))
                    .with("agent", agent.as_str())
            }
            DeliveryError::ResultInvalid { problems } => {
                Self::new(kind, detail).with("problems", problems)
            }
            DeliveryError::HopLimit { agents, cycle, .. } => {
                Self::new(kind, detail).with("agents", json!(agents)).with("cycle", json!(cycle))
            }
            DeliveryError::Contended => Self::new(kind, detail).retry_after(FULL_RETRY_AFTER_S),
            _ => Self::new(kind, detail),
        }
    }
}

/// The engine's errors have the names of the problems; a test goes through all of them.
fn kind_of_code(code: &str) -> ProblemKind {
    ProblemKind::from_slug(code).unwrap_or(ProblemKind::Internal)
}
