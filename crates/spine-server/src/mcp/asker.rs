//! Who asks over the protocol, and how what is asked becomes a call of an operation.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::model::{ErrorData, Extensions};
use spine_protocol::AgentName;

use super::sessions::SESSION_HEADER;
use crate::App;
use crate::access::{AGENT_HEADER, Pass};
use crate::operations::handoffs::of_many;
use crate::problem::{Problem, ProblemKind};
use crate::route::Call;

/// Travels with a message through the protocol's service.
#[derive(Clone)]
pub struct Admission {
    /// Everything the server has.
    pub app: Arc<App>,
    /// Who was let in.
    pub pass: Pass,
}

/// Who asks.
#[derive(Clone)]
pub struct Asker {
    /// Everything the server has.
    pub app: Arc<App>,
    /// Who asks, and what the key allows.
    pub pass: Pass,
    /// The session, in the revisions that have them.
    pub session: Option<String>,
    /// What an operation is to know of the request.
    headers: HeaderMap,
}

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

impl Asker {
    /// Of a message that came in by the door.
    pub fn of(extensions: &Extensions) -> Result<Self, ErrorData> {
        let parts = extensions.get::<Parts>();
        let admitted = parts.and_then(|parts| Some((parts, parts.extensions.get::<Admission>()?)));
        let Some((parts, Admission { app, pass })) = admitted else {
            return Err(ErrorData::internal_error("the message came in by no door", None));
        };
        let session = parts.headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok());
        let mut headers = HeaderMap::new();
        if let Some(trace) = parts.headers.get(TRACEPARENT) {
            headers.insert(TRACEPARENT, trace.clone());
        }
        let session = session.map(str::to_owned);
        let (app, mut pass) = (app.clone(), pass.clone());
        // A tool may take several steps: one key cannot stand for each of them.
        pass.caller.idempotency_key = None;
        Ok(Self { app, pass, session, headers })
    }

    /// The call of an operation, as its route would make it.
    pub fn call<P, Q, B>(&self, path: P, query: Q, body: B) -> Call<P, Q, B> {
        let (app, pass, headers) = (self.app.clone(), self.pass.clone(), self.headers.clone());
        Call { app, pass, path, query, body, headers }
    }

    /// The same asker, with a header that an operation reads.
    #[must_use]
    pub fn saying(mut self, name: &'static str, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(HeaderName::from_static(name), value);
        }
        self
    }

    /// The same asker, at one of several steps of a tool: each has a key of its own, made from the one that was sent.
    pub fn at_step(&self, nth: usize) -> Result<Self, Problem> {
        Ok(Self { pass: of_many(&self.pass, nth)?, ..self.clone() })
    }

    /// The agent that asks.
    pub fn agent(&self) -> Result<AgentName, Problem> {
        let unknown = || {
            let said = "nobody knows which agent you are: ask the user to configure this MCP server with an agent (`memory-spine mcp --agent NAME`, `?agent=NAME` in the address, or the header Memory-Spine-Agent)";
            Problem::new(ProblemKind::SenderUnknown, said).with("parameter", AGENT_HEADER)
        };
        self.pass.caller.agent.clone().ok_or_else(unknown)
    }
}
