//! A server for a suite, on data of its own.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::command::{Failure, server_binary, target_folder};

/// A server that ends with this.
pub struct Server {
    process: Child,
    /// Where it listens.
    pub url: String,
}

impl Server {
    /// Starts one on an empty folder of this name under `target/`.
    pub fn start(name: &str) -> Result<Self, Failure> {
        let (program, data) = (server_binary()?, fresh_folder(name)?);
        let serve = ["serve", "--listen", "127.0.0.1:0", "--data"];
        Self::of(Command::new(program).args(serve).arg(data))
    }

    /// Starts any program that says `ready` and where.
    pub fn of(command: &mut Command) -> Result<Self, Failure> {
        let mut process = command
            .env("MEMORY_SPINE_LOG_LEVEL", "warn")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::new(format!("the server does not start: {error}")))?;
        let mut line = String::new();
        let read = process.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        match (read, line.trim().strip_prefix("ready ")) {
            (Some(Ok(_)), Some(url)) => Ok(Self { url: url.to_owned(), process }),
            _ => Err(Failure::new(format!("the server did not get ready: {line:?}"))),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the suite has told already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A folder under `target/` with nothing in it yet.
pub fn fresh_folder(name: &str) -> Result<PathBuf, Failure> {
    let data = target_folder()?.join("tmp").join(name);
    if data.exists() {
        std::fs::remove_dir_all(&data).map_err(|error| Failure::new(error.to_string()))?;
    }
    Ok(data)
}
