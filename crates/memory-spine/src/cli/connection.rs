//! How the server is reached, and how its answers are shown.

use std::path::PathBuf;

use clap::Args;
use spine_client::{Client, ClientError, ClientOptions};

/// Where the server is, if no flag says.
pub const ENDPOINT_VARIABLE: &str = "MEMORY_SPINE_ENDPOINT";

/// Where the server is, who asks, and how answers are shown.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// Where the server is [MEMORY_SPINE_ENDPOINT, else http://127.0.0.1:8788].
    #[arg(long, global = true, value_name = "URL")]
    pub endpoint: Option<String>,
    /// The API key; better in MEMORY_SPINE_API_KEY, where others do not see it.
    #[arg(long, global = true, value_name = "KEY")]
    pub api_key: Option<String>,
    /// The workspace [MEMORY_SPINE_WORKSPACE].
    #[arg(long, global = true, value_name = "NAME")]
    pub workspace: Option<String>,
    /// The agent that you speak as [MEMORY_SPINE_AGENT].
    #[arg(long = "as", global = true, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Authorities to trust beside those of browsers, for an https:// server: a file in PEM [MEMORY_SPINE_CA_FILE].
    #[arg(long, global = true, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// JSON for scripts, as the server answers.
    #[arg(long, global = true)]
    pub json: bool,
}

impl Connection {
    /// Whether somebody said where the server is.
    pub fn is_server_named(&self) -> bool {
        self.endpoint.is_some()
            || std::env::var_os(ENDPOINT_VARIABLE).is_some_and(|url| !url.is_empty())
    }

    /// A client of the server at this address.
    pub fn client_at(&self, endpoint: String) -> Result<Client, ClientError> {
        Self { endpoint: Some(endpoint), ..self.clone() }.client()
    }

    /// A client; what is not said comes from the environment.
    pub fn client(&self) -> Result<Client, ClientError> {
        let given = ClientOptions::from_environment();
        Client::new(ClientOptions {
            endpoint: self.endpoint.clone().unwrap_or(given.endpoint),
            api_key: self.api_key.clone().or(given.api_key),
            workspace: self.workspace.clone().or(given.workspace),
            agent: self.agent.clone().or(given.agent),
            ca_file: self.ca_file.clone().or(given.ca_file),
            timeout: given.timeout,
        })
    }
}
