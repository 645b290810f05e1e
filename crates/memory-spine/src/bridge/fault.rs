//! What the host is told when the server cannot tell it: JSON-RPC errors that say what to do.

use serde_json::{Value, json};

use crate::limits::{LINE_BYTES_MAX, REQUESTS_MAX};

const NOT_JSON: i32 = -32700;
const NOT_A_MESSAGE: i32 = -32600;
// Beyond JSON-RPC's own, and below those that MCP keeps for itself.
const UNREACHABLE: i32 = -32010;
const OUTCOME_UNKNOWN: i32 = -32011;
const TOO_MANY: i32 = -32012;
const REFUSED: i32 = -32013;

/// An error, with whom it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    id: Value,
    error: Value,
}

impl Fault {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { id: Value::Null, error: json!({"code": code, "message": message.into()}) }
    }

    /// A line that cannot be read.
    pub fn not_json(error: &serde_json::Error) -> Self {
        let said = format!("this line is no JSON ({error}): send one message on each line");
        Self::new(NOT_JSON, said)
    }

    /// JSON that is no message.
    pub fn not_a_message(id: Value) -> Self {
        let said =
            "this is no JSON-RPC message: send one object with a method, or an answer to one";
        Self::new(NOT_A_MESSAGE, said).to(id)
    }

    /// A line beyond its limit, whose id nobody has read.
    pub fn too_long() -> Self {
        let said = format!("this line is longer than {LINE_BYTES_MAX} bytes: send less at once");
        Self::new(NOT_A_MESSAGE, said)
    }

    /// More than is worked on at once.
    pub fn too_many() -> Self {
        let said = format!("{REQUESTS_MAX} requests are under way: wait for one of them");
        Self::new(TOO_MANY, said)
    }

    /// No server; nothing was done.
    pub fn unreachable(why: &str) -> Self {
        Self::new(UNREACHABLE, format!("nothing was done: {why}"))
    }

    /// The server went away while work was being taken.
    pub fn outcome_unknown() -> Self {
        let said = "the server went away while this waited, and work may have been taken for you: handoff_status says what you hold; if that is nothing, call this again";
        Self::new(OUTCOME_UNKNOWN, said)
    }

    /// The server answered in a way that has no meaning here.
    pub fn refused(status: u16, said: &str) -> Self {
        Self::new(REFUSED, format!("{said} (status {status})"))
    }

    /// What the server itself says, word for word.
    pub fn of_server(error: Value) -> Self {
        Self { id: Value::Null, error }
    }

    /// As the answer to a request.
    #[must_use]
    pub fn to(mut self, id: Value) -> Self {
        self.id = id;
        self
    }

    /// As it is written.
    pub fn text(&self) -> String {
        json!({"jsonrpc": "2.0", "id": self.id, "error": self.error}).to_string()
    }
}
