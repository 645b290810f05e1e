//! Commands about memories.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use spine_protocol::Priority;

use super::Connection;

/// The words for how much something matters.
pub fn priorities() -> PossibleValuesParser {
    PossibleValuesParser::new(Priority::ALL.iter().map(|word| word.as_str()))
}

/// Storing a memory.
#[derive(Debug, Args)]
pub struct Store {
    /// The text; from standard input if not said, or `-`.
    pub text: Option<String>,
    /// What is known of it beside its text.
    #[command(flatten)]
    pub details: Details,
    /// It always travels.
    #[arg(long)]
    pub pin: bool,
    /// Who wrote it; the agent that you speak as if not said.
    #[arg(long)]
    pub author: Option<String>,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// What is known of a memory beside its text.
#[derive(Debug, Args)]
pub struct Details {
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
    /// How much it matters.
    #[arg(long, value_parser = priorities())]
    pub priority: Option<String>,
    /// The ordered group it belongs to.
    #[arg(long)]
    pub thread: Option<String>,
    /// Whom it is about.
    #[arg(long)]
    pub subject: Option<String>,
    /// The time it is about (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub occurred_at: Option<String>,
    /// Whatever else to keep with it, NAME=VALUE; the value is JSON, or else a text. Several are several flags.
    #[arg(long = "meta", value_name = "NAME=VALUE")]
    pub metadata: Vec<String>,
    /// After how many seconds from now it is no longer found.
    #[arg(long, value_name = "SECONDS")]
    pub ttl: Option<f64>,
}

/// Finding memories.
#[derive(Debug, Args)]
pub struct Search {
    /// In your own words.
    pub query: String,
    /// At most so many.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
    /// Show what each score is the sum of.
    #[arg(long)]
    pub explain: bool,
    /// Which ones.
    #[command(flatten)]
    pub filter: WhichMemories,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// Which memories are meant.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Filter")]
pub struct WhichMemories {
    /// With this tag. Several are several flags.
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Of this kind. Any of several, which are several flags.
    #[arg(long = "kind", value_name = "KIND")]
    pub kinds: Vec<String>,
    /// Written by this author.
    #[arg(long)]
    pub author: Option<String>,
    /// In this thread.
    #[arg(long)]
    pub thread: Option<String>,
    /// About this subject and nobody else.
    #[arg(long)]
    pub subject: Option<String>,
    /// About this moment or later (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// About a moment before this (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Pinned ones only.
    #[arg(long)]
    pub pinned: bool,
}

/// Memories, one by one.
#[derive(Debug, Args)]
pub struct Memories {
    /// What to do.
    #[command(subcommand)]
    pub step: MemoriesStep,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// What to do about memories.
#[derive(Debug, Subcommand)]
pub enum MemoriesStep {
    /// Lists them, last stored first.
    List {
        /// First stored first: how a thread is read.
        #[arg(long)]
        oldest: bool,
        /// At most so many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        /// Which ones.
        #[command(flatten)]
        filter: WhichMemories,
    },
    /// Shows one in full.
    Show {
        /// Which one, such as ms-1.
        id: String,
        /// An earlier version.
        #[arg(long, value_name = "NUMBER")]
        version: Option<u32>,
    },
    /// Lists the versions of one, oldest first.
    Versions {
        /// Which one, such as ms-1.
        id: String,
    },
    /// Makes a new version; what is not named stays.
    Update {
        /// Which one, such as ms-1.
        id: String,
        /// Another text; from standard input if it is `-`.
        text: Option<String>,
        /// What else is to be different.
        #[command(flatten)]
        details: Box<Details>,
        /// To be empty again. Several are several flags.
        #[arg(long = "clear", value_name = "WHAT", value_parser = CLEARED)]
        cleared: Vec<String>,
        /// Only if it is still at this version.
        #[arg(long, value_name = "NUMBER")]
        if_version: Option<u32>,
    },
    /// Lets them travel with every handoff.
    Pin {
        /// Which ones, such as ms-1.
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Lets them travel no more than others.
    Unpin {
        /// Which ones, such as ms-1.
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Deletes them; a mark stays, so that a reference is a known gap.
    Delete {
        /// Which ones, such as ms-1.
        #[arg(required = true)]
        ids: Vec<String>,
        /// Erase every version, too.
        #[arg(long)]
        purge: bool,
    },
    /// Erases a memory, or all about a subject, everywhere: envelopes and results included.
    Erase {
        /// What is to be forgotten.
        #[command(flatten)]
        what: Forgotten,
        /// Why; it stays on record.
        #[arg(long)]
        why: String,
        /// Only say how much it would be.
        #[arg(long)]
        dry_run: bool,
    },
}

/// What can be empty again.
const CLEARED: [&str; 8] =
    ["title", "summary", "tags", "thread", "subject", "occurred_at", "metadata", "ttl"];

/// What is to be forgotten.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Forgotten {
    /// Everything about this subject.
    #[arg(long)]
    pub subject: Option<String>,
    /// Every version of this memory.
    #[arg(long, value_name = "ID")]
    pub memory: Option<String>,
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
