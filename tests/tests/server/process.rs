//! The server as a process of its own.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::http::{Answer, send};

const PROGRAM: &str = env!("CARGO_BIN_EXE_memory_spine");

/// A server at work, and the folder of its data.
pub struct Server {
    process: Child,
    pub address: String,
}

/// What `memory-spine` is called with.
pub fn program(data: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("--data")
        .arg(data)
        .args(arguments)
        .current_dir(data)
        .env("MEMORY_SPINE_LOG_LEVEL", "warn");
    command
}

impl Server {
    pub fn start(data: &Path) -> Self {
        Self::start_with(data, &[])
    }

    pub fn start_with(data: &Path, variables: &[(&str, &str)]) -> Self {
        Self::start_at(data, "127.0.0.1:0", variables)
    }

    pub fn start_at(data: &Path, address: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = program(data, &["serve", "--listen", address]);
        command.envs(variables.iter().copied());
        Self::of(command)
    }

    /// One that is started in a way of its own.
    pub fn of(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("ready http://").unwrap_or_else(|| panic!("{line:?}"));
        Self { address: address.to_owned(), process }
    }

    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        send(&self.address, method, path, headers, body.as_bytes())
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[], &body.to_string())
    }

    /// Resident memory in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Asks it to stop, and waits until it has.
    pub fn stop(mut self) -> std::process::ExitStatus {
        self.signal("TERM");
        self.process.wait().unwrap()
    }

    /// Takes it away without a word.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    pub fn wait(&mut self) -> std::process::ExitStatus {
        self.process.wait().unwrap()
    }
}

/// A test that fails leaves nobody serving.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
