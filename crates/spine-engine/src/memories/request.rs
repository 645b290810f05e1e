//! What callers ask, and what they are answered.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};
use spine_protocol::{AgentName, MemoryId, Subject, Timestamp};
use spine_store::{Filter, Gone, Hit, Kind, Memory, Order, Priority, Tag, ThreadName};

use super::error::MissingReason;

/// A memory to store.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct NewMemory {
    /// The text itself.
    pub text: String,
    /// A line to show it by.
    pub title: Option<String>,
    /// A shorter form of the text.
    pub summary: Option<String>,
    /// What sort of memory it is.
    pub kind: Kind,
    /// Words to find it by.
    pub tags: Vec<Tag>,
    /// How much it matters.
    pub priority: Priority,
    /// Whether it always travels.
    pub pinned: bool,
    /// Who stores it; the calling agent if not said.
    pub author: Option<AgentName>,
    /// The ordered group it belongs to.
    pub thread: Option<ThreadName>,
    /// Whom it is about.
    pub subject: Option<Subject>,
    /// The time it is about.
    pub occurred_at: Option<Timestamp>,
    /// Whatever else to keep with it.
    pub metadata: Map<String, Value>,
    /// After how long it is no longer found.
    pub ttl: Option<Duration>,
}

/// What to do with a field that may be empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub enum Edit<T> {
    /// Leave it.
    #[default]
    Keep,
    /// Empty it.
    Clear,
    /// Give it this value.
    Set(T),
}

impl<T> Edit<T> {
    pub(super) fn apply(self, field: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(value),
        }
    }
}

/// What to change in a memory; the rest stays. The author stays always, and a pin has its own call.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct MemoryPatch {
    /// Another text.
    pub text: Option<String>,
    /// Another title.
    pub title: Edit<String>,
    /// Another summary.
    pub summary: Edit<String>,
    /// Another kind.
    pub kind: Option<Kind>,
    /// Other tags, in place of all there are.
    pub tags: Option<Vec<Tag>>,
    /// Another priority.
    pub priority: Option<Priority>,
    /// Another thread.
    pub thread: Edit<ThreadName>,
    /// Another subject.
    pub subject: Edit<Subject>,
    /// Another time it is about.
    pub occurred_at: Edit<Timestamp>,
    /// Other metadata, in place of all there is.
    pub metadata: Option<Map<String, Value>>,
    /// Another time to live, from now on.
    pub ttl: Edit<Duration>,
}

/// The answer to storing.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The memory.
    pub memory: Memory,
    /// Whether the same content was there already: then nothing new was stored.
    pub duplicate: bool,
}

/// What an id led to.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup {
    /// The newest version.
    Found(Box<Memory>),
    /// A known gap.
    Missing(MemoryId, MissingReason),
}

/// The answer to deleting: the mark it left.
pub type Deleted = Gone;

/// A list to page through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListRequest {
    /// Which memories.
    pub filter: Filter,
    /// In which order.
    pub order: Order,
    /// Go on behind this one.
    pub after: Option<MemoryId>,
    /// At most so many.
    pub limit: usize,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchRequest {
    /// In the searcher's own words.
    pub text: String,
    /// Narrows before ranking.
    pub filter: Filter,
    /// At most so many.
    pub limit: usize,
    /// Whether hits name the parts of their scores.
    pub explain: bool,
}

/// A memory that was found, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its newest version.
    pub memory: Memory,
    /// Its score.
    pub hit: Hit,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResult {
    /// Best first.
    pub found: Vec<Found>,
    /// What the search had to do without; empty when whole.
    pub degraded: Vec<String>,
}
