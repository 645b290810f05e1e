//! The log, on standard error: lines for people or lines of JSON.

use std::io::IsTerminal;

use tracing::Metadata;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Config, LogFormat};

/// From now on, what happens is written down.
pub fn start(config: &Config) {
    let builder = fmt()
        .with_max_level(config.log_level)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match config.log_format {
        LogFormat::Text => builder.finish().with(discreet()).init(),
        LogFormat::Json => builder.json().flatten_event(true).finish().with(discreet()).init(),
    }
}

/// The library that speaks the Model Context Protocol writes whole messages down: they hold texts.
fn discreet() -> FilterFn {
    FilterFn::new(|of: &Metadata<'_>| !of.target().starts_with("rmcp"))
}
