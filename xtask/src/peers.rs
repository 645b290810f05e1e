//! `cargo xtask bench peers`: whole handoffs here and on Redis Streams with `appendfsync always`, one after the other, by
//! clients of the same kind.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::bench_server::{BenchServer, PORT, empty_folder};
use crate::command::{Failure, cargo, ensure_installed, output, run, target_folder};

const SECONDS_DEFAULT: &str = "20";

/// Prints both rates and their ratio, for each number of handoffs at once; and what a load by the Rust client gets.
pub fn compare(arguments: &[&str]) -> Result<(), Failure> {
    let seconds = arguments.first().copied().unwrap_or(SECONDS_DEFAULT);
    ensure_installed("redis-server", "the comparison with Redis")?;
    // As each is put on a machine: Redis as its package has it.
    for (profile, program) in [("dist", "memory-spine"), ("release", "peer_load")] {
        run(&mut cargo(&["build", "--profile", profile, "--workspace", "--bin", program]))?;
    }
    let target = target_folder()?;
    println!(" at once  Memory Spine  Redis always   ratio  by Rust client");
    for concurrency in ["100", "1000"] {
        let load = Load { target: &target, concurrency, seconds };
        let (ours, theirs, by_client) = (load.ours()?, load.theirs()?, load.by_client()?);
        let ratio = ours / theirs;
        println!("{concurrency:>8}  {ours:>12.0}  {theirs:>12.0}  {ratio:>6.2}  {by_client:>14.0}");
    }
    Ok(())
}

/// One load, whoever bears it.
struct Load<'a> {
    target: &'a Path,
    concurrency: &'a str,
    seconds: &'a str,
}

impl Load<'_> {
    fn ours(&self) -> Result<f64, Failure> {
        let data = empty_folder(self.target, "spine")?;
        let mut command = Command::new(self.target.join("dist/memory-spine"));
        command.args(["serve", "--listen", &format!("127.0.0.1:{PORT}"), "--data"]).arg(&data);
        let _server = BenchServer::start(&mut command)?;
        self.by_socket("spine")
    }

    fn theirs(&self) -> Result<f64, Failure> {
        let data = empty_folder(self.target, "redis")?;
        let mut command = Command::new("redis-server");
        command.args(["--port", PORT, "--bind", "127.0.0.1", "--appendonly", "yes"]);
        command.args(["--appendfsync", "always", "--save", "", "--dir"]).arg(&data);
        let _server = BenchServer::start(&mut command)?;
        self.by_socket("redis")
    }

    fn by_socket(&self, peer: &str) -> Result<f64, Failure> {
        let mut command = Command::new(self.target.join("release/peer_load"));
        rate(command.args([peer, PORT, self.concurrency, self.seconds]))
    }

    fn by_client(&self) -> Result<f64, Failure> {
        let duration = format!("{}s", self.seconds);
        let mut command = Command::new(self.target.join("dist/memory-spine"));
        command.args(["bench", "load", "--json", "--concurrency", self.concurrency]);
        rate(command.args(["--duration", &duration]))
    }
}

/// What a load reports.
pub fn rate(command: &mut Command) -> Result<f64, Failure> {
    let printed = output(command)?;
    let report: Value =
        serde_json::from_slice(&printed).map_err(|error| Failure::new(error.to_string()))?;
    let rate = report.get("handoffs_per_s").and_then(Value::as_f64);
    rate.ok_or_else(|| Failure::new("the report has no handoffs_per_s"))
}
