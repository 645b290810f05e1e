//! Commands about handoffs.

use clap::{Args, ValueEnum};

use super::Connection;
use super::memory::priorities;

/// Handing work to an agent.
#[derive(Debug, Args)]
pub struct Handoff {
    /// The receiver.
    pub target: String,
    /// What it is to do now.
    pub summary: String,
    /// The user's request, word for word; only a new task can give one.
    #[arg(long)]
    pub intent: Option<String>,
    /// A constraint, NAME=VALUE; the value is JSON, or else a text. Several are several flags.
    #[arg(long = "constraint", value_name = "NAME=VALUE")]
    pub constraints: Vec<String>,
    /// A constraint to give up, NAME=REASON. Several are several flags.
    #[arg(long = "waive", value_name = "NAME=REASON")]
    pub waivers: Vec<String>,
    /// A memory that must travel. Several are several flags.
    #[arg(long = "memory", value_name = "MS-N")]
    pub memories: Vec<String>,
    /// The envelope or delivery that this one follows. Several envelopes are several flags.
    #[arg(long = "parent", value_name = "ID")]
    pub parents: Vec<String>,
    /// The budget.
    #[arg(long, value_name = "TOKENS")]
    pub max_tokens: Option<u32>,
    /// How detail is chosen: full, summary, priority or lazy.
    #[arg(long)]
    pub strategy: Option<String>,
    /// Whom the task is about.
    #[arg(long)]
    pub subject: Option<String>,
    /// Its place in the receiver's queue.
    #[arg(long, value_parser = priorities())]
    pub priority: Option<String>,
    /// Who is asked next when attempts run out. Several are several flags, in order.
    #[arg(long = "fallback", value_name = "AGENT")]
    pub fallbacks: Vec<String>,
    /// Attempts with one agent.
    #[arg(long)]
    pub attempts: Option<u32>,
    /// Wait until it is accepted, or done.
    #[arg(long, value_name = "UNTIL", num_args = 0..=1, default_missing_value = "accepted")]
    pub wait: Option<Until>,
    /// How long to wait.
    #[arg(long, value_name = "SECONDS", default_value_t = 15.0, requires = "wait")]
    pub timeout: f64,
    /// Assemble only: print what the receiver would read, and send nothing.
    #[arg(long, conflicts_with = "wait")]
    pub no_send: bool,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// How far a delivery is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Until {
    /// A receiver works on it.
    Accepted,
    /// It is done.
    Done,
}

impl Until {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Done => "done",
        }
    }
}

/// Taking one delivery.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --ack, --nack, --reject or --exec the rendering is printed, then the commands that settle it.
With --exec the rendering is the command's standard input. Exit code 0 acknowledges, with its standard output as the
result (as JSON if it is JSON); any other gives the work back.")]
pub struct Receive {
    /// The agent that receives.
    pub receiver: String,
    /// How long to wait for work.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub wait: f64,
    /// How long the lease lives without a sign of life.
    #[arg(long, value_name = "SECONDS")]
    pub lease_time: Option<f64>,
    /// The form of the text: markdown, xml or json.
    #[arg(long, default_value = "markdown")]
    pub format: String,
    /// A delivery that you have already, instead of a new one.
    #[arg(long, value_name = "ID", requires = "lease", requires = "settle")]
    pub delivery: Option<String>,
    /// The lease that came with it.
    #[arg(long, value_name = "TOKEN", requires = "delivery")]
    pub lease: Option<String>,
    /// What becomes of it.
    #[command(flatten)]
    pub settle: Settle,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}

/// What becomes of a delivery.
#[derive(Debug, Args)]
#[group(id = "settle", multiple = false)]
pub struct Settle {
    /// It is done, with this result: JSON, or else a text.
    #[arg(long, value_name = "RESULT")]
    pub ack: Option<String>,
    /// It could not be done, for this reason: it is tried again.
    #[arg(long, value_name = "REASON")]
    pub nack: Option<String>,
    /// It will not be done, for this reason.
    #[arg(long, value_name = "REASON")]
    pub reject: Option<String>,
    /// This command does it (run by sh -c).
    #[arg(long, value_name = "COMMAND", conflicts_with = "delivery")]
    pub exec: Option<String>,
}

/// One task, by any of its envelopes.
#[derive(Debug, Args)]
pub struct OfEnvelope {
    /// An envelope of the task.
    pub envelope: String,
    /// The server.
    #[command(flatten)]
    pub connection: Connection,
}
