//! Memories.

use serde::Serialize;
use serde_json::Value;

use crate::ask::Ask;
use crate::client::Client;
use crate::error::ClientError;
use crate::page::Pages;
use crate::types::Memory;

/// Which memories are meant. Every part that is given must hold.
#[derive(Debug, Clone, Default, Serialize)]
pub struct MemoryFilter {
    /// In this thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// About this subject and nobody else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// One of these kinds.
    pub kinds: Vec<String>,
    /// All of these tags.
    pub tags: Vec<String>,
    /// Written by this author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// About this moment or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about_from: Option<String>,
    /// About a moment before this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about_before: Option<String>,
    /// Pinned, or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
}

impl MemoryFilter {
    fn narrow(&self, ask: Ask) -> Ask {
        let ask = ask
            .query("thread", self.thread.as_ref())
            .query("subject", self.subject.as_ref())
            .query("author", self.author.as_ref())
            .query("about_from", self.about_from.as_ref())
            .query("about_before", self.about_before.as_ref())
            .query("pinned", self.pinned);
        let ask = self.kinds.iter().fold(ask, |ask, kind| ask.query("kinds", Some(kind)));
        self.tags.iter().fold(ask, |ask, tag| ask.query("tags", Some(tag)))
    }
}

impl Client {
    /// Stores a memory.
    pub async fn store(&self, memory: &Value) -> Result<Memory, ClientError> {
        self.ask(Ask::post(&["memories"], memory)).await
    }

    /// Stores many: all or none.
    pub async fn store_many(&self, memories: &[Value]) -> Result<Vec<Memory>, ClientError> {
        #[derive(serde::Deserialize)]
        struct Stored {
            memories: Vec<Memory>,
        }
        let body = serde_json::json!({"memories": memories});
        let stored: Stored = self.ask(Ask::post(&["memories"], &body)).await?;
        Ok(stored.memories)
    }

    /// Finds memories by words and by meaning.
    pub async fn search(&self, search: &Value) -> Result<Value, ClientError> {
        self.ask(Ask::post(&["memories", "search"], search)).await
    }

    /// Lists memories in the order in which they were stored: `newest` or `oldest` first.
    pub fn memories(&self, filter: &MemoryFilter, order: &str) -> Pages<'_> {
        let ask = Ask::get(&["memories"]).query("order", Some(order));
        self.pages(filter.narrow(ask), "memories")
    }

    /// One memory, at its newest version if none is named.
    pub async fn memory(&self, id: &str, version: Option<u32>) -> Result<Memory, ClientError> {
        self.ask(Ask::get(&["memories", id]).query("version", version)).await
    }

    /// Every version of a memory that is still there, oldest first.
    pub fn memory_versions(&self, id: &str) -> Pages<'_> {
        self.pages(Ask::get(&["memories", id, "versions"]), "memories")
    }

    /// Makes a new version of a memory, if it is still at the one that was read, where that is named. What is not named stays;
    /// null empties.
    pub async fn update_memory(
        &self,
        id: &str,
        changes: &Value,
        if_version: Option<u32>,
    ) -> Result<Memory, ClientError> {
        self.ask(Ask::patch(&["memories", id], changes).if_version(if_version)).await
    }

    /// Lets a memory travel with every handoff.
    pub async fn pin_memory(&self, id: &str) -> Result<Memory, ClientError> {
        self.ask(Ask::put(&["memories", id, "pin"], &serde_json::json!({}))).await
    }

    /// Lets it travel no more than others.
    pub async fn unpin_memory(&self, id: &str) -> Result<Memory, ClientError> {
        self.ask(Ask::delete(&["memories", id, "pin"])).await
    }

    /// Deletes a memory; a mark stays.
    pub async fn delete_memory(&self, id: &str) -> Result<Value, ClientError> {
        self.ask(Ask::delete(&["memories", id])).await
    }

    /// Erases every version of a memory; a mark stays.
    pub async fn purge_memory(&self, id: &str) -> Result<Value, ClientError> {
        self.ask(Ask::delete(&["memories", id]).query("purge", Some(true))).await
    }

    /// Erases a subject or a memory everywhere, envelopes and results included.
    pub async fn erase(&self, erasure: &Value) -> Result<Value, ClientError> {
        self.ask(Ask::post(&["erasures"], erasure)).await
    }
}
