//! Every suite of `cargo xtask test` and `cargo xtask soak`.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{
    Failure, cargo, ensure_installed, metadata, run as run_command, target_folder, workspace,
};
use crate::{conformance, dashboard, mcp_clients, prometheus, python, schemathesis, sdk};

/// How large the numbers are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    Normal,
    Soak,
}

type Suite = (&'static str, fn(Scale) -> Result<(), Failure>);

const SUITES: &[Suite] = &[
    // First, since the server is built with it inside.
    ("dashboard", dashboard::suite),
    ("formatting", formatting),
    ("lints", lints),
    ("tools", tools),
    ("rust", rust),
    ("description of the API", schemathesis::run_suite),
    ("prometheus", prometheus::suite),
    ("mcp conformance", conformance::suite),
    ("mcp clients", mcp_clients::suite),
    ("browser", dashboard::browser_suite),
    ("independent digests", digests),
    ("independent token counts", token_counts),
    ("independent schemas", schemas),
    ("independent signatures", signatures),
    ("python sdk", python_sdk),
    ("python wheel", python_wheel),
];

/// Runs every suite, also after one has failed, and prints what each took.
pub fn run_all(scale: Scale) -> Result<(), Failure> {
    run(SUITES.iter(), scale)
}

/// Runs the one suite of this name.
pub fn run_one(name: &str, scale: Scale) -> Result<(), Failure> {
    let names: Vec<&str> = SUITES.iter().map(|(name, _)| *name).collect();
    let suite = SUITES.iter().find(|(known, _)| *known == name);
    let suite = suite.ok_or_else(|| {
        Failure::new(format!("no suite is called {name:?}; there are: {}", names.join(", ")))
    })?;
    run([suite].into_iter(), scale)
}

fn run<'a>(suites: impl Iterator<Item = &'a Suite>, scale: Scale) -> Result<(), Failure> {
    let mut results = Vec::new();
    for (name, suite) in suites {
        println!("── {name}");
        let started = Instant::now();
        let result = suite(scale);
        if let Err(failure) = &result {
            eprintln!("{failure}");
        }
        results.push((*name, started.elapsed(), result.is_ok()));
    }
    report(&results)
}

fn report(results: &[(&str, Duration, bool)]) -> Result<(), Failure> {
    println!("── suites");
    for (name, took, passed) in results {
        println!(
            "{:>8.1} s  {}  {name}",
            took.as_secs_f64(),
            if *passed { "passed" } else { "FAILED" }
        );
    }
    let failed = results.iter().filter(|(_, _, passed)| !passed).count();
    println!("suites: {} passed, {failed} failed", results.len() - failed);
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure::new(format!("{failed} of {} suites failed", results.len())))
    }
}

fn formatting(_: Scale) -> Result<(), Failure> {
    run_command(&mut cargo(&["fmt", "--all", "--check"]))
}

fn lints(_: Scale) -> Result<(), Failure> {
    run_command(&mut cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ]))
}

/// What the crash tests record the system's calls with.
fn tools(_: Scale) -> Result<(), Failure> {
    ensure_installed("strace", "the crash tests")?;
    ensure_installed("chromium", "the tests of the dashboard")
}

fn rust(scale: Scale) -> Result<(), Failure> {
    let mut command = cargo(&["test", "--workspace", "--quiet", "--no-fail-fast"]);
    if scale == Scale::Soak {
        // Seeds and figures of a long run are worth seeing.
        command.env("SPINE_SOAK", "1").args(["--", "--nocapture"]);
    }
    run_command(&mut command)
}

/// Rooms whose results other people's libraries check, in Python.
const INDEPENDENT: &[&str] = &["spine-protocol", "spine-outbound"];

fn independent_folder(room: &str) -> PathBuf {
    workspace().join("crates").join(room).join("independent")
}

/// One environment for all of them, and the command that runs one of a room's checks.
fn independent(room: &str, check: &str) -> Result<Command, Failure> {
    let requirements = |room: &&str| independent_folder(room).join("requirements.txt");
    let files: Vec<PathBuf> = INDEPENDENT.iter().map(requirements).collect();
    let mut command = Command::new(python::with_requirements("python", &files)?);
    command.arg(independent_folder(room).join(check));
    Ok(command)
}

fn digests(_: Scale) -> Result<(), Failure> {
    run_command(&mut independent("spine-protocol", "check_digests.py")?)
}

fn schemas(_: Scale) -> Result<(), Failure> {
    run_command(&mut independent("spine-protocol", "check_schemas.py")?)
}

fn signatures(_: Scale) -> Result<(), Failure> {
    run_command(&mut independent("spine-outbound", "check_signatures.py")?)
}

fn python_sdk(scale: Scale) -> Result<(), Failure> {
    sdk::check(scale)
}

fn python_wheel(_: Scale) -> Result<(), Failure> {
    sdk::wheel()
}

fn token_counts(_: Scale) -> Result<(), Failure> {
    // The tests of assembly leave some of their renderings here.
    let sample = target_folder()?.join("tmp/renderings.jsonl");
    run_command(independent("spine-protocol", "check_tokens.py")?.arg(vocabularies()?).arg(sample))
}

/// Where the tokenizer's crate keeps the vocabularies that it was built from.
fn vocabularies() -> Result<PathBuf, Failure> {
    let metadata = metadata()?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let of_tokenizer =
        |package: &&Value| package.get("name").and_then(Value::as_str) == Some("bpe-openai");
    let package = packages.into_iter().flatten().find(of_tokenizer);
    let manifest = package.and_then(|package| package.get("manifest_path")).and_then(Value::as_str);
    let folder =
        manifest.and_then(|manifest| PathBuf::from(manifest).parent().map(|p| p.join("data")));
    folder.ok_or_else(|| Failure::new("cargo metadata does not name the crate bpe-openai"))
}
