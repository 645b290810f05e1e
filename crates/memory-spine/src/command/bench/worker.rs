//! One of many who hand work over and take it, again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use spine_client::{Ask, Client, Received};

use super::histogram::Histogram;
use crate::command::Failure;

/// Who hands over.
const SENDER: &str = "bench";
/// The agents of the load.
pub const AGENT_PREFIX: &str = "bench-load-";
/// Queues that the load is spread over.
const AGENTS: u32 = 16;
/// The size of an envelope, nearly.
const TEXT_BYTES: usize = 3_000;
const RECEIVE_WAIT_S: f64 = 10.0;
/// Then something was lost.
const RECEIVE_TRIES_MAX: u32 = 6;

/// How long each stage took.
#[derive(Debug, Default)]
pub struct Stages {
    /// Once for each worker, beside the cycles.
    pub assemble: Histogram,
    pub send: Histogram,
    pub receive: Histogram,
    pub ack: Histogram,
}

impl Stages {
    /// By name.
    pub fn named(&self) -> [(&'static str, &Histogram); 4] {
        [
            ("assemble", &self.assemble),
            ("send", &self.send),
            ("receive", &self.receive),
            ("ack", &self.ack),
        ]
    }

    /// All of another worker's.
    pub fn add(&mut self, other: &Self) {
        self.assemble.add(&other.assemble);
        self.send.add(&other.send);
        self.receive.add(&other.receive);
        self.ack.add(&other.ack);
    }
}

/// One of many.
pub struct Worker {
    client: Client,
    agent: String,
    envelope: Value,
    stages: Stages,
}

impl Worker {
    /// Has an envelope to send.
    pub async fn prepare(client: Client, number: u32) -> Result<Self, Failure> {
        let agent = format!("{AGENT_PREFIX}{}", number % AGENTS);
        let client = client.as_agent(SENDER);
        let words = "the gateway retries with one key for each charge; ";
        let intent: String = words.chars().cycle().take(TEXT_BYTES).collect();
        let body = json!({
            "target_agent": agent, "task_summary": format!("Load {number}."), "intent": intent,
            "include_recent": 0, "include_pins": false,
        });
        let started = Instant::now();
        let made = client.assemble(&body).await?;
        let mut stages = Stages::default();
        stages.assemble.record(started.elapsed());
        Ok(Self { client, agent, envelope: json!({"envelope_id": made.id}), stages })
    }

    /// Whole cycles until the moment; the last one is finished.
    pub async fn cycle_until(
        mut self,
        until: Instant,
        cycles: Arc<AtomicU64>,
    ) -> Result<Stages, Failure> {
        while Instant::now() < until {
            self.cycle().await?;
            cycles.fetch_add(1, Ordering::Relaxed);
        }
        Ok(self.stages)
    }

    /// Without keys for repeated writes: a try that fails ends the run.
    async fn cycle(&mut self) -> Result<(), Failure> {
        let started = Instant::now();
        self.client.ask_bytes(&Ask::post(&["deliveries"], &self.envelope).once()).await?;
        self.stages.send.record(started.elapsed());
        let started = Instant::now();
        let received = self.receive().await?;
        self.stages.receive.record(started.elapsed());
        let started = Instant::now();
        let id = received.delivery.id.to_string();
        let body = json!({"lease": received.lease, "result": {"ok": true}});
        self.client.ask_bytes(&Ask::post(&["deliveries", &id, "ack"], &body).once()).await?;
        self.stages.ack.record(started.elapsed());
        Ok(())
    }

    /// As many are sent as are taken, so one comes to everybody.
    async fn receive(&self) -> Result<Received, Failure> {
        let body = json!({"max": 1, "wait_s": RECEIVE_WAIT_S, "accept": true});
        for _ in 0..RECEIVE_TRIES_MAX {
            let mut received = self.client.receive(&self.agent, &body).await?;
            if let Some(received) = received.pop() {
                return Ok(received);
            }
        }
        Err(format!("nothing came for {} though as many were sent as were taken", self.agent)
            .into())
    }
}
