//! One message of the host: what the way to the server depends on, and the rest as it was written.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::body::Bytes;
use serde_json::Value;

use super::fault::Fault;

/// Where a request of the stateless revision says which revision it is.
const VERSION_FIELD: &str = "io.modelcontextprotocol/protocolVersion";
/// The request that may have an effect.
const CALL: &str = "tools/call";
/// The tool that gives a delivery into the caller's hands.
const TAKES_WORK: &str = "handoff_receive";

/// What a message is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// It will be answered, by this id.
    Request(Value),
    /// It is not answered.
    Notification,
    /// It answers something that the server asked.
    Response,
}

/// One message.
#[derive(Debug, Clone)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// What is to be done; empty for a response.
    pub method: String,
    /// The revision that it names itself, as those without a session do.
    pub version: Option<String>,
    /// The tool, prompt or resource that is meant.
    pub name: Option<String>,
    /// The request that it calls off.
    pub cancels: Option<Value>,
    /// Makes a call that is sent again recognisable.
    pub key: Option<String>,
    /// As it was written.
    pub text: Bytes,
}

impl Message {
    /// Reads a line.
    pub fn read(line: Vec<u8>) -> Result<Self, Fault> {
        let value: Value =
            serde_json::from_slice(&line).map_err(|error| Fault::not_json(&error))?;
        let Value::Object(fields) = &value else { return Err(Fault::not_a_message(Value::Null)) };
        let id = fields.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
        let method = fields.get("method").and_then(Value::as_str);
        let is_answer = fields.contains_key("result") || fields.contains_key("error");
        let kind = match (method, &id) {
            (Some(_), Some(id)) => Kind::Request(id.clone()),
            (Some(_), None) if !fields.contains_key("id") => Kind::Notification,
            (None, Some(_)) if is_answer => Kind::Response,
            _ => return Err(Fault::not_a_message(id.unwrap_or_default())),
        };
        let method = method.unwrap_or_default().to_owned();
        let field = |path: &str| value.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let version = value.pointer("/params/_meta").and_then(|meta| meta.get(VERSION_FIELD));
        let name = match method.as_str() {
            CALL | "prompts/get" => field("/params/name"),
            "resources/read" => field("/params/uri"),
            _ => None,
        };
        let cancels = value.pointer("/params/requestId").cloned();
        Ok(Self {
            version: version.and_then(Value::as_str).map(str::to_owned),
            cancels: cancels.filter(|_| method == "notifications/cancelled"),
            key: None,
            text: line.into(),
            kind,
            method,
            name,
        })
    }

    /// Whether it opens a session.
    pub fn is_greeting(&self) -> bool {
        self.method == "initialize"
    }

    /// Whether it may have an effect.
    pub fn is_call(&self) -> bool {
        self.method == CALL
    }

    /// Whether doing it twice would take two deliveries: no key makes that one.
    pub fn takes_work(&self) -> bool {
        self.is_call() && self.name.as_deref() == Some(TAKES_WORK)
    }

    /// The name as a header can carry it.
    pub fn name_for_header(&self) -> Option<String> {
        let name = self.name.as_deref()?;
        let is_plain = name.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
        if is_plain && name.trim() == name && !name.starts_with("=?base64?") {
            return Some(name.to_owned());
        }
        Some(format!("=?base64?{}?=", STANDARD.encode(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: &str) {
        let shown = match Message::read(line.as_bytes().to_vec()) {
            Ok(message) => format!(
                "{:?} {} {:?} {:?} {:?}",
                message.kind,
                message.method,
                message.version,
                message.name_for_header(),
                message.cancels
            ),
            Err(fault) => fault.text(),
        };
        assert_eq!(shown, expect, "{line}");
    }

    #[test]
    fn what_a_line_is() {
        check(r#"{"id": 1, "method": "ping"}"#, "Request(Number(1)) ping None None None");
        check(
            r#"{"id": "a", "method": "tools/call", "params": {"name": "memory_store", "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}"#,
            r#"Request(String("a")) tools/call Some("2026-07-28") Some("memory_store") None"#,
        );
        check(
            r#"{"id": 2, "method": "resources/read", "params": {"uri": "spine://agents/ä/inbox"}}"#,
            r#"Request(Number(2)) resources/read None Some("=?base64?c3BpbmU6Ly9hZ2VudHMvw6QvaW5ib3g=?=") None"#,
        );
        check(
            r#"{"method": "notifications/cancelled", "params": {"requestId": 7}}"#,
            "Notification notifications/cancelled None None Some(Number(7))",
        );
        check(r#"{"id": 3, "result": {}}"#, "Response  None None None");
    }

    #[test]
    fn what_is_no_message() {
        let refused = r#"{"error":{"code":-32600,"message":"this is no JSON-RPC message: send one object with a method, or an answer to one"},"id":null,"jsonrpc":"2.0"}"#;
        check("[]", refused);
        check(r#"{"id": null, "method": "ping"}"#, refused);
        check(r#"{"id": 3}"#, &refused.replace("null", "3"));
        check(
            "{",
            r#"{"error":{"code":-32700,"message":"this line is no JSON (EOF while parsing an object at line 1 column 1): send one message on each line"},"id":null,"jsonrpc":"2.0"}"#,
        );
    }
}
