//! What each command does.

mod agents;
mod backup;
mod bench;
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
use serde_json::Value;

use crate::cli::{Bench, Cli, Task};
use crate::config::{Config, ConfigError, Layers};

pub use failure::Failure;

const FILE: &str = "memory-spine.toml";
const FILE_VARIABLE: &str = "MEMORY_SPINE_CONFIG";

/// Runs a command.
pub fn run(cli: Cli) -> Result<(), Failure> {
    if let Task::Completions { shell } = cli.task {
        return complete(shell);
    }
    if let Some(done) = run_on_server(&cli) {
        return done;
    }
    let layers = layers(&cli)?;
    match &cli.task {
        Task::Serve(_) => serve::serve(&Config::from_layers(&layers)?),
        Task::Config(arguments) => show_config::show(&layers, arguments),
        Task::Keys(keys) => keys::run(&Config::from_layers(&layers)?, keys),
        Task::Backup(arguments) => backup::backup(&Config::from_layers(&layers)?, arguments),
        Task::Demo(arguments) => demo::play(arguments, cli.data.as_deref()),
        _ => doctor::examine(&layers),
    }
}

/// The commands that ask a server, and need no settings of one.
fn run_on_server(cli: &Cli) -> Option<Result<(), Failure>> {
    let work = async {
        Some(match &cli.task {
            Task::Store(arguments) => memory::store(arguments).await,
            Task::Search(arguments) => memory::search(arguments).await,
            Task::Handoff(arguments) => handoff::hand_off(arguments).await,
            Task::Receive(arguments) => receive::receive(arguments).await,
            Task::Trace(arguments) => trace::trace(arguments).await,
            Task::Verify(arguments) => trace::verify(arguments).await,
            Task::Parked(arguments) => parked::review(arguments).await,
            Task::Agents(arguments) => agents::run(arguments).await,
            Task::Health(arguments) => agents::health(arguments).await,
            Task::Export(arguments) => transfer::export(arguments).await,
            Task::Import(arguments) => transfer::import(arguments).await,
            Task::DemoAgent(arguments) => demo::act(arguments).await,
            Task::Bench(Bench::Load(arguments)) => bench::load(arguments).await,
            _ => return None,
        })
    };
    match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => Some(Err(error.into())),
    }
}

fn complete(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut command = Cli::command();
    clap_complete::generate(shell, &mut command, "memory-spine", &mut std::io::stdout());
    Ok(())
}

/// What was typed, as JSON if it is.
fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
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
