//! The command line.

mod connection;
mod handoff;
mod host;
mod memory;
mod operate;
mod play;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

pub use connection::{Connection, ENDPOINT_VARIABLE};
pub use handoff::{Handoff, OfEnvelope, Receive, Settle, Until};
pub use host::{Inbox, Mcp};
pub use memory::{
    Details, Export, Forgotten, Import, Memories, MemoriesStep, Search, Store, WhichMemories,
};
pub use operate::{Agents, AgentsStep, BreakerAction, Health, Many, Parked, ParkedStep, Which};
pub use play::{Bench, Demo, DemoAgent, Load};

const DURATION_MAX: Duration = Duration::from_secs(60 * 60);

const EXIT_CODES: &str = "\
Exit codes: 0 done · 1 failed · 2 not understood · 3 not found · 4 refused by the server · 5 server not reached ·
6 nothing came in time · 7 another process has the data open";

/// One durable memory for a team of AI agents, and a reliable way to hand work to each other.
#[derive(Debug, Parser)]
#[command(name = "memory-spine", version, arg_required_else_help = true, after_help = EXIT_CODES)]
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
    /// Plays a chain of four agents with a crash, a gap, an open breaker and a broadcast, on a server of its own.
    Demo(Demo),
    #[command(flatten)]
    OnServer(Box<OnServer>),
    /// Speaks MCP over stdio for a host such as Claude Code; starts a server in the background if none runs.
    Mcp(Mcp),
    /// Says in a line what waits for an agent.
    Inbox(Inbox),
    /// Prints every setting, and where each comes from.
    Config(ShowConfig),
    /// API keys: from a running server, or from the data folder when none runs.
    #[command(subcommand)]
    Keys(Keys),
    /// Copies the store into a new file, also while it is being served.
    Backup(Backup),
    /// Checks the installation and says what to do.
    Doctor,
    /// Prints what a shell completes this command by.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

/// What is asked of a server, and needs no settings of one.
#[derive(Debug, Subcommand)]
pub enum OnServer {
    /// Stores a memory.
    Store(Store),
    /// Finds memories by words and by meaning.
    Search(Search),
    /// What is remembered: list, show, versions, update, pin, unpin, delete, erase.
    Memories(Memories),
    /// Assembles a handoff and sends it.
    Handoff(Handoff),
    /// Takes one delivery, shows what is to be read, and settles it.
    Receive(Receive),
    /// Shows a task as a tree: what each hop added, trimmed, waived and lacks, and how it was delivered.
    Trace(OfEnvelope),
    /// Checks that nothing of a task was altered.
    Verify(OfEnvelope),
    /// What waits for a person: list, show, requeue, resolve, discard.
    Parked(Parked),
    /// Agents: list, breaker, pause, resume.
    Agents(Agents),
    /// Shows queues, breakers and parked work, and says what needs a look.
    Health(Health),
    /// Writes a workspace's memories and envelopes down, as JSON Lines.
    Export(Export),
    /// Takes in what `export` wrote.
    Import(Import),
    /// Measures.
    #[command(subcommand)]
    Bench(Bench),
    #[command(hide = true)]
    /// One agent of the demonstration.
    DemoAgent(DemoAgent),
}

impl OnServer {
    /// How the server is reached, where that can be said.
    pub fn connection(&mut self) -> Option<&mut Connection> {
        Some(match self {
            Self::Store(arguments) => &mut arguments.connection,
            Self::Search(arguments) => &mut arguments.connection,
            Self::Memories(arguments) => &mut arguments.connection,
            Self::Handoff(arguments) => &mut arguments.connection,
            Self::Receive(arguments) => &mut arguments.connection,
            Self::Trace(arguments) | Self::Verify(arguments) => &mut arguments.connection,
            Self::Parked(arguments) => &mut arguments.connection,
            Self::Agents(arguments) => &mut arguments.connection,
            Self::Health(arguments) => &mut arguments.connection,
            Self::Export(arguments) => &mut arguments.connection,
            Self::Import(arguments) => &mut arguments.connection,
            Self::Bench(_) | Self::DemoAgent(_) => return None,
        })
    }
}

/// A length of time with its unit.
fn duration(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| "expected such as 60s, 2m or 1500ms")?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" | "" => number,
        "m" => number * 60.0,
        _ => return Err("expected the unit ms, s or m".to_owned()),
    };
    let length = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    let fits = length > Duration::ZERO && length <= DURATION_MAX;
    if fits { Ok(length) } else { Err("expected more than nothing, and at most 60m".to_owned()) }
}

/// Serving.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where to listen; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// Ends when no connection was open for so long; 0 is never.
    #[arg(long, value_name = "SECONDS")]
    pub idle_exit_s: Option<u64>,
    /// As a program of this machine starts it: on a free port, apart from every terminal, with its log in the data folder.
    #[arg(long, hide = true, conflicts_with = "listen")]
    pub background: bool,
    /// Lets tests move the server's clock, by `POST /v1/test/clock`. On loopback only; never with data that matters.
    #[arg(long, hide = true)]
    pub test_clock: bool,
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
