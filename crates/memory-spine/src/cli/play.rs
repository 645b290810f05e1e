//! The demonstration and the load.

use clap::{Args, Subcommand};

/// The demonstration.
#[derive(Debug, Args)]
pub struct Demo {
    /// Keep the data when it ends; with --data it is always kept.
    #[arg(long)]
    pub keep: bool,
    /// Stop when everything was played, instead of leaving the server up.
    #[arg(long)]
    pub once: bool,
    /// Where the server listens; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: String,
}

/// One agent of the demonstration, as a process of its own.
#[derive(Debug, Args)]
pub struct DemoAgent {
    /// Which agent.
    pub name: String,
    /// What it does.
    pub part: String,
    /// Where the server is.
    #[arg(long)]
    pub endpoint: String,
}

/// Benchmarks.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Whole handoff cycles over HTTP: send, receive with accept, ack.
    Load(Load),
}

/// Load.
#[derive(Debug, Args)]
pub struct Load {
    /// How many cycles are under way at once.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    pub concurrency: u32,
    /// How long, such as 60s, 2m or 1500ms; at most an hour.
    #[arg(long, default_value = "60s", value_parser = super::duration)]
    pub duration: std::time::Duration,
    /// A server that runs already; without it one is started for this run.
    #[arg(long, value_name = "URL", requires = "yes")]
    pub target: Option<String>,
    /// Yes, put this load and its data on the target.
    #[arg(long)]
    pub yes: bool,
    /// JSON for scripts.
    #[arg(long)]
    pub json: bool,
}
