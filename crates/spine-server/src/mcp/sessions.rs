//! Sessions, in the revisions that have them: whose each is, and how many there are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::{HeaderMap, HeaderValue};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use spine_protocol::WorkspaceName;

use crate::access::Pass;
use crate::limits::{MCP_SESSION_IDLE_MAX, MCP_SESSIONS_MAX};
use crate::problem::{Problem, ProblemKind};

/// The header that names a session.
pub const SESSION_HEADER: &str = "mcp-session-id";

/// Every session that is open.
pub struct Sessions {
    manager: Arc<LocalSessionManager>,
    owners: Mutex<HashMap<String, Owner>>,
}

/// Whose a session is: nobody else can use it, and to others it does not exist.
struct Owner {
    key: Option<String>,
    workspace: WorkspaceName,
    seen: Instant,
}

impl Owner {
    fn of(pass: &Pass) -> Self {
        let key = pass.key.as_ref().map(|key| key.id.clone());
        Self { key, workspace: pass.caller.workspace.clone(), seen: Instant::now() }
    }

    fn is(&self, other: &Self) -> bool {
        self.key == other.key && self.workspace == other.workspace
    }
}

impl Default for Sessions {
    fn default() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(MCP_SESSION_IDLE_MAX);
        Self { manager: Arc::new(manager), owners: Mutex::default() }
    }
}

impl Sessions {
    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        self.manager.clone()
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<String, Owner>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the session that is named is the caller's.
    pub fn check(&self, headers: &HeaderMap, pass: &Pass) -> Result<(), Problem> {
        let Some(id) = headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()) else {
            return Ok(());
        };
        let (mut owners, caller) = (self.owners(), Owner::of(pass));
        match owners.get_mut(id) {
            Some(owner) if owner.is(&caller) => {
                owner.seen = Instant::now();
                Ok(())
            }
            Some(_) => {
                let said = "there is no such session: begin another one with `initialize`";
                Err(Problem::new(ProblemKind::NotFound, said))
            }
            None => Ok(()),
        }
    }

    /// Notes whose a new session is.
    pub async fn opened(&self, id: &HeaderValue, pass: &Pass) {
        let Ok(id) = id.to_str() else { return };
        self.owners().entry(id.to_owned()).or_insert_with(|| Owner::of(pass));
    }

    /// Whether a session is open.
    pub async fn is_open(&self, id: &str) -> bool {
        self.manager.sessions.read().await.contains_key(id)
    }

    /// Forgets sessions that have ended, and ends the one that was quiet longest if there are too many.
    pub async fn make_room(&self) {
        let open: Vec<String> =
            self.manager.sessions.read().await.keys().map(ToString::to_string).collect();
        self.owners().retain(|id, _| open.contains(id));
        if open.len() < MCP_SESSIONS_MAX {
            return;
        }
        let quietest = || {
            let owners = self.owners();
            owners.iter().min_by_key(|(_, owner)| owner.seen).map(|(id, _)| id.clone())
        };
        if let Some(id) = quietest() {
            self.owners().remove(&id);
            let closed = self.manager.close_session(&id.into()).await;
            let _ = closed.inspect_err(|error| tracing::warn!(%error, "a session did not end"));
        }
    }
}
