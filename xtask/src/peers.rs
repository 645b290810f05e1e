//! `cargo xtask bench peers`: whole handoffs here and on Redis Streams with `appendfsync always`, one after the other, by
//! clients of the same kind.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::command::{Failure, cargo, ensure_installed, output, run, target_folder};
use crate::server::{Server, fresh_folder};

const SECONDS_DEFAULT: &str = "20";
const REDIS_PORT: &str = "16399";
const REDIS_LOOKS_MAX: usize = 100;
const REDIS_LOOK_EVERY: Duration = Duration::from_millis(50);

/// Prints both rates and their ratio, for each number of handoffs at once; and what a load by the Rust client gets.
pub fn compare(arguments: &[&str]) -> Result<(), Failure> {
    let seconds = arguments.first().copied().unwrap_or(SECONDS_DEFAULT);
    ensure_installed("redis-server", "the comparison with Redis")?;
    // As each is put on a machine: Redis as its package has it.
    for (profile, program) in [("dist", "memory-spine"), ("release", "peer_load")] {
        run(&mut cargo(&["build", "--profile", profile, "--workspace", "--bin", program]))?;
    }
    let target = target_folder()?;
    let spine = target.join("dist/memory-spine");
    println!(" at once  Memory Spine  Redis always   ratio  by Rust client");
    for concurrency in ["100", "1000"] {
        let load = Load { target: &target, concurrency, seconds };
        let ours = load.on_spine(&mut Command::new(&spine))?;
        let (theirs, by_client) = (load.on_redis()?, load.by_client(&spine)?);
        let ratio = ours / theirs;
        println!("{concurrency:>8}  {ours:>12.0}  {theirs:>12.0}  {ratio:>6.2}  {by_client:>14.0}");
    }
    Ok(())
}

/// One load, whoever bears it.
pub struct Load<'a> {
    pub target: &'a Path,
    pub concurrency: &'a str,
    pub seconds: &'a str,
}

impl Load<'_> {
    /// Handoffs a second on a server of ours with empty data.
    pub fn on_spine(&self, program: &mut Command) -> Result<f64, Failure> {
        program.args(["serve", "--listen", "127.0.0.1:0", "--data"]);
        let server = Server::of(program.arg(fresh_folder("bench-spine")?))?;
        let port = server.url.rsplit_once(':').map(|(_, port)| port);
        self.by_socket("spine", port.unwrap_or_default())
    }

    fn on_redis(&self) -> Result<f64, Failure> {
        let _server = Redis::start()?;
        self.by_socket("redis", REDIS_PORT)
    }

    fn by_socket(&self, peer: &str, port: &str) -> Result<f64, Failure> {
        let mut command = Command::new(self.target.join("release/peer_load"));
        rate(command.args([peer, port, self.concurrency, self.seconds]))
    }

    fn by_client(&self, spine: &Path) -> Result<f64, Failure> {
        let duration = format!("{}s", self.seconds);
        let mut command = Command::new(spine);
        command.args(["bench", "load", "--json", "--concurrency", self.concurrency]);
        rate(command.args(["--duration", &duration]))
    }
}

/// What a load reports.
fn rate(command: &mut Command) -> Result<f64, Failure> {
    let printed = output(command)?;
    let report: Value =
        serde_json::from_slice(&printed).map_err(|error| Failure::new(error.to_string()))?;
    let rate = report.get("handoffs_per_s").and_then(Value::as_f64);
    rate.ok_or_else(|| Failure::new("the report has no handoffs_per_s"))
}

/// A Redis that does not outlive its load.
struct Redis(Child);

impl Redis {
    fn start() -> Result<Self, Failure> {
        let data = fresh_folder("bench-redis")?;
        let failure = |error: std::io::Error| Failure::new(format!("redis-server: {error}"));
        std::fs::create_dir_all(&data).map_err(failure)?;
        let mut command = Command::new("redis-server");
        command.args(["--port", REDIS_PORT, "--bind", "127.0.0.1", "--appendonly", "yes"]);
        command.args(["--appendfsync", "always", "--save", "", "--dir"]).arg(&data);
        let redis = Self(command.stdout(Stdio::null()).spawn().map_err(failure)?);
        redis.wait_until_it_listens()?;
        Ok(redis)
    }

    fn wait_until_it_listens(&self) -> Result<(), Failure> {
        for _ in 0..REDIS_LOOKS_MAX {
            if TcpStream::connect(format!("127.0.0.1:{REDIS_PORT}")).is_ok() {
                return Ok(());
            }
            std::thread::sleep(REDIS_LOOK_EVERY);
        }
        Err(Failure::new(format!("redis-server does not answer: is port {REDIS_PORT} taken?")))
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
