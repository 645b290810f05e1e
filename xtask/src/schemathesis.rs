//! Schemathesis over the whole description of the API: whatever it makes up, the server answers as it says.

use std::process::Command;

use crate::command::{Failure, run, workspace};
use crate::python;
use crate::server::Server;
use crate::suites::Scale;

/// What is not tried: a stream has no end, and who receives waits.
const ENDLESS: [&str; 3] = ["/v1/events", "/v1/agents/{name}/stream", "/v1/agents/{name}/receive"];
/// A key would end the time without keys, and with it the run.
const KEYS: &str = "/v1/keys";

/// Starts a server of its own and lets it be asked.
pub fn run_suite(scale: Scale) -> Result<(), Failure> {
    let folder = workspace().join("tests/schemathesis");
    let python = python::with_requirements("schemathesis", &[folder.join("requirements.txt")])?;
    let server = Server::start("schemathesis")?;
    let examples = if scale == Scale::Soak { "1000" } else { "20" };
    let mut command = Command::new(python);
    command.env("PYTHONPATH", &folder).env("SCHEMATHESIS_HOOKS", "hooks");
    command.args(["-m", "schemathesis.cli", "run", "--checks", "all", "--max-examples", examples]);
    // A valid body may break a rule that a schema cannot say: a handoff needs a sender.
    command.args(["--exclude-checks", "positive_data_acceptance"]);
    for path in ENDLESS.into_iter().chain([KEYS]) {
        command.args(["--exclude-path", path]);
    }
    command.args(["--phases", "examples,coverage,fuzzing"]);
    run(command.args(["--seed", "1", &format!("{}/openapi.json", server.url)]))
}
