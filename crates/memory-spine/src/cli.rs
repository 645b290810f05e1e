//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// One durable memory for a team of AI agents, and a reliable way to hand work to each other.
#[derive(Debug, Parser)]
#[command(name = "memory-spine", version, arg_required_else_help = true)]
pub struct Cli {
    /// The file of settings; memory-spine.toml in this folder if not said and there is one.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The folder of the data.
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub task: Task,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Serves until it is told to stop.
    Serve(Serve),
    /// Prints every setting, and where each comes from.
    Config(ShowConfig),
    /// API keys: from a running server, or from the data folder when none runs.
    #[command(subcommand)]
    Keys(Keys),
    /// Copies the store into a new file, also while it is being served.
    Backup(Backup),
    /// Checks the installation and says what to do.
    Doctor,
}

/// Serving.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where to listen; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
}

/// Showing the settings.
#[derive(Debug, Args)]
pub struct ShowConfig {
    /// The defaults as a file to start from, with comments.
    #[arg(long)]
    pub defaults: bool,
}

/// Copying the store.
#[derive(Debug, Args)]
pub struct Backup {
    /// The new file.
    pub target: PathBuf,
}

/// API keys.
#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Makes a key and shows it, this once.
    Create(CreateKey),
    /// Lists the keys, without their secrets.
    List,
    /// Ends a key, at once.
    Revoke {
        /// The part of the key between `msk_` and the second `_`.
        id: String,
    },
    /// Gives a key a new secret, and shows it, this once.
    Rotate {
        /// The part of the key between `msk_` and the second `_`.
        id: String,
        /// How many seconds the old secret is still good.
        #[arg(long, value_name = "SECONDS", default_value_t = 3600.0)]
        grace: f64,
    },
}

/// Making a key.
#[derive(Debug, Args)]
pub struct CreateKey {
    /// What it allows: admin, read, write, agent:<name>. Several are several flags.
    #[arg(long = "scope", value_name = "SCOPE", required = true)]
    pub scopes: Vec<String>,
    /// Where; '*' is everywhere. Several are several flags.
    #[arg(long = "workspace", value_name = "NAME", default_value = "default")]
    pub workspaces: Vec<String>,
    /// What you call it.
    #[arg(long, default_value = "")]
    pub name: String,
    /// After how many seconds it is no longer good.
    #[arg(long, value_name = "SECONDS")]
    pub expires_in: Option<f64>,
}
