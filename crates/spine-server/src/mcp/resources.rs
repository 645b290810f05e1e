//! Resources: memories, envelopes, inboxes.

use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use spine_protocol::render;

use super::asker::Asker;
use super::fit::fit;
use super::inbox;
use super::place::{ENVELOPE_TEMPLATE, INBOX_TEMPLATE, MEMORY_TEMPLATE, Place};
use crate::limits::{MCP_RESULT_TOKENS_MAX, MCP_ROWS_MAX};
use crate::operations::envelopes;
use crate::operations::memories::{self, MemoryPath, VersionQuery};
use crate::problem::Problem;
use crate::route::JSON;
use crate::wire::envelope::EnvelopePath;
use crate::wire::memory::MemoryDocument;
use crate::wire::memory_list::{self, FilterBody, MemoryListDocument, MemoryListQuery};

const MARKDOWN: &str = "text/markdown";

/// The newest memories, page by page, and first of all the asker's own inbox.
pub async fn list(asker: &Asker, cursor: Option<String>) -> Result<ListResourcesResult, Problem> {
    let is_first = cursor.is_none();
    let page = newest(asker, cursor).await?;
    let inbox = asker.pass.caller.agent.clone().filter(|_| is_first).map(inbox_resource);
    let memories = page.memories.iter().map(memory_resource);
    let resources = inbox.into_iter().chain(memories).collect();
    let list = ListResourcesResult::with_all_items(resources);
    Ok(ListResourcesResult { next_cursor: page.next_cursor, ..list })
}

async fn newest(asker: &Asker, cursor: Option<String>) -> Result<MemoryListDocument, Problem> {
    let (ids, filter, order) = (Vec::new(), FilterBody::default(), memory_list::OrderWord::Newest);
    let query = MemoryListQuery { ids, filter, order, limit: Some(MCP_ROWS_MAX), cursor };
    Ok(memories::list(asker.call((), query, ())).await?.into_value())
}

fn memory_resource(memory: &MemoryDocument) -> Resource {
    let first_line = memory.content.lines().next().unwrap_or_default();
    let title: String =
        memory.title.as_deref().unwrap_or(first_line).chars().take(TITLE_CHARS_MAX).collect();
    Resource::new(Place::Memory(memory.id).to_string(), memory.id.to_string())
        .with_title(title)
        .with_mime_type(JSON)
}

const TITLE_CHARS_MAX: usize = 80;

fn inbox_resource(agent: spine_protocol::AgentName) -> Resource {
    let name = format!("inbox of {agent}");
    Resource::new(Place::Inbox(agent).to_string(), name)
        .with_description("Deliveries that wait for you, or that you hold.")
        .with_mime_type(JSON)
}

/// The forms of every address.
pub fn templates() -> ListResourceTemplatesResult {
    let template = |uri: &str, name: &str, says: &str, media_type: &str| {
        ResourceTemplate::new(uri, name).with_description(says).with_mime_type(media_type)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template(MEMORY_TEMPLATE, "memory", "A memory in its newest version.", JSON),
        template(ENVELOPE_TEMPLATE, "envelope", "A handoff, as its receiver reads it.", MARKDOWN),
        template(INBOX_TEMPLATE, "inbox", "What waits for an agent, and what it holds.", JSON),
    ])
}

/// What is there now.
pub async fn read(asker: &Asker, place: &Place) -> Result<ReadResourceResult, Problem> {
    let (text, media_type) = match place {
        Place::Memory(id) => {
            let call = asker.call(MemoryPath { id: *id }, VersionQuery { version: None }, ());
            (written(json!(memories::get(call).await?.into_value())), JSON)
        }
        Place::Envelope(id) => (rendered(asker, *id).await?, MARKDOWN),
        Place::Inbox(agent) => {
            (written(json!({"deliveries": inbox::open(asker, agent.clone()).await?})), JSON)
        }
    };
    let contents = ResourceContents::text(text, place.to_string()).with_mime_type(media_type);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn written(value: Value) -> String {
    fit(value, MCP_RESULT_TOKENS_MAX).to_string()
}

/// An envelope in the form that it was packed for.
pub async fn rendered(asker: &Asker, id: spine_protocol::EnvelopeId) -> Result<String, Problem> {
    let envelope = asker.app.lineages.envelope(&asker.pass.caller, id).await?;
    Ok(render(&envelope, &envelope.assembly.format)?)
}

/// What changes when a resource does; nothing, where there is none.
pub async fn mark(asker: &Asker, place: &Place) -> Result<String, Problem> {
    Ok(match place {
        Place::Memory(id) => {
            let call = asker.call(MemoryPath { id: *id }, VersionQuery { version: None }, ());
            let memory = memories::get(call).await;
            memory.map(|memory| memory.into_value().version.to_string()).unwrap_or_default()
        }
        Place::Envelope(id) => {
            let call = asker.call(EnvelopePath { id: *id }, (), ());
            let verified = envelopes::verify(call).await;
            verified.map(|verified| verified.into_value().summary).unwrap_or_default()
        }
        Place::Inbox(agent) => {
            let inbox = inbox::open(asker, agent.clone()).await?;
            let each = inbox.iter().map(|one| format!("{} {:?};", one.id, one.state));
            each.collect()
        }
    })
}

/// What changes when the list of resources does.
pub async fn list_mark(asker: &Asker) -> Result<String, Problem> {
    let page = newest(asker, None).await?;
    Ok(page.memories.iter().map(|memory| format!("{};", memory.id)).collect())
}
