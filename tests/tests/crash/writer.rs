//! The writer as a process of its own: started, listened to, killed.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use spine_tests::Ack;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_spine_writer");

/// A writer at work.
pub struct Writer {
    process: Child,
    lines: BufReader<ChildStdout>,
}

/// The command line of a writer, to be run as it is or under a tracer.
pub fn write_command(folder: &Path, threads: usize, settings: &[&str]) -> Vec<String> {
    let command =
        [PROGRAM, "write", folder.to_str().unwrap(), &threads.to_string()].map(str::to_owned);
    command.into_iter().chain(settings.iter().map(|setting| (*setting).to_owned())).collect()
}

impl Writer {
    pub fn start(folder: &Path, threads: usize, settings: &[&str]) -> Self {
        let command = write_command(folder, threads, settings);
        let mut started = Command::new(&command[0]);
        let mut process = started.args(&command[1..]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        Self { process, lines }
    }

    /// Lets it run to its end.
    pub fn run(folder: &Path, threads: usize, settings: &[&str]) -> Said {
        let mut writer = Self::start(folder, threads, settings);
        let mut said = Vec::new();
        writer.lines.read_to_end(&mut said).unwrap();
        writer.process.wait().unwrap();
        Said::parse(&said)
    }

    /// Waits until the writer has acknowledged so many writes.
    pub fn acks(&mut self, count: usize) -> Vec<Ack> {
        let lines = self.lines.by_ref().lines().take(count);
        let acks: Vec<Ack> = lines.map(|line| line.unwrap().parse().unwrap()).collect();
        assert_eq!(acks.len(), count, "the writer ended by itself");
        acks
    }

    /// Ends it as a crash would, and gives what it had acknowledged up to then.
    pub fn kill(mut self) -> Vec<Ack> {
        self.process.kill().unwrap();
        self.lines.by_ref().lines().map(|line| line.unwrap().parse().unwrap()).collect()
    }
}

/// A test that fails leaves nobody writing.
impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Lets another process reopen the store and compare: nothing of this one can help it. Gives what it said.
pub fn assert_clean(folder: &Path, acknowledged: &[Ack]) -> String {
    let mut command = Command::new(PROGRAM);
    command.args(["verify", folder.to_str().unwrap()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
    let lines: String = acknowledged.iter().map(|ack| format!("{ack}\n")).collect();
    process.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let Output { status, stdout, stderr } = process.wait_with_output().unwrap();
    let said = String::from_utf8([stdout, stderr].concat()).unwrap();
    assert!(status.success(), "{}: {said}", folder.display());
    said
}

/// What a writer said that ran to its end: first acknowledgements, then errors.
pub struct Said {
    pub acks: Vec<Ack>,
    pub errors: Vec<String>,
}

impl Said {
    /// Fails on an acknowledgement behind an error: it came from a store that had failed.
    pub fn parse(stdout: &[u8]) -> Self {
        let lines: Vec<&str> = str::from_utf8(stdout).unwrap().lines().collect();
        let is_error = |line: &&str| line.starts_with("error ");
        let acks = lines.iter().take_while(|line| !is_error(line));
        let acks: Vec<Ack> = acks.map(|line| line.parse().unwrap()).collect();
        let errors = lines[acks.len()..].iter().map(|line| {
            line.strip_prefix("error ")
                .unwrap_or_else(|| panic!("{line:?} behind an error"))
                .to_owned()
        });
        Self { errors: errors.collect(), acks }
    }
}
