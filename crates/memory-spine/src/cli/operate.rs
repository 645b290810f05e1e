//! Commands for whoever runs the system.

use clap::{Args, Subcommand, ValueEnum};

use super::Connection;

/// What waits for a person.
#[derive(Debug, Args)]
pub struct Parked {
    /// What to do.
    #[command(subcommand)]
    pub step: ParkedStep,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// What to do about parked deliveries.
#[derive(Debug, Subcommand)]
pub enum ParkedStep {
    /// Lists them, oldest first.
    List {
        /// Which ones.
        #[command(flatten)]
        filter: Which,
        /// At most so many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Sets aside what is open of an envelope.
    Add {
        /// The envelope.
        envelope: String,
        /// Why.
        #[arg(long)]
        why: String,
    },
    /// Shows one, with its story and what was to be read.
    Show {
        /// The delivery.
        id: String,
    },
    /// Tries again: those named, or all that a filter means.
    Requeue {
        /// The deliveries.
        ids: Vec<String>,
        /// Which ones, if none is named.
        #[command(flatten)]
        filter: Which,
        /// Many at once.
        #[command(flatten)]
        many: Many,
        /// With another agent.
        #[arg(long, value_name = "AGENT")]
        to: Option<String>,
        /// How many a second can be taken.
        #[arg(long, value_name = "PER_SECOND")]
        rate: Option<f64>,
        /// Why.
        #[arg(long, default_value = "requeued by hand")]
        why: String,
    },
    /// Gives the result of work that you did yourself.
    Resolve {
        /// The delivery.
        id: String,
        /// What came of it: JSON, or else a text.
        #[arg(long)]
        result: String,
    },
    /// Gives up: those named, or all that a filter means.
    Discard {
        /// The deliveries.
        ids: Vec<String>,
        /// Which ones, if none is named.
        #[command(flatten)]
        filter: Which,
        /// Many at once.
        #[command(flatten)]
        many: Many,
        /// Why.
        #[arg(long)]
        why: String,
    },
}

/// Which parked deliveries are meant.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Filter")]
pub struct Which {
    /// In this agent's queue.
    #[arg(long, value_name = "AGENT")]
    pub target: Option<String>,
    /// For this cause, such as attempts_exhausted, or with these words in a reason.
    #[arg(long, value_name = "WORDS")]
    pub reason: Option<String>,
    /// Parked at this moment or later (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Parked at this moment or earlier (RFC 3339).
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
}

/// Many at once.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Many at once")]
pub struct Many {
    /// Everything that is parked: without a filter this must be said.
    #[arg(long)]
    pub all: bool,
    /// Only say which ones it would be.
    #[arg(long)]
    pub dry_run: bool,
    /// At most so many.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub max: u32,
}

/// Agents.
#[derive(Debug, Args)]
pub struct Agents {
    /// What to do.
    #[command(subcommand)]
    pub step: AgentsStep,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// What to do about agents.
#[derive(Debug, Subcommand)]
pub enum AgentsStep {
    /// Lists them, with their queues and breakers.
    List,
    /// The circuit breaker of one.
    Breaker {
        /// Which agent.
        name: String,
        /// Close it, or hold it open.
        action: BreakerAction,
    },
    /// Gives an agent no work for now.
    Pause {
        /// Which agent.
        name: String,
    },
    /// Gives an agent work again.
    Resume {
        /// Which agent.
        name: String,
    },
}

/// What to do to a circuit breaker.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum BreakerAction {
    /// Close it: work flows.
    Reset,
    /// Hold it open: work waits.
    Open,
}

/// How the server and its queues are.
#[derive(Debug, Args)]
pub struct Health {
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}
