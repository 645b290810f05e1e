//! Who asks, and where.

use spine_protocol::{AgentName, WorkspaceName};
use spine_store::IdempotencyKey;

/// The frame of one request. Everything it touches is in its workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The isolation boundary.
    pub workspace: WorkspaceName,
    /// The agent that asks, if it said so.
    pub agent: Option<AgentName>,
    /// What makes a repeated write recognisable.
    pub idempotency_key: Option<IdempotencyKey>,
}

impl Caller {
    /// Somebody in a workspace.
    pub fn of(workspace: WorkspaceName) -> Self {
        Self { workspace, agent: None, idempotency_key: None }
    }
}
