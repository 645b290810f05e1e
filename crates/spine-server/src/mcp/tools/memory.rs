//! Memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use spine_protocol::{MemoryId, Priority, Subject, Timestamp, from_value};
use spine_store::{Kind, Tag, ThreadName};

use crate::limits::{MCP_MEMORIES_MAX, SEARCH_HITS_DEFAULT};
use crate::mcp::asker::Asker;
use crate::operations::memories::{self, DeleteQuery, MemoryPath, VersionQuery};
use crate::problem::{Problem, ProblemKind};
use crate::wire::memory::{MemoryBody, MemoryDocument, MemoryPatchBody, StoreAnswer};
use crate::wire::memory_list::{FilterBody, MemoryListQuery, OrderWord, SearchBody};
use crate::wire::one_or_many::OneOrMany;

fn invalid(pointer: &str, problem: &str) -> Problem {
    let error = spine_protocol::ReadError::at(pointer, problem);
    Problem::body(ProblemKind::InvalidBody, &error)
}

/// Reads a body by the rules of its route.
fn body<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, Problem> {
    let said = match value {
        Value::Object(members) => {
            members.into_iter().filter(|(_, value)| !value.is_null()).collect()
        }
        _ => serde_json::Map::new(),
    };
    let read = from_value(&Value::Object(said));
    read.map_err(|error| Problem::body(ProblemKind::InvalidBody, &error))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreIn {
    content: String,
    title: Option<String>,
    /// note (default), decision, conversation, reasoning, or your own word.
    #[schemars(with = "Option<String>")]
    kind: Option<Kind>,
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    tags: Vec<Tag>,
    priority: Option<Priority>,
    /// Travels in every handoff.
    #[serde(default)]
    pinned: bool,
    /// Groups memories in order.
    #[schemars(with = "Option<String>")]
    thread: Option<ThreadName>,
    /// Whom it is about, as user:123.
    subject: Option<Subject>,
    /// The time it is about, RFC 3339.
    occurred_at: Option<Timestamp>,
    /// Seconds until it expires.
    ttl: Option<f64>,
}

/// A version of a memory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionOut {
    id: MemoryId,
    version: u32,
    /// It was there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<bool>,
}

pub async fn store(asker: Asker, input: StoreIn) -> Result<VersionOut, Problem> {
    let one: MemoryBody = body(json!({
        "content": input.content, "title": input.title, "kind": input.kind.map(String::from),
        "tags": input.tags.into_iter().map(String::from).collect::<Vec<_>>(),
        "priority": input.priority, "pinned": input.pinned,
        "thread": input.thread.map(String::from), "subject": input.subject,
        "occurred_at": input.occurred_at, "ttl": input.ttl,
    }))?;
    let many = OneOrMany { items: vec![one], is_list: false };
    let stored = match memories::store(asker.call((), (), many)).await?.0.into_value() {
        StoreAnswer::One(stored) => Some(*stored),
        StoreAnswer::Many { memories } => memories.into_iter().next(),
    };
    let stored = stored.ok_or(spine_engine::memories::MemoryError::Contended)?;
    let (id, version) = (stored.memory.id, stored.memory.version);
    Ok(VersionOut { id, version, duplicate: Some(stored.duplicate) })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchIn {
    query: Option<String>,
    /// 10 if not said.
    #[schemars(range(max = 20))]
    limit: Option<usize>,
    /// All of these.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    tags: Vec<Tag>,
    /// One of these.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    kinds: Vec<Kind>,
    #[schemars(with = "Option<String>")]
    thread: Option<ThreadName>,
    subject: Option<Subject>,
    pinned: Option<bool>,
}

/// What was found, the best first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoriesOut {
    memories: Vec<MemoryOut>,
    /// Ids that lead to nothing, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    /// Found, but not shown here.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

/// A memory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryOut {
    id: MemoryId,
    version: u32,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    kind: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<Subject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<Timestamp>,
}

impl From<MemoryDocument> for MemoryOut {
    fn from(memory: MemoryDocument) -> Self {
        Self {
            id: memory.id,
            version: memory.version,
            content: memory.content,
            title: memory.title,
            kind: memory.kind,
            tags: memory.tags,
            author: memory.author,
            subject: memory.subject,
            created_at: memory.created_at,
        }
    }
}

fn limit(asked: Option<usize>) -> Result<usize, Problem> {
    match asked.unwrap_or(SEARCH_HITS_DEFAULT) {
        limit if (1..=MCP_MEMORIES_MAX).contains(&limit) => Ok(limit),
        _ => Err(invalid("/limit", &format!("expected a number from 1 to {MCP_MEMORIES_MAX}"))),
    }
}

