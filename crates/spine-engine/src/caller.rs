//! Who asks, and where.

use std::time::Duration;

use spine_protocol::{AgentName, WorkspaceName};
use spine_store::IdempotencyKey;

use crate::idempotency::IDEMPOTENCY_KEPT;

/// The frame of one request. Everything it touches is in its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The isolation boundary.
    pub workspace: WorkspaceName,
    /// The agent that asks, if it said so.
    pub agent: Option<AgentName>,
    /// What makes a repeated write recognisable.
    pub idempotency_key: Option<IdempotencyKey>,
    /// How long its answer is remembered.
    pub idempotency_kept: Duration,
}

impl Caller {
    /// Somebody in a workspace.
    pub fn of(workspace: WorkspaceName) -> Self {
        let (agent, idempotency_key, idempotency_kept) = (None, None, IDEMPOTENCY_KEPT);
        Self { workspace, agent, idempotency_key, idempotency_kept }
    }
}
