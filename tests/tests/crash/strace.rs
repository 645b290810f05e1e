//! Running the writer under strace, which records its system calls or makes them fail.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a command line to its end, and its threads with it.
pub fn strace(options: &[&str], log: &Path, command: &[String]) -> Output {
    let mut strace = Command::new("strace");
    // Paths instead of numbers for open files, all bytes as hexadecimal digits and none left out.
    strace.args(["-f", "-y", "-xx", "-s", "10000000", "-o"]).arg(log).args(options).args(command);
    strace.output().unwrap_or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => panic!("this test needs strace: apt-get install strace"),
        _ => panic!("strace: {error}"),
    })
}