pub async fn search(asker: Asker, input: SearchIn) -> Result<MemoriesOut, Problem> {
    let limit = Some(limit(input.limit)?);
    let SearchIn { query, tags, kinds, thread, subject, pinned, .. } = input;
    let filter = FilterBody { tags, kinds, thread, subject, pinned, ..FilterBody::default() };
    let found: Vec<MemoryDocument> = match query.filter(|query| !query.trim().is_empty()) {
        Some(query) => {
            let search = SearchBody { query, filter, limit, explain: false };
            let found = memories::search(asker.call((), (), search)).await?.into_value();
            found.hits.into_iter().map(|hit| hit.memory).collect()
        }
        None => {
            let (ids, order, cursor) = (Vec::new(), OrderWord::Newest, None);
            let query = MemoryListQuery { ids, filter, order, limit, cursor };
            memories::list(asker.call((), query, ())).await?.into_value().memories
        }
    };
    let memories = found.into_iter().map(Into::into).collect();
    Ok(MemoriesOut { memories, missing: Vec::new(), left_out: None })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetIn {
    /// Such as ms-12.
    #[schemars(length(max = 20))]
    ids: Vec<MemoryId>,
    /// Of the one id; the newest if not said.
    version: Option<u32>,
    /// Skip so many characters of each.
    #[serde(default)]
    offset: usize,
}

pub async fn get(asker: Asker, input: GetIn) -> Result<MemoriesOut, Problem> {
    let GetIn { ids, version, offset } = input;
    if !(1..=MCP_MEMORIES_MAX).contains(&ids.len()) {
        let problem = format!("expected from 1 to {MCP_MEMORIES_MAX} ids");
        return Err(invalid("/ids", &problem));
    }
    let (found, missing) = match (ids.as_slice(), version) {
        ([id], Some(_)) => (vec![one_version(&asker, *id, version).await?], Vec::new()),
        (_, Some(_)) => return Err(invalid("/version", "expected one id beside it")),
        (_, None) => {
            let (filter, order) = (FilterBody::default(), OrderWord::Newest);
            let query = MemoryListQuery { ids, filter, order, limit: None, cursor: None };
            let list = memories::list(asker.call((), query, ())).await?.into_value();
            (list.memories, list.missing)
        }
    };
    let mut memories: Vec<MemoryOut> = found.into_iter().map(Into::into).collect();
    for memory in &mut memories {
        memory.content = memory.content.chars().skip(offset).collect();
    }
    let missing = missing.iter().map(|gone| format!("{}: {}", gone.id, gone.reason)).collect();
    Ok(MemoriesOut { memories, missing, left_out: None })
}

async fn one_version(
    asker: &Asker,
    id: MemoryId,
    version: Option<u32>,
) -> Result<MemoryDocument, Problem> {
    let call = asker.call(MemoryPath { id }, VersionQuery { version }, ());
    Ok(memories::get(call).await?.into_value())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateIn {
    id: MemoryId,
    content: Option<String>,
    title: Option<String>,
    #[schemars(with = "Option<Vec<String>>")]
    tags: Option<Vec<Tag>>,
    priority: Option<Priority>,
}

pub async fn update(asker: Asker, input: UpdateIn) -> Result<VersionOut, Problem> {
    let tags = input.tags.map(|tags| tags.into_iter().map(String::from).collect::<Vec<_>>());
    let patch: MemoryPatchBody = body(json!({
        "content": input.content, "title": input.title, "tags": tags, "priority": input.priority,
    }))?;
    let call = asker.call(MemoryPath { id: input.id }, (), patch);
    let memory = memories::update(call).await?.into_value();
    Ok(VersionOut { id: memory.id, version: memory.version, duplicate: None })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinIn {
    id: MemoryId,
    /// False unpins.
    #[serde(default = "yes")]
    pinned: bool,
}

fn yes() -> bool {
    true
}

pub async fn pin(asker: Asker, input: PinIn) -> Result<VersionOut, Problem> {
    let call = asker.call(MemoryPath { id: input.id }, (), ());
    let memory = match input.pinned {
        true => memories::pin(call).await?.into_value(),
        false => memories::unpin(call).await?.into_value(),
    };
    Ok(VersionOut { id: memory.id, version: memory.version, duplicate: None })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteIn {
    id: MemoryId,
    #[serde(default)]
    purge: bool,
}

pub async fn delete(asker: Asker, input: DeleteIn) -> Result<VersionOut, Problem> {
    let query = DeleteQuery { purge: input.purge };
    let call = asker.call(MemoryPath { id: input.id }, query, ());
    let gone = memories::delete(call).await?.into_value();
    Ok(VersionOut { id: gone.id, version: gone.version, duplicate: None })
}
