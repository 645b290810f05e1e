//! A server in the background: a process of its own that no terminal takes with it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::BoundedLog;

/// Who speaks to the server is none of the server's business; least of all with which key.
const OF_THE_CALLER: [&str; 4] = [
    "MEMORY_SPINE_ENDPOINT",
    "MEMORY_SPINE_API_KEY",
    "MEMORY_SPINE_WORKSPACE",
    "MEMORY_SPINE_AGENT",
];

/// Starts one on a folder. It ends by itself when another has the folder open.
pub fn start(data: &Path, settings: Option<&PathBuf>) -> std::io::Result<Child> {
    // What agents remember is its owner's alone.
    DirBuilder::new().recursive(true).mode(0o700).create(data)?;
    let log = BoundedLog::open(data)?.into_file();
    let mut command = Command::new(std::env::current_exe()?);
    if let Some(settings) = settings {
        command.arg("--config").arg(settings);
    }
    OF_THE_CALLER.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.arg("--data").arg(data).args(["serve", "--background"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()
}

/// Leaves the terminal and the group of whoever started this process: their end is not its own.
pub fn detach() {
    // It fails for the leader of a group, who was started by a shell as a job of its own.
    let _ = rustix::process::setsid();
}

/// Its end is taken note of, whenever that is, so that it leaves nothing behind in the table of processes.
pub fn let_go(mut child: Child) {
    std::thread::spawn(move || child.wait());
}
