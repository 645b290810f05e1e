//! One acknowledged write, as it is printed and read back.

use std::fmt;
use std::str::FromStr;

use spine_protocol::{Digest, MemoryId};
use spine_store::{GoneReason, Memory, MemoryRow};

/// The promise of what is on disk of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// Which memory.
    pub id: MemoryId,
    /// What a write left of it.
    pub left: Left,
}

/// What is left of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// This version, and what stands for its text.
    Version(u32, Digest),
    /// A mark, and the versions before it.
    Deleted,
    /// Nothing but the mark.
    Purged,
}

impl Left {
    /// Whether this is what was promised, or what a later write has made of it, answered or not.
    pub fn keeps(self, promised: Self) -> bool {
        match (self, promised) {
            (Self::Version(found, _), Self::Version(version, _)) if found != version => {
                found > version
            }
            (Self::Version(..), _) => self == promised,
            (Self::Deleted, promised) => promised != Self::Purged,
            (Self::Purged, _) => true,
        }
    }
}

impl From<&Memory> for Ack {
    fn from(memory: &Memory) -> Self {
        let text = Digest::of(&[memory.body.text.as_bytes()]);
        Self { id: memory.id, left: Left::Version(memory.version, text) }
    }
}

impl From<&MemoryRow> for Ack {
    fn from(row: &MemoryRow) -> Self {
        match row {
            MemoryRow::Live(memory) => Self::from(&**memory),
            MemoryRow::Gone(gone) => {
                let purged = gone.reason == GoneReason::Purged;
                Self { id: gone.id, left: if purged { Left::Purged } else { Left::Deleted } }
            }
        }
    }
}

impl fmt::Display for Ack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.left {
            Left::Version(version, text) => write!(f, "ack {} {version} {text}", self.id),
            Left::Deleted => write!(f, "ack {} deleted", self.id),
            Left::Purged => write!(f, "ack {} purged", self.id),
        }
    }
}

impl FromStr for Ack {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = || format!("not an acknowledgement: {line:?}");
        let parts: Vec<&str> = line.split(' ').collect();
        let (id, left) = match parts.as_slice() {
            ["ack", id, "deleted"] => (id, Left::Deleted),
            ["ack", id, "purged"] => (id, Left::Purged),
            ["ack", id, version, text] => {
                let (version, text) = (version.parse(), text.parse());
                let text = text.map_err(|_| wrong())?;
                (id, Left::Version(version.map_err(|_| wrong())?, text))
            }
            _ => return Err(wrong()),
        };
        Ok(Self { id: id.parse().map_err(|_| wrong())?, left })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: u32, text: &str) -> Left {
        Left::Version(number, Digest::of(&[text.as_bytes()]))
    }

    #[test]
    fn later_writes_keep_a_promise_and_earlier_ones_break_it() {
        let steps = [version(1, "a"), version(2, "b"), Left::Deleted, Left::Purged];
        for (found_at, found) in steps.iter().enumerate() {
            for (promised_at, promised) in steps.iter().enumerate() {
                assert_eq!(
                    found.keeps(*promised),
                    found_at >= promised_at,
                    "{found:?} {promised:?}"
                );
            }
        }
        assert!(!version(1, "a").keeps(version(1, "b")));
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let id = MemoryId::new(7).unwrap();
        for left in [version(3, "a"), Left::Deleted, Left::Purged] {
            let ack = Ack { id, left };
            assert_eq!(ack.to_string().parse(), Ok(ack));
        }
    }
}
