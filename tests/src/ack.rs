//! One acknowledged write, as it is printed and read back.

use std::fmt;
use std::str::FromStr;

use spine_protocol::{Digest, MemoryId};
use spine_store::Memory;

/// The promise that a memory is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// Which memory.
    pub id: MemoryId,
    /// What stands for its text.
    pub content: Digest,
}

impl From<&Memory> for Ack {
    fn from(memory: &Memory) -> Self {
        Self { id: memory.id, content: Digest::of(&[memory.body.text.as_bytes()]) }
    }
}

impl fmt::Display for Ack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ack {} {}", self.id, self.content)
    }
}

impl FromStr for Ack {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = || format!("not an acknowledgement: {line:?}");
        let parts: Vec<&str> = line.split(' ').collect();
        let ["ack", id, content] = parts.as_slice() else { return Err(wrong()) };
        let (id, content) = (id.parse().map_err(|_| wrong())?, content.parse());
        Ok(Self { id, content: content.map_err(|_| wrong())? })
    }
}
