//! Why a handoff could not be assembled.

use spine_protocol::{EnvelopeId, ReadError, RuleError, SealError};
use spine_store::StoreError;

/// How many tokens a part of the rendering needs.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PartTokens {
    /// Which part: `task`, `constraints`, `intent`, …
    pub part: &'static str,
    /// How many.
    pub tokens: u32,
}

/// Why a handoff could not be assembled. Each message says what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// A rule of the protocol stands in the way.
    #[error("{0}")]
    Rule(Box<RuleError>),
    /// A field is wrong in itself.
    #[error("{0}")]
    Invalid(#[from] ReadError),
    /// The envelope could not be closed.
    #[error("{0}")]
    Seal(#[from] SealError),
    /// R5: what is never cut does not fit.
    #[error(
        "this handoff needs {needed} tokens and its budget is {max_tokens}: {}; raise max_tokens, or say less",
        shown(parts)
    )]
    Budget {
        /// What is needed at the least.
        needed: u32,
        /// What there is.
        max_tokens: u32,
        /// Which parts need it.
        parts: Vec<PartTokens>,
    },
    /// A secret in what travels word for word, under a constraint that forbids it.
    #[error(
        "{place} holds what looks like a secret ({kind}) and a constraint forbids plaintext credentials: it travels word for word, so take the secret out"
    )]
    SecretInCore {
        /// Where.
        place: String,
        /// What it looks like.
        kind: String,
    },
    /// An envelope that is not there.
    #[error("envelope {id} does not exist: give the id of an envelope of this workspace")]
    EnvelopeUnknown {
        /// Its id.
        id: EnvelopeId,
    },
    /// Only a skeleton is left.
    #[error(
        "envelope {id} was pruned, as retention asks: begin anew, without it, or raise the retention time"
    )]
    Pruned {
        /// Its id.
        id: EnvelopeId,
    },
    /// The sender did not say who it is.
    #[error("the sender is not known: say which agent hands over")]
    SenderUnknown,
    /// The key stands for another request.
    #[error("this Idempotency-Key was used for another request: take a new key")]
    IdempotencyConflict,
    /// The store could not be asked.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl From<RuleError> for AssemblyError {
    fn from(error: RuleError) -> Self {
        Self::Rule(Box::new(error))
    }
}

fn shown(parts: &[PartTokens]) -> String {
    let words = parts.iter().map(|part| format!("{} {}", part.part, part.tokens));
    words.collect::<Vec<_>>().join(", ")
}

impl AssemblyError {
    /// The stable name of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rule(error) => error.code(),
            Self::Invalid(error) => error.code,
            Self::Seal(error) => error.code(),
            Self::Budget { .. } => "budget",
            Self::SecretInCore { .. } => "secret-in-core",
            Self::EnvelopeUnknown { .. } => "not-found",
            Self::Pruned { .. } => "pruned",
            Self::SenderUnknown => "sender-unknown",
            Self::IdempotencyConflict => "idempotency-conflict",
            Self::Store(_) => "store",
        }
    }
}
