//! Virtual environments under `target/`, made and filled on first use.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Failure, output, run, target_folder};

/// The Python of the person who types.
pub const AT_HAND: &str = "python3";
/// The oldest Python that the checks run on.
const VERSION_MIN: (u32, u32) = (3, 11);

/// The Python of the environment with this name, that has the requirements of these files installed.
pub fn with_requirements(name: &str, files: &[PathBuf]) -> Result<PathBuf, Failure> {
    let wanted = files.iter().map(|file| read(file)).collect::<Result<String, Failure>>()?;
    let packages: Vec<OsString> =
        files.iter().flat_map(|file| ["--requirement".into(), file.into()]).collect();
    environment(AT_HAND, name, &wanted, &packages)
}

/// The Python of an environment with these packages, as pip is asked for them; made anew when what is wanted changes.
pub fn environment(
    interpreter: &str,
    name: &str,
    wanted: &str,
    packages: &[OsString],
) -> Result<PathBuf, Failure> {
    let folder = target_folder()?.join(name);
    let stamp = folder.join("installed-requirements.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python_of(&folder));
    }
    let python = fresh(interpreter, name, packages)?;
    std::fs::write(&stamp, wanted)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", stamp.display())))?;
    Ok(python)
}

/// The Python of an environment that has these packages and nothing else.
pub fn fresh(interpreter: &str, name: &str, packages: &[OsString]) -> Result<PathBuf, Failure> {
    if interpreter == AT_HAND {
        check_version()?;
    }
    let folder = target_folder()?.join(name);
    run(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(&folder))?;
    let python = python_of(&folder);
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python).args(install).args(packages))?;
    Ok(python)
}

fn python_of(environment: &Path) -> PathBuf {
    environment.join("bin/python")
}

/// What an interpreter calls itself, such as `Python 3.12.1`; nothing where there is none of this name.
pub fn version(interpreter: &Path) -> Option<String> {
    let output = Command::new(interpreter).arg("--version").output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(said)
}

/// A file as text.
pub fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("cannot read {}: {error}", file.display())))
}

fn check_version() -> Result<(), Failure> {
    let script = "import sys; print(sys.version_info[0], sys.version_info[1])";
    let printed =
        String::from_utf8(output(Command::new(AT_HAND).args(["-c", script]))?).unwrap_or_default();
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
