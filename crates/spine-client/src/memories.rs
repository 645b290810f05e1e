//! Memories.

use serde_json::Value;

use crate::ask::Ask;
use crate::client::Client;
use crate::error::ClientError;
use crate::types::Memory;

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
    /// Deletes a memory; a mark stays.
    pub async fn delete_memory(&self, id: &str) -> Result<Value, ClientError> {
        self.ask(Ask::delete(&["memories", id])).await
    }
}
