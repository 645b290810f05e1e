//! A server of one's own, and agents that ask it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::send;
use crate::process::Server;

/// A server, and its data.
pub struct House {
    pub server: Server,
    folder: TempDir,
}

impl House {
    pub fn start() -> Self {
        Self::start_with("")
    }

    /// With settings, as in the file.
    pub fn start_with(settings: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("memory-spine.toml"), settings).unwrap();
        Self { server: Server::start(folder.path()), folder }
    }

    /// The server dies as in a crash; another one goes on with its data.
    pub fn crash_and_start(self) -> Self {
        self.server.signal("KILL");
        self.start_again()
    }

    /// Another one goes on when this one has ended.
    pub fn start_again(self) -> Self {
        let Self { mut server, folder } = self;
        server.wait();
        Self { server: Server::start(folder.path()), folder }
    }

    /// An agent of the default workspace.
    pub fn agent(&self, name: &str) -> Client {
        Client::of(&self.server.address, name)
    }
}

/// Somebody who asks.
#[derive(Clone)]
pub struct Client {
    address: String,
    headers: Vec<(String, String)>,
}

/// What came back.
pub struct Reply {
    pub status: u16,
    pub json: Value,
    pub retry_after: Option<String>,
}

impl Reply {
    /// The body, of an answer that must have this status.
    #[track_caller]
    pub fn with(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.json);
        self.json
    }

    /// The body, which must be this problem.
    #[track_caller]
    pub fn problem(self, status: u16, slug: &str) -> Value {
        assert_eq!(self.json["type"], format!("/errors/{slug}"), "{}", self.json);
        self.with(status)
    }
}

impl Client {
    /// An agent of the default workspace of a server.
    pub fn of(address: &str, agent: &str) -> Self {
        let client = Self { address: address.to_owned(), headers: Vec::new() };
        client.with("memory-spine-agent", agent)
    }

    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut headers = self.headers.clone();
        headers.retain(|(known, _)| known != name);
        headers.push((name.to_owned(), value.to_owned()));
        Self { headers, ..self.clone() }
    }

    pub fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, "")
    }

    pub fn post(&self, path: &str, body: Value) -> Reply {
        self.ask("POST", path, &body.to_string())
    }

    pub fn put(&self, path: &str, body: Value) -> Reply {
        self.ask("PUT", path, &body.to_string())
    }

    pub fn ask(&self, method: &str, path: &str, body: &str) -> Reply {
        let headers: Vec<_> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = send(&self.address, method, path, &headers, body.as_bytes());
        let retry_after = answer.header("retry-after").map(str::to_owned);
        Reply { status: answer.status, json: answer.json(), retry_after }
    }

    /// Hands work to an agent; the delivery.
    #[track_caller]
    pub fn hand_off(&self, to: &str, send: Value) -> Value {
        let body = json!({"target_agent": to, "task_summary": "do it", "intent": "have it done", "send": send});
        self.post("/v1/handoffs", body).with(201)["delivery"].clone()
    }

    /// Takes one delivery, which must be there within a while.
    #[track_caller]
    pub fn receive(&self, agent: &str, more: Value) -> Value {
        let mut received = self.receive_many(agent, more);
        assert_eq!(received.len(), 1, "{received:?}");
        received.remove(0)
    }

    /// Takes what is there; waits for the first.
    #[track_caller]
    pub fn receive_many(&self, agent: &str, more: Value) -> Vec<Value> {
        let body = merged(json!({"wait_s": 30}), more);
        let answer = self.post(&format!("/v1/agents/{agent}/receive"), body).with(200);
        answer["deliveries"].as_array().unwrap().clone()
    }

    /// A step of a receiver.
    pub fn settle(&self, received: &Value, step: &str, more: Value) -> Reply {
        let id = text(&received["delivery"]["id"]);
        let body = merged(json!({"lease": received["lease"]}), more);
        self.post(&format!("/v1/deliveries/{id}/{step}"), body)
    }

    /// Follows server-sent events.
    pub fn follow(&self, path: &str) -> Stream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all((head + "\r\n").as_bytes()).unwrap();
        Stream(BufReader::new(stream))
    }
}

fn merged(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// A stream that is being read.
pub struct Stream(BufReader<TcpStream>);

impl Stream {
    /// The data of the next event; nothing at the end.
    pub fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        while self.0.read_line(&mut line).unwrap() > 0 {
            if let Some(data) = line.trim().strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
            line.clear();
        }
        None
    }
}

/// A text in an answer.
#[track_caller]
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("expected a text, got {value}"))
}
