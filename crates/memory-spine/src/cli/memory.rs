//! Commands about memories.

use std::path::PathBuf;

use clap::Args;

use super::Connection;

/// Storing a memory.
#[derive(Debug, Args)]
pub struct Store {
    /// The text; from standard input if not said, or `-`.
    pub text: Option<String>,
    /// A line to show it by.
    #[arg(long)]
    pub title: Option<String>,
    /// A shorter form of the text.
    #[arg(long)]
    pub summary: Option<String>,
    /// What sort of memory it is: note, conversation, reasoning, or any word of yours.
    #[arg(long)]
    pub kind: Option<String>,
    /// A word to find it by. Several are several flags.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// How much it matters: low, normal, high or urgent.
    #[arg(long)]
    pub priority: Option<String>,
    /// It always travels.
    #[arg(long)]
    pub pin: bool,
    /// The ordered group it belongs to.
    #[arg(long)]
    pub thread: Option<String>,
    /// Whom it is about.
    #[arg(long)]
    pub subject: Option<String>,
    /// After how many seconds it is no longer found.
    #[arg(long, value_name = "SECONDS")]
    pub ttl: Option<f64>,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// Finding memories.
#[derive(Debug, Args)]
pub struct Search {
    /// In your own words.
    pub query: String,
    /// At most so many.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// With this tag. Several are several flags.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// In this thread.
    #[arg(long)]
    pub thread: Option<String>,
    /// About this subject and nobody else.
    #[arg(long)]
    pub subject: Option<String>,
    /// Show the parts of each score (with --json).
    #[arg(long)]
    pub explain: bool,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// Writing a workspace down.
#[derive(Debug, Args)]
pub struct Export {
    /// The file; standard output if not said, or `-`.
    pub file: Option<PathBuf>,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// Taking in what was written down.
#[derive(Debug, Args)]
pub struct Import {
    /// The file; standard input if not said, or `-`.
    pub file: Option<PathBuf>,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}
