//! The binary: the command line, the settings, and the one place that picks the parts.

mod cli;
mod command;
mod config;
mod house;
mod housekeeping;
mod logging;

use std::process::ExitCode;

use clap::Parser;

// Half of the time of a small write went into the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the command that was typed.
pub fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match command::run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("memory-spine: {failure}");
            ExitCode::FAILURE
        }
    }
}
