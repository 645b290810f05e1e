//! Why something about a delivery is not done. Each message says what to do.

use spine_protocol::{AgentName, DeliveryId, EnvelopeId};
use spine_store::{DeliveryState, StoreError, UnixMs};

use super::machine::Refusal;
use crate::assembly::AssemblyError;

/// A request about deliveries that was not granted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// A field is not as it must be.
    #[error("{field} {problem}")]
    Invalid {
        /// Which field.
        field: &'static str,
        /// What is wrong, after the field's name.
        problem: String,
    },
    /// A field is beyond its limit.
    #[error("{field} has {found} {unit}, at most {max} are taken: shorten or split it")]
    TooLarge {
        /// Which field.
        field: &'static str,
        /// What it has.
        found: usize,
        /// What it may have.
        max: usize,
        /// Of what.
        unit: &'static str,
    },
    /// No such delivery.
    #[error("delivery {id} does not exist: check the id and the workspace")]
    Unknown {
        /// Its id.
        id: DeliveryId,
    },
    /// No such thing of another kind.
    #[error("{kind} {name} does not exist: check its name and the workspace")]
    NotFound {
        /// What kind of thing.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// The lease is not the newest one any more.
    #[error(
        "the lease on {id} is lost: the work was given to somebody else or taken back; stop working on it"
    )]
    LeaseLost {
        /// Which delivery.
        id: DeliveryId,
    },
    /// It was cancelled.
    #[error("{id} was cancelled{}: stop working on it", shown(reason.as_deref()))]
    Cancelled {
        /// Which delivery.
        id: DeliveryId,
        /// Why.
        reason: Option<String>,
    },
    /// It is over.
    #[error("{id} is {} already: nothing more can happen to it", state.as_str())]
    Over {
        /// Which delivery.
        id: DeliveryId,
        /// How it ended.
        state: DeliveryState,
    },
    /// Only what is parked can be reviewed.
    #[error(
        "{id} is {}, not parked: somebody else may have reviewed it; read it again",
        state.as_str()
    )]
    NotParked {
        /// Which delivery.
        id: DeliveryId,
        /// Where it stands.
        state: DeliveryState,
    },
    /// The breaker of the target is open.
    #[error(
        "nobody has taken work for {agent} lately, so its circuit is open: try again in {} s, name a fallback, or send without waiting",
        retry_after_ms.div_ceil(1000)
    )]
    CircuitOpen {
        /// The target.
        agent: AgentName,
        /// When one handoff may try.
        retry_at: UnixMs,
        /// How long that is.
        retry_after_ms: u64,
    },
    /// The result is not what the handoff asks for.
    #[error(
        "the result does not match the expected schema: {}; correct it and complete again, the lease stays",
        problems.join("; ")
    )]
    ResultInvalid {
        /// Where and what.
        problems: Vec<String>,
    },
    /// An envelope for a channel.
    #[error("this envelope is for a channel: publish it, or name one receiver")]
    BroadcastTarget,
    /// A channel without anybody to send to.
    #[error("nobody would get this: name receivers, or subscribe agents to the channel")]
    NoReceivers,
    /// The chain is at its hop limit.
    #[error("{message}")]
    HopLimit {
        /// What to do, with the agents of the cycle.
        message: String,
        /// The agents of the lineage, from the root.
        agents: Vec<AgentName>,
        /// Those that repeat, if the chain goes round.
        cycle: Vec<AgentName>,
    },
    /// The texts are gone.
    #[error("envelope {id} was pruned after its retention time: only its skeleton is left")]
    Pruned {
        /// Its id.
        id: EnvelopeId,
    },
    /// The key stands for another request.
    #[error("this Idempotency-Key was used for another request: take a new key")]
    IdempotencyConflict,
    /// Others were first each time.
    #[error("others kept changing the same deliveries: try again")]
    Contended,
    /// The next envelope could not be made.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// The store could not.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn shown(reason: Option<&str>) -> String {
    reason.map(|reason| format!(" ({reason})")).unwrap_or_default()
}

impl DeliveryError {
    /// The stable name of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid",
            Self::TooLarge { .. } => "too-large",
            Self::Unknown { .. } | Self::NotFound { .. } => "not-found",
            Self::LeaseLost { .. } => "lease-lost",
            Self::Cancelled { .. } => "cancelled",
            Self::Over { .. } => "already-over",
            Self::NotParked { .. } => "not-parked",
            Self::CircuitOpen { .. } => "circuit-open",
            Self::ResultInvalid { .. } => "result-invalid",
            Self::BroadcastTarget => "broadcast-target",
            Self::NoReceivers => "no-receivers",
            Self::HopLimit { .. } => "hop-limit",
            Self::Pruned { .. } => "pruned",
            Self::IdempotencyConflict => "idempotency-conflict",
            Self::Contended => "contended",
            Self::Assembly(error) => error.code(),
            Self::Store(_) => "store",
        }
    }

    pub(super) fn refused(id: DeliveryId, refusal: Refusal) -> Self {
        match refusal {
            Refusal::LeaseLost | Refusal::NotReady => Self::LeaseLost { id },
            Refusal::Cancelled(reason) => Self::Cancelled { id, reason },
            Refusal::Over(state) => Self::Over { id, state },
            Refusal::NotParked(state) => Self::NotParked { id, state },
        }
    }
}
