//! Memories.

use http::{HeaderMap, header};
use schemars::JsonSchema;
use serde::Deserialize;
use spine_engine::memories::{ListRequest, SearchRequest};
use spine_protocol::MemoryId;
use spine_store::Filter;

use super::page_rows;
use crate::access::quota::Usage;
use crate::limits::SEARCH_HITS_DEFAULT;
use crate::problem::Problem;
use crate::route::{Call, Created, Json};
use crate::wire::cursor;
use crate::wire::event::PageQuery;
use crate::wire::memory::{
    DeletedDocument, MemoryBody, MemoryDocument, MemoryPatchBody, StoreAnswer, StoredDocument,
    sort_lookups,
};
use crate::wire::memory_list::{
    MemoryListDocument, MemoryListQuery, SearchBody, SearchDocument, SearchQueryString,
};
use crate::wire::one_or_many::OneOrMany;

const LIST: &str = "memories";
const VERSIONS: &str = "versions";

/// The address of one memory.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MemoryPath {
    /// Its id.
    pub id: MemoryId,
}

/// Which version of a memory.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct VersionQuery {
    /// The newest, if not said.
    pub version: Option<u32>,
}

/// How to delete.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeleteQuery {
    /// Whether every version is to be erased, too.
    #[serde(default)]
    pub purge: bool,
}

pub async fn store(
    call: Call<(), (), OneOrMany<MemoryBody>>,
) -> Result<Created<StoreAnswer>, Problem> {
    let OneOrMany { items, is_list } = call.body;
    call.app.quotas.admit_memories(&call.pass.caller.workspace, used_by(&items)).await?;
    let new = items.into_iter().map(Into::into).collect();
    let stored = call.app.memories.store_many(&call.pass.caller, new).await?;
    let mut memories: Vec<StoredDocument> = stored.into_iter().map(Into::into).collect();
    if is_list {
        return Ok(Created(Json::of(StoreAnswer::Many { memories })));
    }
    let one = memories.pop().ok_or(spine_engine::memories::MemoryError::Contended)?;
    let version = one.memory.version;
    Ok(Created(Json::at_version(StoreAnswer::One(Box::new(one)), version)))
}

fn used_by(items: &[MemoryBody]) -> Usage {
    let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let bytes =
        |item: &MemoryBody| item.content.len() + length(&item.title) + length(&item.summary);
    let total: usize = items.iter().map(bytes).sum();
    Usage { memories: items.len() as u64, bytes: total as u64 }
}

pub async fn list(
    call: Call<(), MemoryListQuery, ()>,
) -> Result<Json<MemoryListDocument>, Problem> {
    let query = call.query;
    if !query.ids.is_empty() {
        let lookups = call.app.memories.get_many(&call.pass.caller, query.ids).await?;
        let (memories, missing) = sort_lookups(lookups);
        return Ok(Json::of(MemoryListDocument { memories, missing, next_cursor: None }));
    }
    let after: Option<u64> = cursor::decode(LIST, query.cursor.as_deref())?;
    let request = ListRequest {
        filter: query.filter.into(),
        order: query.order.into(),
        after: after.and_then(MemoryId::new),
        limit: page_rows(query.limit)?,
    };
    let page = call.app.memories.list(&call.pass.caller, request).await?;
    let next_cursor = page.next.map(|id| cursor::encode(LIST, id.number()));
    let memories = page.items.into_iter().map(Into::into).collect();
    Ok(Json::of(MemoryListDocument { memories, missing: Vec::new(), next_cursor }))
}

pub async fn get(
    call: Call<MemoryPath, VersionQuery, ()>,
) -> Result<Json<MemoryDocument>, Problem> {
    let (memories, caller, id) = (&call.app.memories, call.caller(), call.path.id);
    let memory = match call.query.version {
        Some(version) => memories.get_version(caller, id, version).await?,
        None => memories.get(caller, id).await?,
    };
    let version = memory.version;
    Ok(Json::at_version(memory.into(), version))
}

