//! How a request can break the rules.

use serde_json::Value;

use crate::EnvelopeId;
use crate::name::ConstraintName;
use crate::read::ReadError;

/// A rule that a request or a foreign envelope breaks. Each message says what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// A field is wrong in itself.
    #[error("{0}")]
    Invalid(#[from] ReadError),
    /// Parents of different tasks.
    #[error(
        "parents {first} and {second} belong to different lineages; hand on from one task, or start a new one"
    )]
    LineagesDiffer {
        /// The first parent.
        first: EnvelopeId,
        /// One with another root.
        second: EnvelopeId,
    },
    /// A parent of another workspace.
    #[error("parent {parent} belongs to another workspace; a lineage stays in one")]
    WorkspaceDiffers {
        /// The parent.
        parent: EnvelopeId,
    },
    /// A parent about somebody else.
    #[error("parent {parent} is about another subject; start a new task for this one")]
    SubjectDiffers {
        /// The parent.
        parent: EnvelopeId,
    },
    /// R1.
    #[error(
        "the intent of a lineage cannot change: leave `intent` out to carry that of {root}, or start a new task"
    )]
    IntentChanged {
        /// The lineage's root.
        root: EnvelopeId,
    },
    /// R2: another value without a waiver.
    #[error(
        "constraint `{name}` is {carried} since an earlier envelope and {given} is neither the same nor tighter; keep it, or waive `{name}` with a reason"
    )]
    ConstraintChanged {
        /// Which.
        name: ConstraintName,
        /// The value that a parent carries.
        carried: Value,
        /// The value that was given.
        given: Value,
    },
    /// R2: parents that cannot both be kept to.
    #[error(
        "parents conflict on constraint `{name}`: {first} ({first_value}) and {second} ({second_value}); waive `{name}` with a reason, and give the value that is to hold"
    )]
    ConstraintConflict {
        /// Which.
        name: ConstraintName,
        /// One parent.
        first: EnvelopeId,
        /// Its value.
        first_value: Value,
        /// Another parent.
        second: EnvelopeId,
        /// Its value.
        second_value: Value,
    },
    /// R2: a foreign envelope that lost one.
    #[error(
        "constraint `{name}` of parent {parent} is missing and not waived; carry it, or list it in `waived` with a reason"
    )]
    ConstraintDropped {
        /// Which.
        name: ConstraintName,
        /// The parent that carries it.
        parent: EnvelopeId,
    },
    /// A waiver of something that is not there.
    #[error(
        "constraint `{name}` cannot be waived: the parents do not carry it; they carry {carried}"
    )]
    WaiverUnknown {
        /// Which.
        name: ConstraintName,
        /// What could be waived.
        carried: String,
    },
    /// A foreign envelope that lost a waiver.
    #[error(
        "the waiver of `{name}` on record in parent {parent} is missing; carry every entry of `waived`"
    )]
    WaiverDropped {
        /// Which.
        name: ConstraintName,
        /// The parent that carries it.
        parent: EnvelopeId,
    },
    /// R7.
    #[error(
        "hop {hop} is beyond the limit of {max_hops} hops; finish here, or have a person waive `max_hops` with a reason and a new limit"
    )]
    HopLimit {
        /// The hop it would have.
        hop: u32,
        /// The limit.
        max_hops: u32,
        /// The envelopes it would follow.
        parents: Vec<EnvelopeId>,
    },
    /// R7: a foreign envelope that miscounts.
    #[error("hop is {found}, but its parents make it {expected}")]
    HopWrong {
        /// The highest of the parents plus one.
        expected: u32,
        /// What it says.
        found: u32,
    },
    /// A waived hop limit without a new one.
    #[error("waiving `max_hops` needs the new limit: give `max_hops`")]
    HopLimitMissing,
    /// Two budgets.
    #[error(
        "the budget is given twice: max_tokens {argument} and, among the constraints, {constraint}; give one"
    )]
    BudgetTwice {
        /// The argument.
        argument: u32,
        /// The entry among the constraints.
        constraint: u32,
    },
    /// A foreign envelope that names a parent we do not have.
    #[error("parent {parent} is not known here; import it first")]
    ParentUnknown {
        /// The parent.
        parent: EnvelopeId,
    },
    /// A foreign envelope that names a parent with another digest.
    #[error(
        "parent {parent} has another digest here than this envelope names; one of the two was replaced"
    )]
    ParentReplaced {
        /// The parent.
        parent: EnvelopeId,
    },
    /// A foreign envelope that lost something that accumulates.
    #[error("{what} of parent {parent} is missing; it accumulates along a lineage")]
    Dropped {
        /// What: a step of the history, a decision, a question.
        what: &'static str,
        /// The parent that carries it.
        parent: EnvelopeId,
    },
}

impl RuleError {
    /// The stable name of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(error) => error.code,
            Self::LineagesDiffer { .. } => "lineages-differ",
            Self::WorkspaceDiffers { .. } => "workspace-differs",
            Self::SubjectDiffers { .. } => "subject-differs",
            Self::IntentChanged { .. } => "intent-changed",
            Self::ConstraintChanged { .. } => "constraint-changed",
            Self::ConstraintConflict { .. } => "constraint-conflict",
            Self::ConstraintDropped { .. } => "constraint-dropped",
            Self::WaiverUnknown { .. } => "waiver-unknown",
            Self::WaiverDropped { .. } => "waiver-dropped",
            Self::HopLimit { .. } => "hop-limit",
            Self::HopWrong { .. } => "hop-wrong",
            Self::HopLimitMissing => "hop-limit-missing",
            Self::BudgetTwice { .. } => "budget-twice",
            Self::ParentUnknown { .. } => "parent-unknown",
            Self::ParentReplaced { .. } => "parent-replaced",
            Self::Dropped { .. } => "dropped",
        }
    }
}
