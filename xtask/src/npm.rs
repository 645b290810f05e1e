//! What Node.js needs, installed by npm.

use std::path::Path;
use std::process::Command;

use crate::command::{Failure, run};
use crate::python;

/// Installs what a file of a folder names, once for each version of that file.
pub fn install(folder: &Path, named_in: &str, arguments: &[&str]) -> Result<(), Failure> {
    let known = named_in.trim_start_matches("package-");
    let stamp = folder.join(format!("node_modules/.installed-{known}"));
    let wanted = python::read(&folder.join(named_in))?;
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    run(npm.args(arguments).args(["--no-audit", "--no-fund"]).current_dir(folder))?;
    std::fs::write(&stamp, wanted)
        .map_err(|error| Failure::new(format!("{}: {error}", stamp.display())))
}
