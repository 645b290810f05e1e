//! A handoff on Memory Spine, over HTTP: an assembled envelope of 4 KB is sent, received with its acceptance, and done.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use crate::{Outcome, QUEUES};

/// The size of an envelope, nearly.
const TEXT_BYTES: usize = 3_000;
/// So many that those sent at one time are all different; then they begin anew. No more than the server remembers: whoever
/// sends an envelope has just assembled it.
const ENVELOPES: usize = 3_000;
/// How many assemble them at once.
const ASSEMBLERS: usize = 16;
const AGENT_PREFIX: &str = "bench-load-";

struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
}

impl Connection {
    async fn open(port: u16) -> Outcome<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), line: String::new() })
    }

    async fn post(&mut self, path: &str, body: &str) -> Outcome<Vec<u8>> {
        self.ask("POST", path, body).await
    }

    async fn ask(&mut self, method: &str, path: &str, body: &str) -> Outcome<Vec<u8>> {
        let request = format!(
            "{method} /v1/{path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nmemory-spine-agent: bench\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).await?;
        self.answer().await
    }

    async fn answer(&mut self) -> Outcome<Vec<u8>> {
        let is_granted = self.next_line().await?.starts_with("HTTP/1.1 2");
        let mut bytes = 0;
        loop {
            let line = self.next_line().await?;
            if line.is_empty() {
                break;
            }
            if let Some(length) = line.strip_prefix("content-length: ") {
                bytes = length.parse()?;
            }
        }
        let mut body = vec![0; bytes];
        self.stream.read_exact(&mut body).await?;
        if !is_granted {
            return Err(String::from_utf8_lossy(&body).into_owned().into());
        }
        Ok(body)
    }

    async fn next_line(&mut self) -> Outcome<&str> {
        self.line.clear();
        if self.stream.read_line(&mut self.line).await? == 0 {
            return Err("the server closed the connection".into());
        }
        Ok(self.line.trim_end())
    }
}

/// What a receiver needs of an answer: the rest is passed over.
#[derive(Deserialize)]
struct Got {
    deliveries: Vec<GotOne>,
}

#[derive(Deserialize)]
struct GotOne {
    delivery: Named,
    lease: String,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

/// Envelopes to send, one after the other whoever sends: as with real handoffs, those of one moment lie side by side.
struct Envelopes {
    ids: Vec<String>,
    next: AtomicUsize,
}

impl Envelopes {
    /// The next one, by its number, which says whose it is.
    fn next(&self) -> Outcome<(usize, &str)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed) % ENVELOPES;
        Ok((number, self.ids.get(number).ok_or("an envelope is missing")?))
    }
}

pub struct Worker {
    spine: Connection,
    envelopes: Arc<Envelopes>,
    receive: String,
}

impl crate::Worker for Worker {
    async fn prepare(port: u16, count: usize) -> Outcome<Vec<Self>> {
        let (ids, next) = (assembled(port).await?, AtomicUsize::new(0));
        let envelopes = Arc::new(Envelopes { ids, next });
        let receive = json!({"max": 1, "wait_s": 10, "accept": true}).to_string();
        let mut workers = Vec::new();
        for _ in 0..count {
            let (envelopes, receive) = (Arc::clone(&envelopes), receive.clone());
            workers.push(Self { spine: Connection::open(port).await?, envelopes, receive });
        }
        Ok(workers)
    }

    async fn cycle(&mut self) -> Outcome<()> {
        let (number, id) = self.envelopes.next()?;
        self.spine.post("deliveries", &format!(r#"{{"envelope_id":"{id}"}}"#)).await?;
        let receive_path = format!("agents/{}/receive", agent(number));
        let got = self.spine.post(&receive_path, &self.receive).await?;
        let got = serde_json::from_slice::<Got>(&got)?.deliveries.pop();
        let GotOne { delivery, lease } =
            got.ok_or("nothing came though as many were sent as were taken")?;
        let done = format!(r#"{{"lease":"{lease}","result":{{"ok":true}}}}"#);
        self.spine.post(&format!("deliveries/{}/ack", delivery.id), &done).await?;
        Ok(())
    }
}

/// Assembles all envelopes, some at once.
async fn assembled(port: u16) -> Outcome<Vec<String>> {
    let (next, ids) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(BTreeMap::new())));
    let assembler = |_| tokio::spawn(assemble(port, Arc::clone(&next), Arc::clone(&ids)));
    for assembler in (0..ASSEMBLERS).map(assembler).collect::<Vec<_>>() {
        assembler.await??;
    }
    let ids = std::mem::take(&mut *ids.lock().await);
    Ok(ids.into_values().collect())
}

async fn assemble(
    port: u16,
    next: Arc<AtomicUsize>,
    ids: Arc<Mutex<BTreeMap<usize, String>>>,
) -> Outcome<()> {
    let mut spine = Connection::open(port).await?;
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= ENVELOPES {
            return Ok(());
        }
        let made = spine.post("envelopes", &handoff(&agent(number), number)).await?;
        let Named { id } = serde_json::from_slice(&made)?;
        ids.lock().await.insert(number, id);
    }
}

fn agent(number: usize) -> String {
    format!("{AGENT_PREFIX}{}", number % QUEUES)
}

fn handoff(agent: &str, number: usize) -> String {
    let words = "the gateway retries with one key for each charge; ";
    let intent: String = words.chars().cycle().take(TEXT_BYTES).collect();
    let summary = format!("Load {number}.");
    json!({
        "target_agent": agent, "task_summary": summary, "intent": intent,
        "include_recent": 0, "include_pins": false,
    })
    .to_string()
}

/// What was sent is done: else the figure stands for less than it says.
pub async fn check_none_open(port: u16) -> Outcome<()> {
    let agents = Connection::open(port).await?.ask("GET", "agents", "").await?;
    let agents: Value = serde_json::from_slice(&agents)?;
    let agents = agents.pointer("/agents").and_then(Value::as_array).cloned().unwrap_or_default();
    let states = ["pending", "leased", "accepted", "parked"];
    let of = |agent: &Value| -> u64 {
        let open = |state: &&str| agent.pointer(&format!("/queue/{state}")).and_then(Value::as_u64);
        states.iter().filter_map(open).sum()
    };
    match agents.iter().map(of).sum::<u64>() {
        _ if agents.is_empty() => Err("the server knows no agents: nothing was measured".into()),
        0 => Ok(()),
        open => Err(format!("{open} handoffs were not done").into()),
    }
}
