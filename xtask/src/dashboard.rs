//! The dashboard: built before the server that carries it, tested by itself and in a real browser.

use std::path::PathBuf;
use std::process::Command;

use crate::command::{BINARY_VARIABLE, Failure, run, server_binary, workspace};
use crate::npm;
use crate::suites::Scale;

const CHROMIUM: &str = "/usr/bin/chromium";
const BROWSER_TESTS: [&str; 3] = ["run", "--silent", "test:browser"];

fn folder() -> PathBuf {
    workspace().join("dashboard")
}

fn run_script(arguments: &[&str]) -> Result<(), Failure> {
    run_npm(Command::new("npm").args(arguments))
}

fn run_npm(command: &mut Command) -> Result<(), Failure> {
    run(command.current_dir(folder())).map_err(advised)
}

fn advised(failure: Failure) -> Failure {
    Failure::new(format!(
        "{failure}\nthe dashboard is built with Node.js 20.19 or newer and its npm"
    ))
}

/// Builds `dashboard/dist`, which the server takes in when it is built.
pub fn build() -> Result<(), Failure> {
    // Not `npm ci`: it refuses a lock file that was written on one platform for packages of others.
    npm::install(&folder(), "package-lock.json", &["install", "--no-save"]).map_err(advised)?;
    run_script(&["run", "--silent", "build"])
}

/// Types, unit tests, the build.
pub fn suite(_: Scale) -> Result<(), Failure> {
    build()?;
    run_script(&["test", "--silent"])
}

/// Every page and action in Debian's Chromium: against a stand-in of the API, then against real servers.
pub fn browser_suite(_: Scale) -> Result<(), Failure> {
    if !PathBuf::from(CHROMIUM).exists() && std::env::var_os("CHROMIUM").is_none() {
        return Err(Failure::new(format!(
            "{CHROMIUM} is missing: install Debian's package (apt-get install chromium), or name another in CHROMIUM"
        )));
    }
    // The server carries the page: it is built first.
    build()?;
    run_script(&BROWSER_TESTS)?;
    let binary = server_binary()?;
    run_npm(Command::new("npm").args(BROWSER_TESTS).env(BINARY_VARIABLE, binary))
}
