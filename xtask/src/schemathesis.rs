//! Schemathesis over the whole description of the API: whatever it makes up, the server answers as it says.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::command::{Failure, run, server_binary, target_folder, workspace};
use crate::python;
use crate::suites::Scale;

/// What is not tried: a stream has no end, and who receives waits.
const ENDLESS: [&str; 3] = ["/v1/events", "/v1/agents/{name}/stream", "/v1/agents/{name}/receive"];
/// A key would end the time without keys, and with it the run.
const KEYS: &str = "/v1/keys";

/// Starts a server of its own and lets it be asked.
pub fn run_suite(scale: Scale) -> Result<(), Failure> {
    let folder = workspace().join("tests/schemathesis");
    let python = python::with_requirements("schemathesis", &[folder.join("requirements.txt")])?;
    let server = Server::start()?;
    let examples = if scale == Scale::Soak { "1000" } else { "20" };
    let mut command = Command::new(python);
    command.args(["-m", "schemathesis.cli", "run", "--checks", "all", "--max-examples", examples]);
    // A valid body may break a rule that a schema cannot say: a handoff needs a sender.
    command.args(["--exclude-checks", "positive_data_acceptance"]);
    for path in ENDLESS.into_iter().chain([KEYS]) {
        command.args(["--exclude-path", path]);
    }
    command.args(["--phases", "examples,coverage,fuzzing"]);
    run(command.args(["--seed", "1", &format!("{}/openapi.json", server.url)]))
}

/// A server on data of its own.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start() -> Result<Self, Failure> {
        let data = target_folder()?.join("tmp/schemathesis");
        if data.exists() {
            std::fs::remove_dir_all(&data).map_err(|error| Failure::new(error.to_string()))?;
        }
        let program = server_binary()?;
        let mut process = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .env("MEMORY_SPINE_LOG_LEVEL", "warn")
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
