//! The official Python and TypeScript clients of MCP drive whole handoffs, over HTTP and over stdio.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Failure, run, server_binary, workspace};
use crate::npm;
use crate::python;
use crate::server::{Server, fresh_folder};
use crate::suites::Scale;

fn folder() -> PathBuf {
    workspace().join("tests/mcp_clients")
}

/// Every client in every way.
pub fn suite(_: Scale) -> Result<(), Failure> {
    let program = server_binary()?;
    let python = python::with_requirements("mcp-python", &[folder().join("requirements.txt")])?;
    npm::install(&folder(), "package.json", &["install", "--no-save", "--no-package-lock"])?;
    let clients: [(&Path, &str); 2] = [(&python, "handoff.py"), (Path::new("node"), "handoff.js")];
    for (runner, script) in clients {
        over_http(runner, script)?;
        over_stdio(runner, script, &program)?;
    }
    Ok(())
}

fn over_http(runner: &Path, script: &str) -> Result<(), Failure> {
    let server = Server::start("mcp-clients-http")?;
    run(client(runner, script).args(["http", &server.url]))
}

fn over_stdio(runner: &Path, script: &str, program: &Path) -> Result<(), Failure> {
    let data = fresh_folder(&format!("mcp-clients-{script}"))?;
    run(client(runner, script).arg("stdio").arg(program).arg(data))
}

fn client(runner: &Path, script: &str) -> Command {
    let mut command = Command::new(runner);
    command.arg(folder().join(script));
    command
}
