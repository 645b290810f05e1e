//! The official Python and TypeScript clients of MCP drive whole handoffs, over HTTP and over stdio.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Failure, run, server_binary, workspace};
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
    install()?;
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

/// Installs what `package.json` names, once for each version of it.
fn install() -> Result<(), Failure> {
    let read = |name: &str| std::fs::read_to_string(folder().join(name));
    let stamp = "node_modules/.installed-package.json";
    let wanted = python::read(&folder().join("package.json"))?;
    if read(stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let arguments = ["install", "--no-save", "--no-audit", "--no-fund", "--no-package-lock"];
    run(Command::new("npm").args(arguments).current_dir(folder()))?;
    std::fs::write(folder().join(stamp), wanted)
        .map_err(|error| Failure::new(format!("tests/mcp_clients/{stamp}: {error}")))
}
