//! The binary: the command line, the settings, and the one place that picks the parts.

mod allocator;
mod bridge;
mod cli;
mod command;
mod config;
mod erasures;
mod following;
mod house;
mod housekeeping;
mod limits;
mod logging;
mod outbound;
mod place;
mod telemetry;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

/// Runs the command that was typed.
pub fn main() -> ExitCode {
    allocator::keep_free_pages();
    let cli = cli::Cli::parse();
    match command::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("memory-spine: {}", terminal::foreign(&failure.to_string()));
            failure.exit_code()
        }
    }
}
