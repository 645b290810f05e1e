//! One memory, as it is sent and answered.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use spine_engine::memories::{Deleted, Edit, Found, Lookup, MemoryPatch, NewMemory, Stored};
use spine_protocol::{MemoryId, Priority, Subject, Timestamp};
use spine_store::{Author, GoneReason, Kind, Memory, Tag, ThreadName, UnixMs};

use super::one_or_many::Listed;

/// A memory to store.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"content": "The gateway takes at most 100 requests a second.", "kind": "note", "tags": ["api"]}))]
pub struct MemoryBody {
    /// The text itself.
    #[schemars(length(min = 1))]
    pub content: String,
    /// A line to show it by.
    pub title: Option<String>,
    /// A shorter form of the text.
    pub summary: Option<String>,
    /// What sort of memory it is: `note`, `conversation`, `reasoning`, or any word of yours.
    #[serde(default)]
    #[schemars(with = "Word")]
    pub kind: Kind,
    /// Words to find it by.
    #[serde(default)]
    #[schemars(with = "Vec<Word>")]
    pub tags: Vec<Tag>,
    /// How much it matters.
    #[serde(default)]
    pub priority: Priority,
    /// Whether it always travels.
    #[serde(default)]
    pub pinned: bool,
    /// Who wrote it; the calling agent if not said.
    #[schemars(with = "Option<Word>")]
    pub author: Option<Author>,
    /// The ordered group it belongs to.
    #[schemars(with = "Option<Word>")]
    pub thread: Option<ThreadName>,
    /// Whom it is about.
    pub subject: Option<Subject>,
    /// The time it is about.
    pub occurred_at: Option<Timestamp>,
    /// Whatever else to keep with it.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// After how many seconds it is no longer found.
    pub ttl: Option<Seconds>,
}

impl Listed for MemoryBody {
    const LIST: &'static str = "memories";
}

impl From<MemoryBody> for NewMemory {
    fn from(body: MemoryBody) -> Self {
        Self {
            text: body.content,
            title: body.title,
            summary: body.summary,
            kind: body.kind,
            tags: body.tags,
            priority: body.priority,
            pinned: body.pinned,
            author: body.author,
            thread: body.thread,
            subject: body.subject,
            occurred_at: body.occurred_at,
            metadata: body.metadata,
            ttl: body.ttl.map(Duration::from),
        }
    }
}

/// One short line.
#[derive(JsonSchema)]
#[schemars(inline)]
pub struct Word(
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^[^\u0000-\u001f\u007f-\u009f]+$"))]
    #[allow(dead_code, reason = "only its schema is used")]
    String,
);

/// A length of time in seconds, not negative.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
#[schemars(inline)]
pub struct Seconds(#[schemars(range(min = 0.0, max = 1e11))] f64);

impl TryFrom<f64> for Seconds {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        let fits = Duration::try_from_secs_f64(seconds).is_ok() && seconds <= 1e11;
        if fits { Ok(Self(seconds)) } else { Err("expected seconds from 0 to 100000000000") }
    }
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Self {
        Self::try_from_secs_f64(seconds.0).unwrap_or(Self::MAX)
    }
}

/// What to change in a memory. What is not named stays; null empties.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
#[schemars(example = serde_json::json!({"title": "Rate limit", "thread": null}))]
pub struct MemoryPatchBody {
    /// Another text.
    #[schemars(length(min = 1))]
    pub content: Option<String>,
    /// Another title.
    #[serde(deserialize_with = "edit")]
    #[schemars(with = "Option<String>")]
    pub title: Edit<String>,
    /// Another summary.
    #[serde(deserialize_with = "edit")]
    #[schemars(with = "Option<String>")]
    pub summary: Edit<String>,
    /// Another kind.
    #[schemars(with = "Option<Word>")]
    pub kind: Option<Kind>,
    /// Other tags, in place of all there are.
    #[schemars(with = "Option<Vec<Word>>")]
    pub tags: Option<Vec<Tag>>,
    /// Another priority.
    pub priority: Option<Priority>,
    /// Another thread.
    #[serde(deserialize_with = "edit")]
    #[schemars(with = "Option<Word>")]
    pub thread: Edit<ThreadName>,
    /// Another subject.
    #[serde(deserialize_with = "edit")]
    #[schemars(with = "Option<Subject>")]
    pub subject: Edit<Subject>,
    /// Another time it is about.
    #[serde(deserialize_with = "edit")]
    #[schemars(with = "Option<Timestamp>")]
    pub occurred_at: Edit<Timestamp>,
    /// Other metadata, in place of all there is.
    pub metadata: Option<Map<String, Value>>,
    /// Another time to live in seconds, from now on.
    #[serde(deserialize_with = "edit")]
    #[schemars(with = "Option<Seconds>")]
    pub ttl: Edit<Seconds>,
}

fn edit<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Edit<T>, D::Error> {
    Ok(match Option::<T>::deserialize(from)? {
        Some(value) => Edit::Set(value),
        None => Edit::Clear,
    })
}

