//! The dashboard: built before the server that carries it, tested by itself and in a real browser.

use std::path::PathBuf;
use std::process::Command;

use crate::command::{Failure, run, workspace};
use crate::suites::Scale;

const CHROMIUM: &str = "/usr/bin/chromium";

fn folder() -> PathBuf {
    workspace().join("dashboard")
}

fn npm(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("npm");
    run(command.args(arguments).current_dir(folder())).map_err(|failure| {
        Failure::new(format!(
            "{failure}\nthe dashboard is built with Node.js 20.19 or newer and its npm"
        ))
    })
}

/// Installs what the lock file names, once for each lock file.
fn install() -> Result<(), Failure> {
    let read = |name: &str| std::fs::read_to_string(folder().join(name));
    let stamp = "node_modules/.installed-lock.json";
    let wanted = read("package-lock.json")
        .map_err(|error| Failure::new(format!("dashboard/package-lock.json: {error}")))?;
    if read(stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    // Not `npm ci`: it refuses a lock file that was written on one platform for packages of others.
    npm(&["install", "--no-save", "--no-audit", "--no-fund"])?;
    std::fs::write(folder().join(stamp), wanted)
        .map_err(|error| Failure::new(format!("dashboard/{stamp}: {error}")))
}

/// Builds `dashboard/dist`, which the server takes in when it is built.
pub fn build() -> Result<(), Failure> {
    install()?;
    npm(&["run", "--silent", "build"])
}

/// Types, unit tests, the build.
pub fn suite(_: Scale) -> Result<(), Failure> {
    build()?;
    npm(&["test", "--silent"])
}

/// Every page and action in Debian's Chromium, against a stand-in of the API.
pub fn browser_suite(_: Scale) -> Result<(), Failure> {
    if !PathBuf::from(CHROMIUM).exists() && std::env::var_os("CHROMIUM").is_none() {
        return Err(Failure::new(format!(
            "{CHROMIUM} is missing: install Debian's package (apt-get install chromium), or name another in CHROMIUM"
        )));
    }
    install()?;
    npm(&["run", "--silent", "test:browser"])
}
