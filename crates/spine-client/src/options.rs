//! Where the server is, and who asks.

use std::path::PathBuf;
use std::time::Duration;

use crate::limits::ANSWER_TIME_MAX;

/// Where the server is if nobody says.
pub const ENDPOINT_DEFAULT: &str = "http://127.0.0.1:8788";

const ENDPOINT_VARIABLE: &str = "MEMORY_SPINE_ENDPOINT";
const KEY_VARIABLE: &str = "MEMORY_SPINE_API_KEY";
const WORKSPACE_VARIABLE: &str = "MEMORY_SPINE_WORKSPACE";
const AGENT_VARIABLE: &str = "MEMORY_SPINE_AGENT";
const CA_FILE_VARIABLE: &str = "MEMORY_SPINE_CA_FILE";

/// Where the server is, and who asks.
#[derive(Clone)]
pub struct ClientOptions {
    /// Such as `http://127.0.0.1:8788` or `https://spine.example.com`.
    pub endpoint: String,
    /// The API key.
    pub api_key: Option<String>,
    /// The workspace; the server's default if not said.
    pub workspace: Option<String>,
    /// The agent that asks.
    pub agent: Option<String>,
    /// Authorities that are trusted beside those of browsers, for `https://`: a file in PEM.
    pub ca_file: Option<PathBuf>,
    /// For an answer, beyond what a call asks the server to wait.
    pub timeout: Duration,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            endpoint: ENDPOINT_DEFAULT.to_owned(),
            api_key: None,
            workspace: None,
            agent: None,
            ca_file: None,
            timeout: ANSWER_TIME_MAX,
        }
    }
}

impl ClientOptions {
    /// From `MEMORY_SPINE_ENDPOINT`, `_API_KEY`, `_WORKSPACE`, `_AGENT` and `_CA_FILE`.
    pub fn from_environment() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let defaults = Self::default();
        Self {
            endpoint: variable(ENDPOINT_VARIABLE).unwrap_or(defaults.endpoint),
            api_key: variable(KEY_VARIABLE),
            workspace: variable(WORKSPACE_VARIABLE),
            agent: variable(AGENT_VARIABLE),
            ca_file: variable(CA_FILE_VARIABLE).map(PathBuf::from),
            timeout: defaults.timeout,
        }
    }
}

/// A key is not for logs.
impl std::fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientOptions")
            .field("endpoint", &self.endpoint)
            .field("api_key", &self.api_key.as_ref().map(|_| "…"))
            .field("workspace", &self.workspace)
            .field("agent", &self.agent)
            .field("ca_file", &self.ca_file)
            .field("timeout", &self.timeout)
            .finish()
    }
}
