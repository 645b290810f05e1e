//! What each command does.

mod agents;
mod backup;
mod bench;
mod body;
mod demo;
mod doctor;
mod failure;
mod handoff;
mod keys;
mod memory;
mod parked;
mod receive;
mod serve;
mod show_config;
mod trace;
mod transfer;

use std::path::Path;

use clap::CommandFactory;

use crate::cli::{Bench, Cli, OnServer, Task};
use crate::config::{Config, ConfigError, Layers};

pub use failure::Failure;

const FILE: &str = "memory-spine.toml";
const FILE_VARIABLE: &str = "MEMORY_SPINE_CONFIG";

/// Runs a command.
pub fn run(cli: Cli) -> Result<(), Failure> {
    match &cli.task {
        Task::OnServer(task) => ask_server(task),
        Task::Demo(arguments) => demo::play(arguments, cli.data.as_deref()),
        Task::Completions { shell } => complete(*shell),
        Task::Serve(_) => serve::serve(&Config::from_layers(&layers(&cli)?)?),
        Task::Config(arguments) => show_config::show(&layers(&cli)?, arguments),
        Task::Keys(keys) => keys::run(&Config::from_layers(&layers(&cli)?)?, keys),
        Task::Backup(arguments) => backup::backup(&Config::from_layers(&layers(&cli)?)?, arguments),
        Task::Doctor => doctor::examine(&layers(&cli)?),
    }
}

fn ask_server(task: &OnServer) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match task {
            OnServer::Store(arguments) => memory::store(arguments).await,
            OnServer::Search(arguments) => memory::search(arguments).await,
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
    let named = cli.config.clone().or_else(|| std::env::var_os(FILE_VARIABLE).map(Into::into));
    let mut layers = Layers::defaults()?;
    match named {
        Some(path) => layers = layers.with_file_at(&path)?,
        None if Path::new(FILE).exists() => layers = layers.with_file_at(Path::new(FILE))?,
        None => {}
    }
    let readable = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    layers.with_variables(readable)?.with_flags(flags(cli))
}

fn flags(cli: &Cli) -> impl Iterator<Item = (&'static str, String)> {
    let data = cli.data.as_ref().map(|data| ("data", data.display().to_string()));
    let listen = match &cli.task {
        Task::Serve(serve) => serve.listen.clone().map(|listen| ("listen", listen)),
        _ => None,
    };
    data.into_iter().chain(listen)
}