pub async fn update(
    call: Call<MemoryPath, (), MemoryPatchBody>,
) -> Result<Json<MemoryDocument>, Problem> {
    let if_version = if_match(&call.headers)?;
    let (caller, id) = (&call.pass.caller, call.path.id);
    let memory = call.app.memories.update(caller, id, call.body.into(), if_version).await?;
    let version = memory.version;
    Ok(Json::at_version(memory.into(), version))
}

pub async fn delete(
    call: Call<MemoryPath, DeleteQuery, ()>,
) -> Result<Json<DeletedDocument>, Problem> {
    let if_version = if_match(&call.headers)?;
    let (memories, caller, id) = (&call.app.memories, call.caller(), call.path.id);
    let gone = match call.query.purge {
        true => memories.purge(caller, id).await?,
        false => memories.delete(caller, id, if_version).await?,
    };
    Ok(Json::of(gone.into()))
}

pub async fn versions(
    call: Call<MemoryPath, PageQuery, ()>,
) -> Result<Json<MemoryListDocument>, Problem> {
    let after: Option<u32> = cursor::decode(VERSIONS, call.query.cursor.as_deref())?;
    let limit = page_rows(call.query.limit)?;
    let (caller, id) = (call.caller(), call.path.id);
    let page = call.app.memories.versions(caller, id, after.unwrap_or(0), limit).await?;
    let next_cursor = page.next.map(|version| cursor::encode(VERSIONS, version));
    let memories = page.items.into_iter().map(Into::into).collect();
    Ok(Json::of(MemoryListDocument { memories, missing: Vec::new(), next_cursor }))
}

pub async fn pin(call: Call<MemoryPath, (), ()>) -> Result<Json<MemoryDocument>, Problem> {
    set_pin(call, true).await
}

pub async fn unpin(call: Call<MemoryPath, (), ()>) -> Result<Json<MemoryDocument>, Problem> {
    set_pin(call, false).await
}

async fn set_pin(
    call: Call<MemoryPath, (), ()>,
    pinned: bool,
) -> Result<Json<MemoryDocument>, Problem> {
    let memory = call.app.memories.pin(call.caller(), call.path.id, pinned).await?;
    let version = memory.version;
    Ok(Json::at_version(memory.into(), version))
}

pub async fn search(call: Call<(), (), SearchBody>) -> Result<Json<SearchDocument>, Problem> {
    let SearchBody { query, filter, limit, explain } = call.body;
    found(&call.app, &call.pass.caller, query, filter.into(), limit, explain).await
}

pub async fn search_by_address(
    call: Call<(), SearchQueryString, ()>,
) -> Result<Json<SearchDocument>, Problem> {
    let SearchQueryString { q, filter, limit, explain } = call.query;
    found(&call.app, &call.pass.caller, q, filter.into(), limit, explain).await
}

async fn found(
    app: &crate::App,
    caller: &spine_engine::Caller,
    text: String,
    filter: Filter,
    limit: Option<usize>,
    explain: bool,
) -> Result<Json<SearchDocument>, Problem> {
    let limit = limit.map_or(Ok(SEARCH_HITS_DEFAULT), |limit| page_rows(Some(limit)))?;
    let request = SearchRequest { text, filter, limit, explain };
    let answer = app.memories.search(caller, request).await?;
    let hits = answer.found.into_iter().map(Into::into).collect();
    Ok(Json::of(SearchDocument { hits, degraded: answer.degraded }))
}

/// The version that the caller has read; `*` is any.
fn if_match(headers: &HeaderMap) -> Result<Option<u32>, Problem> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    if text == "*" {
        return Ok(None);
    }
    let version = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let version = version.and_then(|version| version.parse().ok());
    let wrong = || Problem::parameter("If-Match", "expected a version in quotes, as in the ETag");
    version.map(Some).ok_or_else(wrong)
}
