//! What each command does.

mod agents;
mod backup;
mod bench;
mod body;
mod demo;
mod doctor;
mod each;
mod failure;
mod handoff;
mod inbox;
mod keys;
mod mcp;
mod memories;
mod memory;
mod parked;
mod receive;
mod serve;
mod show_config;
mod trace;
mod transfer;

use std::path::{Path, PathBuf};

use clap::CommandFactory;

use crate::cli::{Bench, Cli, OnServer, Task};
use crate::config::{Config, ConfigError, Layers};
use crate::place::{Address, Seek, shared_folder};

pub use failure::{Exit, Failure};

const FILE: &str = "memory-spine.toml";
const FILE_VARIABLE: &str = "MEMORY_SPINE_CONFIG";

/// Runs a command.
pub fn run(mut cli: Cli) -> Result<(), Failure> {
    if let (Task::OnServer(task), Some(data)) = (&mut cli.task, &cli.data) {
        mean_server_of(data, task);
    }
    match &cli.task {
        Task::OnServer(task) => ask_server(task),
        Task::Demo(arguments) => demo::play(arguments, cli.data.as_deref()),
        Task::Completions { shell } => complete(*shell),
        Task::Serve(arguments) => serve::serve(Config::from_layers(&layers(&cli)?)?, arguments),
        Task::Mcp(arguments) => mcp::bridge(arguments, &cli),
        Task::Inbox(arguments) => inbox::show(arguments, &cli),
        Task::Config(arguments) => show_config::show(&layers(&cli)?, arguments),
        Task::Keys(keys) => keys::run(&Config::from_layers(&layers(&cli)?)?, keys),
        Task::Backup(arguments) => backup::backup(&Config::from_layers(&layers(&cli)?)?, arguments),
        Task::Doctor => doctor::examine(&layers(&cli)?),
    }
}

/// A folder on the command line means the server that has it open.
fn mean_server_of(data: &Path, task: &mut OnServer) {
    if let (Some(connection), Some(address)) = (task.connection(), Address::read(data)) {
        connection.endpoint.get_or_insert(address.url);
    }
}

fn ask_server(task: &OnServer) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match task {
            OnServer::Store(arguments) => memory::store(arguments).await,
            OnServer::Search(arguments) => memory::search(arguments).await,
            OnServer::Memories(arguments) => memories::run(arguments).await,
            OnServer::Handoff(arguments) => handoff::hand_off(arguments).await,
            OnServer::Receive(arguments) => receive::receive(arguments).await,
            OnServer::Trace(arguments) => trace::trace(arguments).await,
            OnServer::Verify(arguments) => trace::verify(arguments).await,
            OnServer::Parked(arguments) => parked::review(arguments).await,
            OnServer::Agents(arguments) => agents::run(arguments).await,
            OnServer::Health(arguments) => agents::health(arguments).await,
            OnServer::Export(arguments) => transfer::export(arguments).await,
            OnServer::Import(arguments) => transfer::import(arguments).await,
            OnServer::Bench(Bench::Load(arguments)) => bench::load(arguments).await,
            OnServer::DemoAgent(arguments) => demo::act(arguments).await,
        }
    })
}

fn complete(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut command = Cli::command();
    clap_complete::generate(shell, &mut command, "memory-spine", &mut std::io::stdout());
    Ok(())
}

fn layers(cli: &Cli) -> Result<Layers, ConfigError> {
    let mut layers = Layers::defaults()?;
    if let Some(path) = settings_file(cli) {
        layers = layers.with_file_at(&path)?;
    }
    let readable = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    layers.with_variables(readable)?.with_flags(flags(cli))
}

/// The one that is named, else the one of this folder.
fn settings_file(cli: &Cli) -> Option<PathBuf> {
    let named = cli.config.clone().or_else(|| std::env::var_os(FILE_VARIABLE).map(Into::into));
    named.or_else(|| Path::new(FILE).exists().then(|| FILE.into()))
}

/// The folder of whoever shares it: the one that was named anywhere, else one for all of this machine's agents.
fn seek(cli: &Cli) -> Result<Seek, Failure> {
    let layers = layers(cli)?;
    let data = if layers.is_default("data") {
        shared_folder()?
    } else {
        PathBuf::from(layers.text("data")?)
    };
    let settings = settings_file(cli).map(std::path::absolute).transpose()?;
    Ok(Seek { data: std::path::absolute(data)?, settings })
}

fn flags(cli: &Cli) -> impl Iterator<Item = (&'static str, String)> {
    let data = cli.data.as_ref().map(|data| ("data", data.display().to_string()));
    let (listen, idle) = match &cli.task {
        Task::Serve(serve) => (serve.listen.clone(), serve.idle_exit_s),
        _ => (None, None),
    };
    let listen = listen.map(|listen| ("listen", listen));
    let idle = idle.map(|seconds| ("idle_exit_s", seconds.to_string()));
    data.into_iter().chain(listen).chain(idle)
}
