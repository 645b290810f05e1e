//! A memory as it is stored: its newest version, its older ones, or the mark it left.

use serde_json::{Map, Value};
use spine_protocol::{Digest, MemoryId, Subject, Timestamp};

use crate::{Author, Change, Kind, Priority, Tag, ThreadName, UnixMs};

/// What the author wrote and said about it: everything that one version consists of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemoryBody {
    /// The text itself.
    pub text: String,
    /// A line to show it by.
    pub title: Option<String>,
    /// A shorter form of the text.
    pub summary: Option<String>,
    /// What sort of memory it is.
    pub kind: Kind,
    /// Words to find it by, sorted, each once.
    pub tags: Vec<Tag>,
    /// How much it matters.
    pub priority: Priority,
    /// Whether it always travels.
    pub pinned: bool,
    /// Who wrote it.
    pub author: Option<Author>,
    /// The ordered group it belongs to.
    pub thread: Option<ThreadName>,
    /// Whom it is about.
    pub subject: Option<Subject>,
    /// The time it is about, as it was written.
    pub occurred_at: Option<Timestamp>,
    /// Whatever else the author keeps with it.
    pub metadata: Map<String, Value>,
    /// From when on it is no longer found.
    pub expires_at: Option<UnixMs>,
}

impl MemoryBody {
    /// Whether it is past its expiry.
    pub fn is_expired(&self, now: UnixMs) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Roughly how much it weighs: its long parts.
    pub fn size_bytes(&self) -> usize {
        let short = [&self.title, &self.summary].map(|text| text.as_ref().map_or(0, String::len));
        self.text.len() + short.iter().sum::<usize>()
    }
}

/// One version of a memory, newest or older.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Its number in the workspace.
    pub id: MemoryId,
    /// From 1; an update makes the next one.
    pub version: u32,
    /// The change that last wrote this row: what a guard expects.
    pub change: Change,
    /// When the first version was stored.
    pub created_at: UnixMs,
    /// When this row was last written.
    pub updated_at: UnixMs,
    /// What it says.
    pub body: MemoryBody,
}

impl Memory {
    /// The time it is about: when it occurred, else when it was stored.
    pub fn about_at(&self) -> UnixMs {
        self.body.occurred_at.as_ref().map_or(self.created_at, UnixMs::from)
    }
}

/// Why a memory is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoneReason {
    /// A tombstone; older versions are kept until a purge.
    Deleted,
    /// Every version was erased.
    Purged,
}

/// The mark that a memory left: a reference to it is a known gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone {
    /// Its number, which is not given again.
    pub id: MemoryId,
    /// One more than its last version.
    pub version: u32,
    /// The change that removed it.
    pub change: Change,
    /// When it was removed.
    pub at: UnixMs,
    /// How it was removed.
    pub reason: GoneReason,
}

/// What a memory's id stands for now.
#[derive(Debug, Clone, PartialEq)]
pub enum MemoryRow {
    /// Its newest version; whether that has expired is for the reader to judge by its own `now`.
    Live(Box<Memory>),
    /// Nothing but a mark.
    Gone(Gone),
}

impl MemoryRow {
    /// Its number in the workspace.
    pub fn id(&self) -> MemoryId {
        match self {
            Self::Live(memory) => memory.id,
            Self::Gone(gone) => gone.id,
        }
    }

    /// Its newest version number.
    pub fn version(&self) -> u32 {
        match self {
            Self::Live(memory) => memory.version,
            Self::Gone(gone) => gone.version,
        }
    }

    /// The change that last wrote it.
    pub fn change(&self) -> Change {
        match self {
            Self::Live(memory) => memory.change,
            Self::Gone(gone) => gone.change,
        }
    }

    /// The memory, if it is there.
    pub fn live(&self) -> Option<&Memory> {
        match self {
            Self::Live(memory) => Some(memory),
            Self::Gone(_) => None,
        }
    }
}

/// A body on its way into the store, with the key it is recognised by.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryDraft {
    /// What it says.
    pub body: MemoryBody,
    /// The same content again has the same key; `None` is never recognised.
    pub content: Option<ContentKey>,
}

/// 128 bits that stand for a memory's content. At most one live memory of a workspace holds a key.
/// Whoever finds one compares the content itself: a key is short, so that it costs little to index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentKey(pub [u8; 16]);

impl ContentKey {
    /// The first half of a digest.
    pub fn from_digest(digest: &Digest) -> Self {
        Self(digest.first_128_bits().to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_key_is_the_first_half_of_the_digest() {
        let key = ContentKey::from_digest(&Digest::of(&[b"abc"]));
        assert_eq!(key.0[..4], [0xba, 0x78, 0x16, 0xbf]);
        assert_eq!(key.0[15], 0x23);
    }
}
