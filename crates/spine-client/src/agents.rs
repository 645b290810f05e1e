//! Agents and channels.

use std::time::Duration;

use serde_json::{Value, json};

use crate::ask::Ask;
use crate::client::Client;
use crate::error::ClientError;
use crate::types::Agent;

impl Client {
    /// Every agent, with its queue and its breaker.
    pub async fn agents(&self) -> Result<Vec<Agent>, ClientError> {
        #[derive(serde::Deserialize)]
        struct List {
            agents: Vec<Agent>,
        }
        let list: List = self.ask(Ask::get(&["agents"])).await?;
        Ok(list.agents)
    }

    /// One agent.
    pub async fn agent(&self, name: &str) -> Result<Agent, ClientError> {
        self.ask(Ask::get(&["agents", name])).await
    }

    /// Sets an agent's options.
    pub async fn register(&self, name: &str, options: &Value) -> Result<Agent, ClientError> {
        self.ask(Ask::put(&["agents", name], options)).await
    }

    /// Closes an agent's circuit breaker, or holds it open.
    pub async fn set_breaker(&self, name: &str, state: &str) -> Result<Value, ClientError> {
        self.ask(Ask::put(&["agents", name, "breaker"], &json!({"state": state}))).await
    }

    /// Gives an agent no work for now.
    pub async fn pause(&self, name: &str) -> Result<Agent, ClientError> {
        self.ask(Ask::post(&["agents", name, "pause"], &json!({}))).await
    }

    /// Gives an agent work again.
    pub async fn resume(&self, name: &str) -> Result<Agent, ClientError> {
        self.ask(Ask::post(&["agents", name, "resume"], &json!({}))).await
    }

    /// Sends an envelope to many.
    pub async fn publish(&self, channel: &str, body: &Value) -> Result<Value, ClientError> {
        self.ask(Ask::post(&["channels", channel, "publish"], body)).await
    }
    /// A publication, when everything is settled or at the end of the wait.
    pub async fn publication_when_settled(
        &self,
        id: &str,
        wait: Duration,
    ) -> Result<Value, ClientError> {
        let ask = Ask::get(&["publications", id]).query("wait_s", Some(wait.as_secs_f64()));
        self.ask(ask.waiting(wait)).await
    }
}
