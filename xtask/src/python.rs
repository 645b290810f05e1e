//! A virtual environment in the target folder, made and filled on first use.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Failure, output, run, target_folder};

/// The oldest Python that the checks run on.
const VERSION_MIN: (u32, u32) = (3, 11);

/// The Python of the environment with this name, that has the requirements of these files installed.
pub fn with_requirements(name: &str, files: &[PathBuf]) -> Result<PathBuf, Failure> {
    let wanted = files.iter().map(|file| read(file)).collect::<Result<String, Failure>>()?;
    let environment = target_folder()?.join(name);
    let python = environment.join("bin/python");
    let stamp = environment.join("installed-requirements.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    check_version()?;
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    let requirements =
        files.iter().flat_map(|file| [OsStr::new("--requirement"), file.as_os_str()]);
    run(Command::new(&python).args(install).args(requirements))?;
    std::fs::write(&stamp, wanted)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", stamp.display())))?;
    Ok(python)
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))
}

fn check_version() -> Result<(), Failure> {
    let script = "import sys; print(sys.version_info[0], sys.version_info[1])";
    let printed = String::from_utf8(output(Command::new("python3").args(["-c", script]))?)
        .unwrap_or_default();
    let numbers: Vec<u32> =
        printed.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers.as_slice() {
        [major, minor] if (*major, *minor) >= VERSION_MIN => Ok(()),
        _ => Err(Failure::new(format!(
            "python3 is version {}, the checks need {}.{} or newer: install it and try again",
            printed.trim().replace(' ', "."),
            VERSION_MIN.0,
            VERSION_MIN.1
        ))),
    }
}
