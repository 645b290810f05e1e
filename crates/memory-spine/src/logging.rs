//! The log, on standard error: lines for people or lines of JSON.

use std::io::IsTerminal;

use tracing_subscriber::fmt;

use crate::config::{Config, LogFormat};

/// From now on, what happens is written down.
pub fn start(config: &Config) {
    let builder = fmt()
        .with_max_level(config.log_level)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match config.log_format {
        LogFormat::Text => builder.init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
}
