//! The Python SDK: its types and tests, and the wheel that carries the server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Failure, run, server_binary, target_folder, workspace};
use crate::python;

/// Where the SDK's tests and `MemorySpine.local()` find the server.
const BINARY_VARIABLE: &str = "MEMORY_SPINE_BINARY";
/// What the build of the wheel takes the server from.
const WHEEL_BINARY_VARIABLE: &str = "MEMORY_SPINE_WHEEL_BINARY";
/// What is run in the SDK's folder, in this order.
const CHECKS: [&[&str]; 4] =
    [&["ruff", "check", "."], &["ruff", "format", "--check", "."], &["mypy"], &["pytest", "-q"]];

fn folder() -> PathBuf {
    workspace().join("sdk/python")
}

/// Lints, types and every test, with the server that cargo builds.
pub fn check() -> Result<(), Failure> {
    let (binary, python) = (server_binary()?, environment()?);
    for check in CHECKS {
        let mut command = Command::new(&python);
        command.arg("-m").args(check).current_dir(folder()).env(BINARY_VARIABLE, &binary);
        run(&mut command)?;
    }
    Ok(())
}

/// Builds the wheel, installs it where nothing else is, and runs the README's example there.
pub fn wheel() -> Result<(), Failure> {
    let dist = target_folder()?.join("wheel");
    build(&dist)?;
    let python = python::fresh("python-wheel", &[only_file(&dist)?.into()])?;
    let scripts = python.parent().unwrap_or(&dist);
    run(Command::new(scripts.join("memory-spine")).arg("--version"))?;
    let mut example = Command::new(&python);
    example.arg("-c").arg(readme_example()?).current_dir(scripts).env_remove(BINARY_VARIABLE);
    run(&mut example)
}

fn build(dist: &Path) -> Result<(), Failure> {
    // Another version's wheel may be there.
    let _ = std::fs::remove_dir_all(dist);
    let mut command = Command::new(environment()?);
    command.args(["-m", "build", "--wheel", "--outdir"]).arg(dist).arg(folder());
    run(command.env(WHEEL_BINARY_VARIABLE, server_binary()?))
}

fn environment() -> Result<PathBuf, Failure> {
    let wanted = python::read(&folder().join("pyproject.toml"))?;
    let mut package = OsString::from(folder());
    package.push("[test]");
    python::environment("python-sdk", &wanted, &["--editable".into(), package])
}

fn only_file(folder: &Path) -> Result<PathBuf, Failure> {
    let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let missing = || Failure::new(format!("there is no wheel in {}", folder.display()));
    files.next().map(|entry| entry.path()).ok_or_else(missing)
}

/// The first program of the README.
fn readme_example() -> Result<String, Failure> {
    let readme = python::read(&folder().join("README.md"))?;
    let program = readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    program.map(str::to_owned).ok_or_else(|| Failure::new("the README has no Python example"))
}
