//! A server for the time of a measurement.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::command::Failure;

/// Where it listens.
pub const PORT: &str = "16399";

/// A server that does not outlive its measurement.
pub struct BenchServer(Child);

impl BenchServer {
    /// Starts it, and waits until it takes connections.
    pub fn start(command: &mut Command) -> Result<Self, Failure> {
        let name = command.get_program().display().to_string();
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = Self(child.map_err(|error| Failure::new(format!("{name}: {error}")))?);
        for _ in 0..100 {
            if std::net::TcpStream::connect(format!("127.0.0.1:{PORT}")).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Err(Failure::new(format!("{name} does not answer: is port {PORT} taken?")))
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder with nothing in it.
pub fn empty_folder(target: &Path, name: &str) -> Result<PathBuf, Failure> {
    let folder = target.join("bench").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}