impl From<MemoryPatchBody> for MemoryPatch {
    fn from(body: MemoryPatchBody) -> Self {
        let ttl = match body.ttl {
            Edit::Keep => Edit::Keep,
            Edit::Clear => Edit::Clear,
            Edit::Set(seconds) => Edit::Set(seconds.into()),
        };
        Self {
            text: body.content,
            title: body.title,
            summary: body.summary,
            kind: body.kind,
            tags: body.tags,
            priority: body.priority,
            thread: body.thread,
            subject: body.subject,
            occurred_at: body.occurred_at,
            metadata: body.metadata,
            ttl,
        }
    }
}

/// A memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryDocument {
    /// Its id in the workspace.
    pub id: MemoryId,
    /// From 1; an update makes the next one.
    pub version: u32,
    /// The text itself.
    pub content: String,
    /// A line to show it by.
    pub title: Option<String>,
    /// A shorter form of the text.
    pub summary: Option<String>,
    /// What sort of memory it is.
    pub kind: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// How much it matters.
    pub priority: Priority,
    /// Whether it always travels.
    pub pinned: bool,
    /// Who wrote it.
    pub author: Option<String>,
    /// The ordered group it belongs to.
    pub thread: Option<String>,
    /// Whom it is about.
    pub subject: Option<Subject>,
    /// The time it is about.
    pub occurred_at: Option<Timestamp>,
    /// Whatever else its author keeps with it.
    pub metadata: Map<String, Value>,
    /// When the first version was stored.
    pub created_at: Option<Timestamp>,
    /// When it was last written.
    pub updated_at: Option<Timestamp>,
    /// From when on it is no longer found.
    pub expires_at: Option<Timestamp>,
}

impl From<Memory> for MemoryDocument {
    fn from(memory: Memory) -> Self {
        let body = memory.body;
        Self {
            id: memory.id,
            version: memory.version,
            content: body.text,
            title: body.title,
            summary: body.summary,
            kind: body.kind.into(),
            tags: body.tags.into_iter().map(String::from).collect(),
            priority: body.priority,
            pinned: body.pinned,
            author: body.author.map(String::from),
            thread: body.thread.map(String::from),
            subject: body.subject,
            occurred_at: body.occurred_at,
            metadata: body.metadata,
            created_at: memory.created_at.to_timestamp(),
            updated_at: memory.updated_at.to_timestamp(),
            expires_at: body.expires_at.and_then(UnixMs::to_timestamp),
        }
    }
}

/// A memory that was stored, or was there already.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoredDocument {
    /// The memory.
    #[serde(flatten)]
    pub memory: MemoryDocument,
    /// Whether the same content was there already: then nothing new was stored.
    pub duplicate: bool,
}

impl From<Stored> for StoredDocument {
    fn from(stored: Stored) -> Self {
        Self { memory: stored.memory.into(), duplicate: stored.duplicate }
    }
}

/// The answer to storing: as it was asked, one or many.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum StoreAnswer {
    /// The one.
    One(Box<StoredDocument>),
    /// Each, in the order they were sent.
    Many {
        /// The memories.
        memories: Vec<StoredDocument>,
    },
}

/// The mark that a memory left.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedDocument {
    /// Which memory.
    pub id: MemoryId,
    /// One more than its last version.
    pub version: u32,
    /// `deleted`, or `purged` when every version was erased.
    pub reason: &'static str,
    /// When.
    pub deleted_at: Option<Timestamp>,
}

impl From<Deleted> for DeletedDocument {
    fn from(gone: Deleted) -> Self {
        let reason = match gone.reason {
            GoneReason::Deleted => "deleted",
            GoneReason::Purged => "purged",
        };
        Self { id: gone.id, version: gone.version, reason, deleted_at: gone.at.to_timestamp() }
    }
}

/// An id that leads to no memory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MissingDocument {
    /// Which id.
    pub id: MemoryId,
    /// `not_found`, `deleted`, `purged` or `expired`.
    pub reason: &'static str,
}

/// Sorts what ids led to.
pub fn sort_lookups(lookups: Vec<Lookup>) -> (Vec<MemoryDocument>, Vec<MissingDocument>) {
    let (mut memories, mut missing) = (Vec::new(), Vec::new());
    for lookup in lookups {
        match lookup {
            Lookup::Found(memory) => memories.push((*memory).into()),
            Lookup::Missing(id, reason) => {
                missing.push(MissingDocument { id, reason: reason.as_str() });
            }
        }
    }
    (memories, missing)
}

/// A memory that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundDocument {
    /// The memory, at its newest version.
    pub memory: MemoryDocument,
    /// Higher is better; comparable within one answer only.
    pub score: f64,
    /// What the score is the sum of; empty unless asked for.
    pub parts: Vec<ScorePartDocument>,
}

/// One part of a score.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScorePartDocument {
    /// Its name, such as `words` or `meaning`.
    pub name: &'static str,
    /// The figure itself, before weighting.
    pub value: f64,
    /// What it adds to the score.
    pub adds: f64,
}

impl From<Found> for FoundDocument {
    fn from(found: Found) -> Self {
        let part = |part: spine_store::ScorePart| ScorePartDocument {
            name: part.name,
            value: part.value,
            adds: part.adds,
        };
        Self {
            score: found.hit.score,
            parts: found.hit.parts.into_iter().map(part).collect(),
            memory: found.memory.into(),
        }
    }
}
