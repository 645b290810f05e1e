//! What is under way, so that it can be called off.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::limits::REQUESTS_MAX;

/// One request under way.
struct Request {
    task: AbortHandle,
    /// Of a revision in which a closed connection calls a request off.
    is_stateless: bool,
}

/// Every request under way, by its id.
pub struct Flight {
    requests: Mutex<HashMap<String, Request>>,
    count: watch::Sender<usize>,
}

/// What it takes to call a request off.
#[derive(Debug, PartialEq, Eq)]
pub enum CallOff {
    /// Its connection was closed, and that says it.
    Said,
    /// Its connection was closed, and the server is to be told.
    ToBeSaid,
    /// It is not under way.
    Unknown,
}

impl Flight {
    /// Nothing is under way.
    pub fn new() -> Self {
        Self { requests: Mutex::default(), count: watch::Sender::new(0) }
    }

    /// Whether one more may begin.
    pub fn has_room(&self) -> bool {
        self.lock().len() < REQUESTS_MAX
    }

    /// One begins.
    pub fn begin(&self, id: &Value, is_stateless: bool, task: AbortHandle) {
        self.lock().insert(id.to_string(), Request { task, is_stateless });
        self.tell();
    }

    /// One is answered.
    pub fn end(&self, id: &Value) {
        self.lock().remove(&id.to_string());
        self.tell();
    }

    /// One is no longer wanted.
    pub fn call_off(&self, id: &Value) -> CallOff {
        let Some(request) = self.lock().remove(&id.to_string()) else { return CallOff::Unknown };
        self.tell();
        request.task.abort();
        if request.is_stateless { CallOff::Said } else { CallOff::ToBeSaid }
    }

    /// The ids of all that is under way.
    pub fn ids(&self) -> Vec<Value> {
        let ids = self.lock();
        ids.keys().filter_map(|id| serde_json::from_str(id).ok()).collect()
    }

    /// Done when nothing is under way.
    pub async fn landed(&self) {
        // The sender is in here: it is not dropped while this waits.
        let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
    }

    fn tell(&self) {
        let count = self.lock().len();
        self.count.send_replace(count);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
