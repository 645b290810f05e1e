//! The program, a server for it, and what it printed with everything masked that differs from run to run.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use regex::Regex;

const PROGRAM: &str = env!("CARGO_BIN_EXE_memory_spine");

/// The program, free of the settings of whoever runs the tests.
pub fn program() -> Command {
    let mut command = Command::new(PROGRAM);
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.to_string_lossy().starts_with("MEMORY_SPINE_")) {
        command.env_remove(name);
    }
    command.env_remove("NO_COLOR");
    command
}

/// What came of a command.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Everything, masked.
    pub fn shown(&self) -> String {
        let part = |name: &str, text: &str| match text {
            "" => String::new(),
            text => format!("--- {name}\n{}\n", text.trim_end()),
        };
        let all =
            format!("exit {}\n{}{}", self.code, part("out", &self.out), part("err", &self.err));
        masked(&all)
    }
}

pub fn ran(command: &mut Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read is none the worse for it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Ids, times, leases, ports and durations differ from run to run.
pub fn masked(text: &str) -> String {
    let masks = [
        (r"(env|dlv|pub)_[0-9A-Z]{26}", "${1}_…"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME"),
        (r"sha256:[0-9a-f]{64}", "sha256:…"),
        (r"--lease \S+", "--lease TOKEN"),
        (r#""lease": "[^"]+""#, r#""lease": "TOKEN""#),
        (r#""salt": "[^"]+""#, r#""salt": "…""#),
        (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
        (r"after \d+ ms", "after N ms"),
        (r"process \d+", "process N"),
        (r"/tmp/\.tmp\w+", "FOLDER"),
        (r"  \d\.\d\d(  |\n)", "  SCORE$1"),
        (r#""score": [0-9.]+"#, r#""score": SCORE"#),
    ];
    masks.iter().fold(text.to_owned(), |text, (pattern, mask)| {
        Regex::new(pattern).unwrap().replace_all(&text, *mask).into_owned()
    })
}

/// A server on a folder of its own.
pub struct House {
    pub folder: tempfile::TempDir,
    pub endpoint: String,
    server: Child,
}

impl House {
    pub fn open() -> Self {
        Self::open_with(|_| ())
    }

    /// In a folder that is made ready before.
    pub fn open_with(prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        let (server, endpoint) = serve(folder.path());
        Self { folder, endpoint, server }
    }

    /// Runs the program against the server.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    pub fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = program();
        command.args(arguments).env("MEMORY_SPINE_ENDPOINT", &self.endpoint);
        command.current_dir(self.folder.path());
        ran(&mut command, input)
    }

    /// Runs it, and takes a part of what it says in JSON.
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    }

    /// Hands work over, and gives the id of its envelope.
    pub fn hand_off(&self, arguments: &[&str]) -> String {
        let sent = self.json(&[&["handoff"], arguments].concat());
        sent["handoff"]["id"].as_str().unwrap().to_owned()
    }
}

fn serve(data: &Path) -> (Child, String) {
    let mut command = program();
    command.arg("--data").arg(data).args(["serve", "--listen", "127.0.0.1:0"]).current_dir(data);
    command.env("MEMORY_SPINE_LOG_LEVEL", "error").stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let endpoint =
        line.trim().strip_prefix("ready ").unwrap_or_else(|| panic!("{line:?}")).to_owned();
    (server, endpoint)
}

/// A test that fails leaves nobody serving.
impl Drop for House {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
