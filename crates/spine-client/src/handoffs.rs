//! Handoffs, envelopes and their story.

use std::time::Duration;

use serde_json::Value;

use crate::ask::Ask;
use crate::client::Client;
use crate::error::ClientError;
use crate::types::{Handoff, Sent, Trace, Verification};

impl Client {
    /// Assembles a handoff and sends it; while a delivery is handled, its envelope is the parent.
    pub async fn hand_off(
        &self,
        handoff: &Value,
        within: Option<&str>,
    ) -> Result<Sent, ClientError> {
        let ask = Ask::post(&["handoffs"], handoff).within(within);
        self.ask(ask.waiting(wait_of(handoff.pointer("/send/wait")))).await
    }

    /// Assembles a handoff and sends nothing.
    pub async fn assemble(&self, handoff: &Value) -> Result<Handoff, ClientError> {
        self.ask(Ask::post(&["envelopes"], handoff)).await
    }

    /// An envelope.
    pub async fn envelope(&self, id: &str) -> Result<Value, ClientError> {
        self.ask(Ask::get(&["envelopes", id])).await
    }

    /// An envelope as a model reads it.
    pub async fn render(&self, id: &str, format: Option<&str>) -> Result<String, ClientError> {
        let ask = Ask::get(&["envelopes", id, "render"]).query("format", format);
        Ok(String::from_utf8_lossy(&self.ask_bytes(&ask).await?).into_owned())
    }

    /// The whole story of a task, by any of its envelopes.
    pub async fn trace(&self, id: &str) -> Result<Trace, ClientError> {
        self.ask(Ask::get(&["envelopes", id, "trace"])).await
    }

    /// Whether a lineage is what it was.
    pub async fn verify(&self, id: &str) -> Result<Verification, ClientError> {
        self.ask(Ask::get(&["envelopes", id, "verify"])).await
    }
}

/// How long the server was asked to wait.
pub(crate) fn wait_of(wait: Option<&Value>) -> Duration {
    const SEND_WAIT_S: f64 = 15.0;
    let Some(wait) = wait.filter(|wait| !wait.is_null()) else { return Duration::ZERO };
    let seconds = wait.get("timeout_s").and_then(Value::as_f64).unwrap_or(SEND_WAIT_S);
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
