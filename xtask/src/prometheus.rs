//! What is shipped under `ops/prometheus`, checked by Prometheus's own tools and by a Prometheus that uses it.

use std::process::Command;

use crate::command::{Failure, cargo, ensure_installed, run, workspace};
use crate::suites::Scale;

/// Checks and tests the rules, then lets a real Prometheus evaluate them against a real server.
pub fn suite(_: Scale) -> Result<(), Failure> {
    ensure_installed("prometheus", "the shipped rules")?;
    let folder = workspace().join("ops/prometheus");
    let promtool =
        |arguments: &[&str]| run(Command::new("promtool").current_dir(&folder).args(arguments));
    promtool(&["check", "config", "prometheus.yml"])?;
    promtool(&["check", "rules", "--lint-fatal", "rules.yml"])?;
    promtool(&["test", "rules", "rules_test.yml"])?;
    // Without the workspace cargo would build everything once more, with other features.
    let test = ["test", "--workspace", "--quiet", "--test", "server", "prometheus"];
    run(cargo(&test).args(["--", "--include-ignored"]))
}
