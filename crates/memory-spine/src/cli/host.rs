//! What the hosts of agents run.

use std::path::PathBuf;

use clap::Args;

use super::Connection;

/// Speaking MCP over stdio.
#[derive(Debug, Args)]
pub struct Mcp {
    /// The agent that the host is [MEMORY_SPINE_AGENT].
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The workspace [MEMORY_SPINE_WORKSPACE].
    #[arg(long, value_name = "NAME")]
    pub workspace: Option<String>,
    /// A server that runs already, instead of the one of the data folder [MEMORY_SPINE_ENDPOINT].
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// Authorities to trust beside those of browsers, for an https:// server: a file in PEM [MEMORY_SPINE_CA_FILE].
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
}

/// What waits for an agent.
#[derive(Debug, Args)]
pub struct Inbox {
    /// Whose inbox [--as, MEMORY_SPINE_AGENT].
    pub owner: Option<String>,
    /// For a host's session-start hook: one line if something waits, else nothing; never a failure.
    #[arg(long)]
    pub hook: bool,
    /// The server; without one that is named, the one of the data folder.
    #[command(flatten)]
    pub connection: Connection,
}
