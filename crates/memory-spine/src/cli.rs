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
