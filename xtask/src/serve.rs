//! `cargo xtask run`: the server, built and started.

use std::path::PathBuf;

use crate::command::{Failure, cargo, run, workspace};
use crate::dashboard;

/// Serves until it is stopped by Ctrl-C.
pub fn run_server(data: Option<&str>) -> Result<(), Failure> {
    dashboard::build()?;
    let data = data.map_or_else(|| workspace().join("target/run"), PathBuf::from);
    run(cargo(&["run", "--package", "memory-spine", "--", "serve", "--data"]).arg(data))
}
