//! A host of an agent: starts the program, writes lines, reads lines.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use serde_json::{Value, json};

use crate::folder::{Folder, PATIENCE};

/// The last revision with sessions, and the one without.
pub const WITH_SESSION: &str = "2025-11-25";
pub const STATELESS: &str = "2026-07-28";

pub struct Host {
    process: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    /// Answers that came while another was waited for.
    early: HashMap<String, Value>,
    /// What was said without being asked.
    pub notices: Vec<Value>,
    version: &'static str,
    next: u64,
}

impl Host {
    /// A host that has greeted the server, as one with a session does.
    pub fn start(folder: &Folder, agent: &str) -> Self {
        Self::start_as(folder, agent, WITH_SESSION)
    }

    pub fn start_as(folder: &Folder, agent: &str, version: &'static str) -> Self {
        let mut host = Self::silent(folder, agent, version);
        if version == WITH_SESSION {
            let hello = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
            let answer = host.ask("initialize", hello);
            assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
            host.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        }
        host
    }

    /// A host that has said nothing yet.
    pub fn silent(folder: &Folder, agent: &str, version: &'static str) -> Self {
        let mut command = folder.program(&["mcp", "--agent", agent]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, output) = channel();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = process.stdin.take();
        Self {
            process,
            input,
            output,
            early: HashMap::new(),
            notices: Vec::new(),
            version,
            next: 1,
        }
    }

    /// Writes a line.
    pub fn say(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a request and does not wait; its id.
    pub fn send(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.version == STATELESS {
            let prefix = "io.modelcontextprotocol";
            let meta = &mut params["_meta"];
            meta[format!("{prefix}/protocolVersion")] = json!(STATELESS);
            meta[format!("{prefix}/clientInfo")] = json!({"name": "test", "version": "1"});
            meta[format!("{prefix}/clientCapabilities")] = json!({});
        }
        self.say(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        id
    }

    /// The answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        self.answer_to(&json!(id))
    }

    pub fn answer_to(&mut self, id: &Value) -> Value {
        loop {
            if let Some(answer) = self.early.remove(&id.to_string()) {
                return answer;
            }
            let message = self
                .output
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|error| panic!("no answer to {id}: {error}"));
            if message.get("method").is_some() {
                self.notices.push(message);
            } else {
                self.early.insert(message["id"].to_string(), message);
            }
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    pub fn start_call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool that must succeed.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.start_call(tool, arguments);
        content(&self.answer(id))
    }

    /// Takes it away without a word.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Closes its end, and gives what was still said when the program has ended.
    pub fn close(mut self) -> Vec<Value> {
        drop(self.input.take());
        let mut rest: Vec<Value> = Vec::new();
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(message) => rest.push(message),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("the program does not end"),
            }
        }
        assert!(self.process.wait().unwrap().success());
        rest
    }
}

/// A test that fails leaves no program behind.
impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a tool gave back.
pub fn content(answer: &Value) -> Value {
    let result = &answer["result"];
    assert!(result["isError"] != json!(true) && result.is_object(), "{answer}");
    result["structuredContent"].clone()
}
