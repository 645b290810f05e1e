//! The Python SDK: its types and tests, and the wheel that carries the server.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{BINARY_VARIABLE, Failure, run, server_binary, target_folder, workspace};
use crate::python;
use crate::suites::Scale;

/// What the build of the wheel takes the server from.
const WHEEL_BINARY_VARIABLE: &str = "MEMORY_SPINE_WHEEL_BINARY";
/// What is run in the SDK's folder, in this order, before its tests.
const CHECKS: [&[&str]; 3] =
    [&["ruff", "check", "."], &["ruff", "format", "--check", "."], &["mypy"]];
const TESTS: &[&str] = &["pytest", "-q"];
/// The Pythons that the SDK is for.
const INTERPRETERS: [&str; 4] = ["python3.10", "python3.11", "python3.12", "python3.13"];

fn folder() -> PathBuf {
    workspace().join("sdk/python")
}

/// Lints, types and every test, with the server that cargo builds: on the Python at hand, in a long run on every one
/// that is here.
pub fn check(scale: Scale) -> Result<(), Failure> {
    let (binary, python) = (server_binary()?, environment(python::AT_HAND)?);
    for check in CHECKS {
        run(&mut module(&python, check))?;
    }
    match scale {
        Scale::Normal => test_on(&python, &binary),
        Scale::Soak => INTERPRETERS.iter().try_for_each(|name| test_if_here(name, &binary)),
    }
}

fn test_if_here(interpreter: &str, binary: &Path) -> Result<(), Failure> {
    if python::version(Path::new(interpreter)).is_some() {
        return test_on(&environment(interpreter)?, binary);
    }
    println!("{interpreter} is not here: the SDK is not tried on it");
    Ok(())
}

fn test_on(python: &Path, binary: &Path) -> Result<(), Failure> {
    println!("the SDK on {}", python::version(python).unwrap_or_default());
    run(module(python, TESTS).env(BINARY_VARIABLE, binary))
}

fn module(python: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.arg("-m").args(arguments).current_dir(folder());
    command
}

/// Builds the wheel, installs it where nothing else is, and runs the README's example there.
pub fn wheel() -> Result<(), Failure> {
    let dist = target_folder()?.join("wheel");
    build(&dist)?;
    let python = python::fresh(python::AT_HAND, "python-wheel", &[only_file(&dist)?.into()])?;
    let scripts = python.parent().unwrap_or(&dist);
    run(Command::new(scripts.join("memory-spine")).arg("--version"))?;
    let mut example = Command::new(&python);
    example.arg("-c").arg(readme_example()?).current_dir(scripts).env_remove(BINARY_VARIABLE);
    run(&mut example)
}

fn build(dist: &Path) -> Result<(), Failure> {
    // Another version's wheel may be there.
    let _ = std::fs::remove_dir_all(dist);
    let mut command = Command::new(environment(python::AT_HAND)?);
    command.args(["-m", "build", "--wheel", "--outdir"]).arg(dist).arg(folder());
    run(command.env(WHEEL_BINARY_VARIABLE, server_binary()?))
}

fn environment(interpreter: &str) -> Result<PathBuf, Failure> {
    let wanted = python::read(&folder().join("pyproject.toml"))?;
    let mut package = OsString::from(folder());
    package.push("[test]");
    let name = format!("{interpreter}-sdk");
    python::environment(interpreter, &name, &wanted, &["--editable".into(), package])
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
