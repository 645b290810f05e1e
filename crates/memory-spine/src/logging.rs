//! The log: lines for people or lines of JSON.

use std::io::IsTerminal;
use std::sync::Mutex;

use tracing::Metadata;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Config, LogFormat};
use crate::place::BoundedLog;

/// From now on, what happens is written down on standard error.
pub fn start(config: &Config) {
    begin(config, std::io::stderr().is_terminal(), std::io::stderr);
}

/// From now on, what happens is written down in a file of the data folder.
pub fn start_in_background(config: &Config) -> std::io::Result<()> {
    begin(config, false, Mutex::new(BoundedLog::open(&config.data)?));
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    Ok(())
}

fn begin<W>(config: &Config, is_coloured: bool, writer: W)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let builder = fmt()
        .with_max_level(config.log_level)
        .with_target(false)
        .with_ansi(is_coloured)
        .with_writer(writer);
    match config.log_format {
        LogFormat::Text => builder.finish().with(discreet()).init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().with(discreet()).init(),
    }
}

/// The library that speaks the Model Context Protocol writes whole messages down: they hold texts.
fn discreet() -> FilterFn {
    FilterFn::new(|of: &Metadata<'_>| !of.target().starts_with("rmcp"))
}
