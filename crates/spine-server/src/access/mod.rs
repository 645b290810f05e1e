//! Who may do what: names this server answers to, keys, and what each route needs.

pub mod cors;
pub mod host;
pub mod key;
pub mod keyring;
pub mod quota;
pub mod rate;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderMap, header};
use spine_engine::Caller;
use spine_protocol::{AgentName, WorkspaceName};

use crate::App;
use crate::problem::{Problem, ProblemKind};
use key::Key;
use keyring::check_grant;

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

/// The header that names the delivery that somebody works on.
pub const DELIVERY_HEADER: &str = "memory-spine-delivery";

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
    /// The key that was shown, if there was one.
    pub key: Option<Arc<Key>>,
}

impl Pass {
    /// Whether the key names the agents it acts as: then the agent is certain.
    pub fn is_agent_certain(&self) -> bool {
        self.key.as_ref().is_some_and(|key| !key.agents().is_empty())
    }
}

impl Pass {
    /// Names the agent where key and header do not; where they do, it must be the same.
    pub fn act_as(&mut self, agent: AgentName) -> Result<(), Problem> {
        if agent.is_broadcast() {
            return Err(Problem::parameter("agent", "`broadcast` is reserved: nobody acts as it"));
        }
        match &self.caller.agent {
            Some(known) if *known != agent => {
                let said = format!("key or header name the agent {known}: leave `agent` out");
                Err(Problem::new(ProblemKind::Forbidden, said).with("parameter", "agent"))
            }
            _ => {
                self.caller.agent = Some(agent);
                Ok(())
            }
        }
    }

    /// Whether the key allows something that its route did not ask for yet.
    pub fn check(&self, need: Need) -> Result<(), Problem> {
        match &self.key {
            Some(key) => check_grant(key, need, &self.caller.workspace),
            None => Ok(()),
        }
    }
}

/// Lets a request in, or says why not.
pub async fn admit(
    app: &App,
    headers: &HeaderMap,
    is_owner: bool,
    need: Need,
) -> Result<Pass, Problem> {
    if need == Need::Nothing {
        return Ok(Pass { caller: Caller::of(default_workspace()?), key: None });
    }
    let key = if is_owner { None } else { shown_key(app, headers).await? };
    let workspace = workspace_of(headers, key.as_deref())?;
    if let Some(key) = &key {
        check_rate(app, key)?;
        check_grant(key, need, &workspace)?;
    }
    let agent = agent_of(headers, key.as_deref())?;
    let idempotency_key = named(headers, IDEMPOTENCY_HEADER)?;
    let idempotency_kept = app.settings.idempotency_kept;
    Ok(Pass { caller: Caller { workspace, agent, idempotency_key, idempotency_kept }, key })
}

/// Without keys everybody on this machine may do everything; with keys nobody may do anything without one.
async fn shown_key(app: &App, headers: &HeaderMap) -> Result<Option<Arc<Key>>, Problem> {
    let Some(shown) = headers.get(header::AUTHORIZATION) else {
        if !app.keys.is_used() {
            return Ok(None);
        }
        let said = "this server has keys: send `Authorization: Bearer msk_…`";
        return Err(Problem::new(ProblemKind::Unauthenticated, said));
    };
    let token = shown.to_str().unwrap_or_default();
    let token = token.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let token = token.map(|(_, token)| token.trim()).unwrap_or_default();
    app.keys.verify(token).await.map(Some)
}

/// As it was named; else the key's only one, else the default.
fn workspace_of(headers: &HeaderMap, key: Option<&Key>) -> Result<WorkspaceName, Problem> {
    let named: Option<WorkspaceName> = named(headers, WORKSPACE_HEADER)?;
    let only = || match key?.workspaces.as_deref()? {
        [only] => Some(only.clone()),
        _ => None,
    };
    let workspace = named.or_else(only).map_or_else(default_workspace, Ok)?;
    check_not_reserved(&workspace)?;
    Ok(workspace)
}

/// The key's, if it names one: what the caller says of itself must agree.
fn agent_of(headers: &HeaderMap, key: Option<&Key>) -> Result<Option<AgentName>, Problem> {
    let said: Option<AgentName> = named(headers, AGENT_HEADER)?;
    if said.as_ref().is_some_and(AgentName::is_broadcast) {
        return Err(Problem::parameter(AGENT_HEADER, "`broadcast` is reserved: nobody acts as it"));
    }
    let allowed = key.map(Key::agents).unwrap_or_default();
    match (allowed.as_slice(), said) {
        ([], said) => Ok(said),
        ([only], None) => Ok(Some((*only).clone())),
        (_, None) => {
            Err(Problem::parameter(AGENT_HEADER, "the key names several agents: say which"))
        }
        (several, Some(said)) if several.contains(&&said) => Ok(Some(said)),
        (_, Some(_)) => {
            let detail = "the key names another agent: leave the header out, or use another key";
            Err(Problem::new(ProblemKind::Forbidden, detail).with("parameter", AGENT_HEADER))
        }
    }
}

fn check_rate(app: &App, key: &Key) -> Result<(), Problem> {
    let Some(per_s) = app.settings.key_requests_per_s else { return Ok(()) };
    app.rates.take(&key.id, per_s, Instant::now()).map_err(|wait_s| {
        let said = format!("this key may send {per_s} requests a second: go on more slowly");
        Problem::new(ProblemKind::RateLimited, said).retry_after(wait_s.ceil() as u64)
    })
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
