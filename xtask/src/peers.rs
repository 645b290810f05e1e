//! `cargo xtask bench peers`: whole handoffs here and on Redis Streams with `appendfsync always`, one after the other.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::command::{Failure, cargo, ensure_installed, output, run, target_folder};

const PORT: &str = "16399";
const SECONDS_DEFAULT: &str = "20";

/// Prints both rates and their ratio, for each number of handoffs at once.
pub fn compare(arguments: &[&str]) -> Result<(), Failure> {
    let seconds = arguments.first().copied().unwrap_or(SECONDS_DEFAULT);
    ensure_installed("redis-server", "the comparison with Redis")?;
    let programs = [
        "build",
        "--release",
        "--package",
        "spine-tests",
        "--bin",
        "redis_peer",
        "--bin",
        "memory_spine",
    ];
    run(&mut cargo(&programs))?;
    let folder = target_folder()?;
    println!("{:>8}  {:>12}  {:>12}  {:>6}", "at once", "Memory Spine", "Redis always", "ratio");
    for concurrency in ["100", "1000"] {
        let ours = ours(&folder, concurrency, seconds)?;
        let theirs = theirs(&folder, concurrency, seconds)?;
        println!("{concurrency:>8}  {ours:>12.0}  {theirs:>12.0}  {:>6.2}", ours / theirs);
    }
    Ok(())
}

fn ours(folder: &Path, concurrency: &str, seconds: &str) -> Result<f64, Failure> {
    let mut command = Command::new(folder.join("release/memory_spine"));
    command.args([
        "bench",
        "load",
        "--json",
        "--concurrency",
        concurrency,
        "--duration",
        &format!("{seconds}s"),
    ]);
    rate(&mut command)
}

fn theirs(folder: &Path, concurrency: &str, seconds: &str) -> Result<f64, Failure> {
    let data = folder.join("peers/redis");
    let _ = std::fs::remove_dir_all(&data);
    std::fs::create_dir_all(&data)
        .map_err(|error| Failure::new(format!("{}: {error}", data.display())))?;
    let _server = Redis::start(&data)?;
    rate(Command::new(folder.join("release/redis_peer")).args([PORT, concurrency, seconds]))
}

fn rate(command: &mut Command) -> Result<f64, Failure> {
    let printed = output(command)?;
    let report: Value =
        serde_json::from_slice(&printed).map_err(|error| Failure::new(error.to_string()))?;
    let rate = report.get("handoffs_per_s").and_then(Value::as_f64);
    rate.ok_or_else(|| Failure::new("the report has no handoffs_per_s"))
}

/// A server that does not outlive its measurement.
struct Redis(Child);

impl Redis {
    fn start(data: &Path) -> Result<Self, Failure> {
        let settings = [
            "--port",
            PORT,
            "--bind",
            "127.0.0.1",
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            "--save",
            "",
        ];
        let mut command = Command::new("redis-server");
        command.args(settings).arg("--dir").arg(data).stdout(Stdio::null());
        let child =
            command.spawn().map_err(|error| Failure::new(format!("redis-server: {error}")))?;
        let server = Self(child);
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&self) -> Result<(), Failure> {
        for _ in 0..100 {
            if std::net::TcpStream::connect(format!("127.0.0.1:{PORT}")).is_ok() {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Err(Failure::new("redis-server does not answer: is its port taken?"))
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
