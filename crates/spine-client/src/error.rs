//! Why a call did not succeed.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Why a call did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server says no, and what to do.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// Nobody is there.
    #[error(
        "no server answers at {endpoint} ({detail}): start one with `memory-spine serve`, or say where it is with --endpoint or MEMORY_SPINE_ENDPOINT"
    )]
    Unreachable {
        /// Where it was looked for.
        endpoint: String,
        /// What the system says.
        detail: String,
    },
    /// It is there and says nothing. What was asked may have been done.
    #[error("{endpoint} did not answer within {seconds} s: look at its log, then ask again")]
    TooSlow {
        /// Where.
        endpoint: String,
        /// How long was waited.
        seconds: u64,
    },
    /// Something that the client was given cannot be used.
    #[error("{name}: {problem}")]
    Setting {
        /// What.
        name: &'static str,
        /// Why not.
        problem: String,
    },
    /// An answer that is not as this client knows it.
    #[error(
        "the answer to {path} cannot be read ({detail}): is this client older than the server?"
    )]
    Unreadable {
        /// What was asked.
        path: String,
        /// What is wrong.
        detail: String,
    },
}

impl ClientError {
    /// What the server calls its refusal, such as `not-found`.
    pub fn kind(&self) -> Option<&str> {
        match self {
            Self::Refused(problem) => Some(problem.kind()),
            _ => None,
        }
    }

    /// Whether what was asked for is not, or no longer, there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused(problem) if matches!(problem.status, 404 | 410))
    }
}

/// A refusal: an RFC 9457 problem document.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Problem {
    /// `/errors/` and a stable name.
    #[serde(rename = "type", default)]
    pub type_: String,
    /// What went wrong, in general.
    #[serde(default)]
    pub title: String,
    /// The HTTP status.
    #[serde(default)]
    pub status: u16,
    /// What went wrong here, and what to do.
    #[serde(default)]
    pub detail: String,
    /// After how many seconds to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<f64>,
    /// The id of the request, as in the server's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Further facts.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Problem {
    /// What the server calls it, such as `not-found`.
    pub fn kind(&self) -> &str {
        self.type_.rsplit('/').next().unwrap_or_default()
    }

    /// Of an answer without a document: something between here and the server.
    pub(crate) fn of_status(status: u16) -> Self {
        Self {
            type_: String::new(),
            title: "refused".to_owned(),
            status,
            detail: format!("status {status} without a word: is this address a Memory Spine?"),
            retry_after_s: None,
            request_id: None,
            more: Map::new(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)?;
        match &self.request_id {
            Some(id) if self.status >= 500 => write!(f, " (request {id})"),
            _ => Ok(()),
        }
    }
}
