//! Who may do what: names this server answers to, keys, and what each route needs.

pub mod host;

use std::fmt;
use std::str::FromStr;

use http::HeaderMap;
use spine_engine::Caller;
use spine_protocol::{AgentName, WorkspaceName};

use crate::App;
use crate::problem::Problem;

/// The workspace of a caller that names none.
pub const WORKSPACE_DEFAULT: &str = "default";
/// Workspaces that begin so are the server's own: no caller can name one.
pub const RESERVED_PREFIX: &str = "memory-spine:";
/// The header that names the workspace.
pub const WORKSPACE_HEADER: &str = "memory-spine-workspace";
/// The header that names the agent.
pub const AGENT_HEADER: &str = "memory-spine-agent";
/// The header that makes a repeated write recognisable.
pub const IDEMPOTENCY_HEADER: &str = "idempotency-key";

/// What a route asks of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Open to everybody.
    Nothing,
    /// To see what is in a workspace.
    Read,
    /// To change what is in a workspace.
    Write,
    /// To manage keys and workspaces.
    Admin,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "none",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        })
    }
}

/// Who was let in.
#[derive(Debug, Clone)]
pub struct Pass {
    /// As the engine knows it.
    pub caller: Caller,
    /// Whether the agent's name comes from the key, and so is certain.
    pub is_agent_certain: bool,
}

/// Lets a request in, or says why not.
pub async fn admit(_app: &App, headers: &HeaderMap, _need: Need) -> Result<Pass, Problem> {
    let workspace: Option<WorkspaceName> = named(headers, WORKSPACE_HEADER)?;
    let agent: Option<AgentName> = named(headers, AGENT_HEADER)?;
    let idempotency_key = named(headers, IDEMPOTENCY_HEADER)?;
    let workspace = match workspace {
        Some(workspace) => workspace,
        None => default_workspace()?,
    };
    check_not_reserved(&workspace)?;
    let caller = Caller { workspace, agent, idempotency_key };
    Ok(Pass { caller, is_agent_certain: false })
}

/// The workspace of a caller that names none.
pub fn default_workspace() -> Result<WorkspaceName, Problem> {
    WORKSPACE_DEFAULT.parse().map_err(|error: spine_protocol::ParseError| {
        Problem::parameter(WORKSPACE_HEADER, &error.to_string())
    })
}

/// The server's own workspaces are nobody's to name.
pub fn check_not_reserved(workspace: &WorkspaceName) -> Result<(), Problem> {
    if workspace.as_str().starts_with(RESERVED_PREFIX) {
        let said = "names that begin with `memory-spine:` are reserved: take another one";
        return Err(Problem::parameter(WORKSPACE_HEADER, said));
    }
    Ok(())
}

/// A header as a type.
pub fn named<T>(headers: &HeaderMap, name: &'static str) -> Result<Option<T>, Problem>
where
    T: FromStr,
    T::Err: fmt::Display,
{
    let Some(value) = headers.get(name) else { return Ok(None) };
    let wrong = |problem: &str| Problem::parameter(name, problem);
    let text = value.to_str().map_err(|_| wrong("expected visible ASCII characters"))?;
    text.parse().map(Some).map_err(|error: T::Err| wrong(&error.to_string()))
}
