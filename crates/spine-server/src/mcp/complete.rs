//! Completion: ids and names that begin as somebody has begun to write.

use rmcp::model::{ArgumentInfo, CompleteRequestParams, CompletionInfo, Reference};
use spine_store::DeliveryQuery;

use super::asker::Asker;
use super::place::{ENVELOPE_TEMPLATE, INBOX_TEMPLATE, MEMORY_TEMPLATE};
use super::prompts::{DELIVERY, TARGET};
use crate::limits::{MCP_COMPLETION_ROWS, MCP_COMPLETIONS_MAX};
use crate::operations::{agents, memories};
use crate::problem::Problem;
use crate::wire::memory_list::{FilterBody, MemoryListQuery, OrderWord};

/// What an argument could be.
pub async fn complete(
    asker: &Asker,
    request: &CompleteRequestParams,
) -> Result<CompletionInfo, Problem> {
    let ArgumentInfo { name, value, .. } = &request.argument;
    let offered = match (&request.r#ref, name.as_str()) {
        (Reference::Resource(of), _) if of.uri == MEMORY_TEMPLATE => memory_ids(asker).await?,
        (Reference::Resource(of), _) if of.uri == ENVELOPE_TEMPLATE => envelope_ids(asker).await?,
        (Reference::Resource(of), _) if of.uri == INBOX_TEMPLATE => agent_names(asker).await?,
        (Reference::Prompt(_), TARGET) => agent_names(asker).await?,
        (Reference::Prompt(_), DELIVERY) => delivery_ids(asker).await?,
        _ => Vec::new(),
    };
    Ok(beginning_with(value, offered))
}

fn beginning_with(begun: &str, mut offered: Vec<String>) -> CompletionInfo {
    offered.retain(|one| one.starts_with(begun));
    let total = u32::try_from(offered.len()).ok();
    let has_more = offered.len() > MCP_COMPLETIONS_MAX;
    offered.truncate(MCP_COMPLETIONS_MAX);
    CompletionInfo::with_pagination(offered, total, has_more).unwrap_or_default()
}

async fn memory_ids(asker: &Asker) -> Result<Vec<String>, Problem> {
    let (ids, filter, order) = (Vec::new(), FilterBody::default(), OrderWord::Newest);
    let limit = Some(MCP_COMPLETION_ROWS);
    let query = MemoryListQuery { ids, filter, order, limit, cursor: None };
    let list = memories::list(asker.call((), query, ())).await?.into_value();
    Ok(list.memories.iter().map(|memory| memory.id.to_string()).collect())
}

async fn agent_names(asker: &Asker) -> Result<Vec<String>, Problem> {
    let list = agents::list(asker.call((), (), ())).await?.into_value();
    Ok(list.agents.iter().map(|agent| agent.name.to_string()).collect())
}

async fn envelope_ids(asker: &Asker) -> Result<Vec<String>, Problem> {
    let mut ids: Vec<String> =
        newest(asker).await?.iter().map(|one| one.row.envelope.to_string()).collect();
    ids.dedup();
    Ok(ids)
}

async fn delivery_ids(asker: &Asker) -> Result<Vec<String>, Problem> {
    let held = super::held::held(asker).await?;
    Ok(held.iter().map(|one| one.row.id.to_string()).collect())
}

async fn newest(asker: &Asker) -> Result<Vec<spine_engine::delivery::Delivery>, Problem> {
    let limit = MCP_COMPLETION_ROWS;
    let query = DeliveryQuery { limit, newest_first: true, ..DeliveryQuery::default() };
    Ok(asker.app.deliveries.list(&asker.pass.caller, query).await?.items)
}
