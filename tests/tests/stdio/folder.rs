//! A data folder, and the server that comes and goes on it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_memory_spine");
/// Machines that run tests are busy.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Long enough that no server ends by itself while a test runs.
const IDLE_S: u64 = 60;

/// A folder of its own for one test.
pub struct Folder {
    pub path: tempfile::TempDir,
    idle_s: u64,
}

impl Folder {
    pub fn new() -> Self {
        Self::with_idle_s(IDLE_S)
    }

    pub fn with_idle_s(idle_s: u64) -> Self {
        Self { path: tempfile::tempdir().unwrap(), idle_s }
    }

    pub fn data(&self) -> &Path {
        self.path.path()
    }

    /// The program on this folder, free of the settings of whoever runs the tests.
    pub fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        let ours = std::env::vars_os().map(|(name, _)| name);
        for name in ours.filter(|name| name.to_string_lossy().starts_with("MEMORY_SPINE_")) {
            command.env_remove(name);
        }
        command.env("MEMORY_SPINE_IDLE_EXIT_S", self.idle_s.to_string());
        command.arg("--data").arg(self.data()).args(arguments).current_dir(self.data());
        command
    }

    /// What the server left for those who look for it.
    pub fn address(&self) -> Option<Value> {
        let text = std::fs::read(self.data().join("server.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub fn server_pid(&self) -> u32 {
        let pid = self.address().expect("a server has left its address")["pid"].as_u64().unwrap();
        u32::try_from(pid).unwrap()
    }

    /// SIGKILL: nothing of it can say goodbye.
    pub fn kill_server(&self) {
        let pid = self.server_pid();
        kill(pid);
        eventually("the server is gone", || !is_running(pid));
    }

    /// Servers that have got ready on this folder so far.
    pub fn starts(&self) -> usize {
        let log = std::fs::read_to_string(self.data().join("server.log")).unwrap();
        log.lines().filter(|line| line.contains(" ready ") || line.ends_with(" ready")).count()
    }
}

/// A test leaves nobody serving.
impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(pid) = self.address().and_then(|address| address["pid"].as_u64()) {
            kill(u32::try_from(pid).unwrap());
        }
    }
}

pub fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-s", "KILL", &pid.to_string()]).output();
}

/// A zombie runs no more: whoever started it may be slow to take note.
pub fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z' && state != 'X')
}

/// Waits for what must come to be.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "this did not happen in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
