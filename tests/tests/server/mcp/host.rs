//! The smallest MCP host: one request a message, so that a test says exactly what is sent.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::Answer;
use crate::process::Server;

/// The revision without sessions.
pub const STATELESS: &str = "2026-07-28";
/// The newest one with sessions.
pub const WITH_SESSIONS: &str = "2025-11-25";

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

/// A host that speaks one revision, for one agent.
pub struct Host<'a> {
    server: &'a Server,
    headers: Vec<(String, String)>,
    revision: &'static str,
    next_id: Cell<u64>,
}

impl<'a> Host<'a> {
    /// A host that has said hello.
    pub fn new(server: &'a Server, revision: &'static str, headers: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let headers = headers.iter().map(owned).collect();
        let mut host = Self { server, headers, revision, next_id: Cell::new(1) };
        if revision == WITH_SESSIONS {
            host.begin_session();
        } else {
            let found = host.ask("server/discover", json!({}));
            assert!(found["supportedVersions"].to_string().contains(revision), "{found}");
        }
        host
    }

    /// An agent on a server without keys.
    pub fn of(server: &'a Server, revision: &'static str, agent: &str) -> Self {
        Self::new(server, revision, &[("memory-spine-agent", agent)])
    }

    /// Another connection of a session; its requests are numbered from here.
    pub fn in_session(server: &'a Server, agent: &str, session: &str, first_id: u64) -> Self {
        let headers = [("memory-spine-agent", agent), ("mcp-session-id", session)];
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { server, headers, revision: WITH_SESSIONS, next_id: Cell::new(first_id) }
    }

    fn begin_session(&mut self) {
        let hello = json!({
            "protocolVersion": WITH_SESSIONS, "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.post("initialize", hello, true);
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("mcp-session-id").expect("a session").to_owned();
        self.headers.push(("mcp-session-id".to_owned(), session));
        let answer = self.post("notifications/initialized", json!({}), false);
        assert_eq!(answer.status, 202, "{answer:?}");
    }

    /// The session's id.
    pub fn session(&self) -> &str {
        let found = self.headers.iter().find(|(name, _)| name == "mcp-session-id");
        &found.expect("a session").1
    }

    /// Sends one message.
    pub fn post(&self, method: &str, params: Value, is_request: bool) -> Answer {
        let (headers, message) = self.written(method, params, is_request);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.server.send("POST", "/mcp", &headers, &message.to_string())
    }

    fn written(
        &self,
        method: &str,
        mut params: Value,
        is_request: bool,
    ) -> (Vec<(String, String)>, Value) {
        let mut headers: Vec<(String, String)> = self.headers.clone();
        headers.push((ACCEPT.0.to_owned(), ACCEPT.1.to_owned()));
        headers.push(("mcp-protocol-version".to_owned(), self.revision.to_owned()));
        if self.revision == STATELESS {
            headers.push(("mcp-method".to_owned(), method.to_owned()));
            let name = params.get("name").or(params.get("uri")).and_then(Value::as_str);
            headers.extend(name.map(|name| ("mcp-name".to_owned(), name.to_owned())));
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let said = params.as_object_mut().unwrap().entry("_meta").or_insert(json!({}));
            said.as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
        }
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if is_request {
            message["id"] = self.next_id.replace(self.next_id.get() + 1).into();
        }
        (headers, message)
    }

    /// Sends a request whose answer is read as it comes.
    pub fn stream(&self, method: &str, params: Value) -> Stream {
        let (headers, message) = self.written(method, params, true);
        Stream::open(&self.server.address, "POST", &headers, &message.to_string())
    }

    /// What the session is told of its own accord.
    pub fn listen(&self) -> Stream {
        let mut headers = self.headers.clone();
        headers.push(("accept".to_owned(), "text/event-stream".to_owned()));
        Stream::open(&self.server.address, "GET", &headers, "")
    }

    /// Sends a request, and gives the message that answers it.
    pub fn reply(&self, method: &str, params: Value) -> Value {
        reply_of(&self.post(method, params, true))
    }

    /// Sends a request that must succeed.
    pub fn ask(&self, method: &str, params: Value) -> Value {
        let reply = self.reply(method, params);
        assert!(reply["result"].is_object(), "{method}: {reply}");
        reply["result"].clone()
    }

    /// Calls a tool, and gives its result as it is.
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool that must do it.
    pub fn tool(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that must not do it, and gives what the model is told.
    pub fn refusal(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

/// The message that answers, in JSON or at the end of a stream.
pub fn reply_of(answer: &Answer) -> Value {
    if answer.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        return answer.json();
    }
    let text = String::from_utf8_lossy(&answer.body);
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let messages = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let mut replies = messages.filter(|message| message.get("id").is_some());
    replies.next_back().unwrap_or_else(|| panic!("no reply: {answer:?} {text}"))
}

/// An answer that is read line by line.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(address: &str, method: &str, headers: &[(String, String)], body: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        Self(BufReader::new(stream))
    }

    /// The line that has this in it.
    pub fn until(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line);
            assert!(read.is_ok_and(|bytes| bytes > 0), "the stream ended before {text:?}");
            if line.contains(text) {
                return line;
            }
        }
    }
}
