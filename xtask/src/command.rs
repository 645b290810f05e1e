//! Running a program, with an error that says what to do.

use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// Why a task did not succeed, for the person who typed it.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The folder of the workspace.
pub fn workspace() -> PathBuf {
    let xtask = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().map_or_else(|| xtask.clone(), PathBuf::from)
}

/// The cargo that runs this task.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace());
    // What cargo told this task of itself: build scripts that look at these would run anew each time that cargo is
    // called directly, and then by a task.
    let of_this_task = ["CARGO_PKG_", "CARGO_MANIFEST_"];
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if of_this_task.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

/// What cargo knows of the workspace.
pub fn metadata() -> Result<Value, Failure> {
    let printed = output(&mut cargo(&["metadata", "--format-version", "1", "--locked"]))?;
    serde_json::from_slice(&printed)
        .map_err(|error| Failure::new(format!("cargo metadata: {error}")))
}

/// Where cargo builds: `target/`, unless the environment or a configuration says otherwise.
pub fn target_folder() -> Result<PathBuf, Failure> {
    let metadata = metadata()?;
    let folder = metadata.get("target_directory").and_then(Value::as_str).map(PathBuf::from);
    folder.ok_or_else(|| Failure::new("cargo metadata does not name the target folder"))
}

/// Runs a program to its end; its output is the person's to see.
pub fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("failed ({status}): {}", shown(command))))
    }
}

/// Runs a program and takes what it prints.
pub fn output(command: &mut Command) -> Result<Vec<u8>, Failure> {
    command.stderr(Stdio::inherit());
    let output = command.output().map_err(|error| cannot_start(command, &error))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(Failure::new(format!("failed ({}): {}", output.status, shown(command))))
    }
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Failure {
    let program = command.get_program().to_string_lossy();
    Failure::new(format!("cannot start `{program}` ({error}): install it and try again"))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Where the tests of the SDK and of the dashboard, and `MemorySpine.local()`, find the server.
pub const BINARY_VARIABLE: &str = "MEMORY_SPINE_BINARY";

/// The server, built together with everything else: by itself cargo would build its dependencies once more, with the
/// features that it alone asks for.
pub fn server_binary() -> Result<PathBuf, Failure> {
    run(&mut cargo(&["build", "--quiet", "--workspace", "--all-targets"]))?;
    Ok(target_folder()?.join("debug/memory-spine"))
}

/// A program from the package of the same name, installed if it is missing.
pub fn ensure_installed(program: &str, needed_by: &str) -> Result<(), Failure> {
    let found = Command::new(program).arg("--version").output();
    if found.is_ok_and(|output| output.status.success()) {
        return Ok(());
    }
    println!("{program} is missing: installing it");
    let apt = |arguments: &[&str]| run(Command::new("apt-get").args(arguments).arg("--quiet"));
    apt(&["update"]).and_then(|()| apt(&["install", "--yes", program])).map_err(|failure| {
        let advice = format!("{needed_by} need {program}: install it and try again");
        Failure::new(format!("{failure}\n{advice}"))
    })
}
