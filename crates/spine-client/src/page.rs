//! Lists, page by page.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ask::Ask;
use crate::client::Client;
use crate::error::ClientError;
use crate::limits::PAGE_ROWS;

/// A list that is read page by page.
pub struct Pages<'a> {
    client: &'a Client,
    ask: Ask,
    rows: &'static str,
    cursor: Option<String>,
    is_over: bool,
}

impl Client {
    /// The pages of a list, whose rows stand under a name.
    pub fn pages(&self, ask: Ask, rows: &'static str) -> Pages<'_> {
        Pages { client: self, ask, rows, cursor: None, is_over: false }
    }
}

impl Pages<'_> {
    /// The next page; none behind the last one.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<Vec<T>>, ClientError> {
        if self.is_over {
            return Ok(None);
        }
        let ask = self.ask.clone().query("limit", Some(PAGE_ROWS));
        let ask = ask.query("cursor", self.cursor.as_ref());
        let path = ask.path.clone();
        let mut answer: Value = self.client.ask(ask).await?;
        let rows = answer.get_mut(self.rows).map(Value::take).unwrap_or_default();
        self.cursor = answer.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
        self.is_over = self.cursor.is_none();
        let unreadable =
            |error: serde_json::Error| ClientError::Unreadable { path, detail: error.to_string() };
        serde_json::from_value(rows).map(Some).map_err(unreadable)
    }

    /// At most so many rows.
    pub async fn take<T: DeserializeOwned>(mut self, max: usize) -> Result<Vec<T>, ClientError> {
        let mut all = Vec::new();
        while all.len() < max {
            let Some(mut rows) = self.next().await? else { break };
            all.append(&mut rows);
        }
        all.truncate(max);
        Ok(all)
    }
}
