//! What each command does.

mod backup;
mod doctor;
mod keys;
mod serve;
mod show_config;

use std::path::Path;

use crate::cli::{Cli, Task};
use crate::config::{Config, ConfigError, Layers};

/// Why a command did not succeed: a line for the person who typed it.
pub type Failure = Box<dyn std::error::Error>;

const FILE: &str = "memory-spine.toml";
const FILE_VARIABLE: &str = "MEMORY_SPINE_CONFIG";

/// Runs a command.
pub fn run(cli: Cli) -> Result<(), Failure> {
    let layers = layers(&cli)?;
    match &cli.task {
        Task::Serve(_) => serve::serve(&Config::from_layers(&layers)?),
        Task::Config(arguments) => show_config::show(&layers, arguments),
        Task::Keys(keys) => keys::run(&Config::from_layers(&layers)?, keys),
        Task::Backup(arguments) => backup::backup(&Config::from_layers(&layers)?, arguments),
        Task::Doctor => doctor::examine(&layers),
    }
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
