//! `cargo xtask run`: the server, built and started.

use std::path::Path;

use crate::command::{Failure, cargo, run, target_folder};
use crate::dashboard;

const ADDRESS: &str = "127.0.0.1:8788";

/// Plays the demonstration on a new server and leaves it up until Ctrl-C.
pub fn run_demo() -> Result<(), Failure> {
    let data = target_folder()?.join("run");
    if data.exists() {
        let said = |error| Failure::new(format!("{}: {error}", data.display()));
        std::fs::remove_dir_all(&data).map_err(said)?;
    }
    dashboard::build()?;
    run(memory_spine(&data).args(["demo", "--listen", ADDRESS]))
}

/// Serves the data of a folder until Ctrl-C.
pub fn run_server(data: &str) -> Result<(), Failure> {
    dashboard::build()?;
    run(memory_spine(Path::new(data)).args(["serve", "--listen", ADDRESS]))
}

fn memory_spine(data: &Path) -> std::process::Command {
    let mut command = cargo(&["run", "--quiet", "--package", "memory-spine", "--", "--data"]);
    command.arg(data);
    command
}
