//! Deliveries: sending, receiving, and every step between.

use std::time::Duration;

use serde_json::{Value, json};

use crate::ask::Ask;
use crate::client::Client;
use crate::error::ClientError;
use crate::handoffs::wait_of;
use crate::types::{Delivery, Done, Received};

impl Client {
    /// Sends an envelope.
    pub async fn send(&self, delivery: &Value) -> Result<Delivery, ClientError> {
        self.ask(Ask::post(&["deliveries"], delivery).waiting(wait_of(delivery.get("wait")))).await
    }

    /// A delivery, now.
    pub async fn delivery(&self, id: &str) -> Result<Delivery, ClientError> {
        self.ask(Ask::get(&["deliveries", id])).await
    }

    /// A delivery, when it is `accepted` or `done`, or at the end of the wait.
    pub async fn delivery_when(
        &self,
        id: &str,
        until: &str,
        wait: Duration,
    ) -> Result<Delivery, ClientError> {
        let ask = Ask::get(&["deliveries", id]).query("wait_until", Some(until));
        self.ask(ask.query("wait_s", Some(wait.as_secs_f64())).waiting(wait)).await
    }

    /// Waits for work. Asked once: an answer that is lost holds its lease until that runs out.
    pub async fn receive(&self, agent: &str, body: &Value) -> Result<Vec<Received>, ClientError> {
        #[derive(serde::Deserialize)]
        struct List {
            deliveries: Vec<Received>,
        }
        let wait = body.get("wait_s").and_then(Value::as_f64).unwrap_or(30.0);
        let wait = Duration::try_from_secs_f64(wait).unwrap_or_default();
        let ask = Ask::post(&["agents", agent, "receive"], body).once().waiting(wait);
        let list: List = self.ask(ask).await?;
        Ok(list.deliveries)
    }

    /// Takes the work on.
    pub async fn accept(&self, id: &str, lease: &str) -> Result<Delivery, ClientError> {
        self.step(id, "accept", &json!({"lease": lease})).await
    }

    /// Says that the receiver is alive.
    pub async fn extend(&self, id: &str, lease: &str) -> Result<Delivery, ClientError> {
        self.step(id, "extend", &json!({"lease": lease})).await
    }

    /// Gives work back that could not be done.
    pub async fn nack(&self, id: &str, body: &Value) -> Result<Delivery, ClientError> {
        self.step(id, "nack", body).await
    }

    /// Refuses work for good, or asks back.
    pub async fn reject(&self, id: &str, body: &Value) -> Result<Delivery, ClientError> {
        self.step(id, "reject", body).await
    }

    /// Gives the result back.
    pub async fn ack(&self, id: &str, body: &Value) -> Result<Done, ClientError> {
        self.ask(Ask::post(&["deliveries", id, "ack"], body)).await
    }

    async fn step(&self, id: &str, step: &str, body: &Value) -> Result<Delivery, ClientError> {
        self.ask(Ask::post(&["deliveries", id, step], body)).await
    }
}
