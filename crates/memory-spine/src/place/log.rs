//! The log of a server that no terminal belongs to: a file that does not grow without end.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::limits::LOG_BYTES_MAX;

const FILE: &str = "server.log";
const FILE_BEFORE: &str = "server.log.1";

/// A file that begins anew when it is full; what was in it is kept beside it, once.
pub struct BoundedLog {
    file: File,
    path: PathBuf,
    before: PathBuf,
}

impl BoundedLog {
    /// Goes on with the folder's log.
    pub fn open(data: &Path) -> std::io::Result<Self> {
        let (path, before) = (data.join(FILE), data.join(FILE_BEFORE));
        // Emptied, not replaced: a child's standard error may be the same file.
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        Ok(Self { file, path, before })
    }

    /// For a child to write to.
    pub fn into_file(self) -> File {
        self.file
    }

    /// The last line, which says why a server did not start.
    pub fn last_line(data: &Path) -> Option<String> {
        let text = std::fs::read(data.join(FILE)).ok()?;
        let text = String::from_utf8_lossy(&text);
        text.lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned)
    }

    fn make_room(&mut self) -> std::io::Result<()> {
        if self.file.metadata()?.len() >= LOG_BYTES_MAX {
            std::fs::copy(&self.path, &self.before)?;
            self.file.set_len(0)?;
        }
        Ok(())
    }
}

impl Write for BoundedLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.make_room()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}
