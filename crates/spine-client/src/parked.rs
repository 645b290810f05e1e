//! What waits for a person.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ask::Ask;
use crate::client::Client;
use crate::error::ClientError;
use crate::page::Pages;
use crate::types::Delivery;

/// Which parked deliveries are meant.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ParkedFilter {
    /// In this agent's queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// For this cause, or with these words in a reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Parked at this moment or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Parked at this moment or earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// What became of many.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Review {
    /// Those that were, or would be, reviewed.
    pub ids: Vec<String>,
    /// Those that somebody else reviewed first.
    #[serde(default)]
    pub missed: Vec<String>,
    /// Whether this only says which ones it would be.
    pub dry_run: bool,
}

impl Client {
    /// Lists them, oldest first.
    pub fn parked(&self, filter: &ParkedFilter) -> Pages<'_> {
        let ask = Ask::get(&["parked"])
            .query("target", filter.target.as_ref())
            .query("reason", filter.reason.as_ref())
            .query("since", filter.since.as_ref())
            .query("until", filter.until.as_ref());
        self.pages(ask, "deliveries")
    }

    /// Sets aside what is open of an envelope.
    pub async fn park(&self, envelope: &str, reason: &str) -> Result<Vec<Delivery>, ClientError> {
        #[derive(Deserialize)]
        struct List {
            deliveries: Vec<Delivery>,
        }
        let body = json!({"envelope_id": envelope, "reason": reason});
        let list: List = self.ask(Ask::post(&["parked"], &body)).await?;
        Ok(list.deliveries)
    }

    /// Tries one again.
    pub async fn requeue(&self, id: &str, body: &Value) -> Result<Delivery, ClientError> {
        self.ask(Ask::post(&["parked", id, "requeue"], body)).await
    }

    /// Gives the result of work that a person did.
    pub async fn resolve(&self, id: &str, body: &Value) -> Result<Delivery, ClientError> {
        self.ask(Ask::post(&["parked", id, "resolve"], body)).await
    }

    /// Gives one up.
    pub async fn discard(&self, id: &str, reason: &str) -> Result<Delivery, ClientError> {
        self.ask(Ask::post(&["parked", id, "discard"], &json!({"reason": reason}))).await
    }

    /// `requeue` or `discard` for many.
    pub async fn review_many(&self, step: &str, body: &Value) -> Result<Review, ClientError> {
        self.ask(Ask::post(&["parked", step], body)).await
    }
}
