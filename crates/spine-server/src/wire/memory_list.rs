//! Lists of memories and searches: which are meant, and what is answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_protocol::{MemoryId, Subject, Timestamp};
use spine_store::{Author, Filter, Kind, Order, SubjectFilter, Tag, ThreadName, UnixMs};

use super::memory::{FoundDocument, MemoryDocument, MissingDocument, Word};

/// Which memories. Every part that is given must hold.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct FilterBody {
    /// In this thread.
    #[schemars(with = "Option<Word>")]
    pub thread: Option<ThreadName>,
    /// About this subject and nobody else.
    pub subject: Option<Subject>,
    /// One of these kinds.
    #[serde(default)]
    #[schemars(with = "Vec<Word>")]
    pub kinds: Vec<Kind>,
    /// All of these tags.
    #[serde(default)]
    #[schemars(with = "Vec<Word>")]
    pub tags: Vec<Tag>,
    /// Written by this author.
    #[schemars(with = "Option<Word>")]
    pub author: Option<Author>,
    /// About this moment or later.
    pub about_from: Option<Timestamp>,
    /// About a moment before this.
    pub about_before: Option<Timestamp>,
    /// Pinned, or not.
    pub pinned: Option<bool>,
}

impl From<FilterBody> for Filter {
    fn from(body: FilterBody) -> Self {
        Self {
            ids: None,
            thread: body.thread,
            subject: body.subject.map(SubjectFilter::Only),
            kinds: body.kinds,
            tags: body.tags,
            author: body.author,
            about_from: body.about_from.as_ref().map(UnixMs::from),
            about_before: body.about_before.as_ref().map(UnixMs::from),
            pinned: body.pinned,
        }
    }
}

/// A list, or some by their ids.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MemoryListQuery {
    /// Those with these ids, in this order; nothing else can be asked for beside them.
    #[serde(default)]
    pub ids: Vec<MemoryId>,
    /// Which memories.
    #[serde(flatten)]
    pub filter: FilterBody,
    /// In which order.
    #[serde(default)]
    pub order: OrderWord,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// In which order a list goes.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum OrderWord {
    /// Last stored first.
    #[default]
    Newest,
    /// First stored first: how a thread is read.
    Oldest,
}

impl From<OrderWord> for Order {
    fn from(word: OrderWord) -> Self {
        match word {
            OrderWord::Newest => Self::NewestFirst,
            OrderWord::Oldest => Self::OldestFirst,
        }
    }
}

/// Some memories.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryListDocument {
    /// The memories.
    pub memories: Vec<MemoryDocument>,
    /// Ids that were asked for and lead to no memory.
    pub missing: Vec<MissingDocument>,
    /// What to give as `cursor` for the next page; null at the end.
    pub next_cursor: Option<String>,
}

/// A search in a body.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(example = serde_json::json!({"query": "rate limit of the payment gateway", "limit": 5}))]
pub struct SearchBody {
    /// In your own words.
    pub query: String,
    /// Narrows before ranking.
    #[serde(flatten)]
    pub filter: FilterBody,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// Whether hits name the parts of their scores.
    #[serde(default)]
    pub explain: bool,
}

/// A search in an address.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchQueryString {
    /// In your own words.
    pub q: String,
    /// Narrows before ranking.
    #[serde(flatten)]
    pub filter: FilterBody,
    /// At most so many.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<usize>,
    /// Whether hits name the parts of their scores.
    #[serde(default)]
    pub explain: bool,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchDocument {
    /// Best first.
    pub hits: Vec<FoundDocument>,
    /// What the search had to do without; empty when whole.
    pub degraded: Vec<String>,
}
