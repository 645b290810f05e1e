//! Whole cycles as fast as they go: send a 4 KB envelope, receive with accept, done, each step on disk before its answer.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use spine_engine::Caller;
use spine_engine::assembly::{Assembled, HandoffRequest};
use spine_engine::delivery::{Ack, Deliveries, ReceiveRequest, Received, SendOptions};
use spine_protocol::AgentName;
use spine_store::Store;
use tokio::sync::{Notify, Semaphore};

use crate::{Engine, cpu_ms};

/// How many receive, each the handoffs of one agent.
pub const RECEIVERS: usize = 10;
/// How many they take at once.
pub const RECEIVED_MAX: usize = 100;
const SENDERS_MAX: usize = 1_000;
/// With it an envelope is of 4 KB.
const INTENT_BYTES: usize = 3_200;

/// Handoffs of some 4 KB each, all different.
pub type Envelopes = Arc<Vec<Assembled>>;

/// What does the work. Each step is on disk before its answer.
pub trait Worker: Send + Sync + 'static {
    /// What a receiver was given.
    type Received: Send;

    /// Sends to one of the receivers.
    fn send(&self, made: &Assembled, receiver: usize) -> impl Future<Output = ()> + Send;

    /// What there is for a receiver, as soon as there is something.
    fn receive(&self, receiver: usize) -> impl Future<Output = Vec<Self::Received>> + Send;

    /// Ends what was received.
    fn complete(&self, received: Vec<Self::Received>) -> impl Future<Output = ()> + Send;

    /// Receivers get nothing instead of waiting.
    fn stop_waiting(&self);

    /// How many share one sync.
    fn commands_a_commit(&self) -> f64;
}

/// Everything that senders and receivers share.
struct Cycles<W> {
    worker: W,
    envelopes: Envelopes,
    next: AtomicUsize,
    done: AtomicUsize,
    all_done: Notify,
    over: AtomicBool,
    places: Semaphore,
}

/// What a run showed.
pub struct Speed {
    /// Cycles a second.
    pub rate: f64,
    /// Of all threads: on a busy machine the rate says little.
    pub cpu_us_a_cycle: f64,
    /// How many share one sync.
    pub commands_a_commit: f64,
}

/// How fast cycles go with so many under way at once, until the time is up or every envelope is done. Envelopes are made
/// before the clock starts: assembly has its own benchmark.
pub async fn measured(
    worker: impl Worker,
    outstanding: usize,
    envelopes: Envelopes,
    time_max: Duration,
) -> Speed {
    let cycles = Arc::new(Cycles {
        worker,
        envelopes,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        all_done: Notify::new(),
        over: AtomicBool::new(false),
        places: Semaphore::new(outstanding),
    });
    let (started, cpu_before_ms) = (Instant::now(), cpu_ms());
    let end = started + time_max;
    let senders = outstanding.min(SENDERS_MAX);
    let mut tasks: Vec<_> = (0..senders).map(|_| tokio::spawn(send(cycles.clone(), end))).collect();
    tasks.extend((0..RECEIVERS).map(|n| tokio::spawn(receive(cycles.clone(), n))));
    let _ = tokio::time::timeout_at(end.into(), cycles.all_done.notified()).await;
    cycles.over.store(true, Ordering::Relaxed);
    cycles.worker.stop_waiting();
    let (done, seconds) =
        (cycles.done.load(Ordering::Relaxed) as f64, started.elapsed().as_secs_f64());
    let cpu_us_a_cycle = (cpu_ms() - cpu_before_ms) * 1_000.0 / done;
    for task in tasks {
        task.await.unwrap();
    }
    let commands_a_commit = cycles.worker.commands_a_commit();
    Speed { rate: done / seconds, cpu_us_a_cycle, commands_a_commit }
}

/// Who sends and receives.
pub fn caller() -> Caller {
    Caller { agent: "bench".parse().ok(), ..Caller::of("default".parse().unwrap()) }
}

/// Makes so many, on a store of their own.
pub async fn envelopes(count: usize) -> Envelopes {
    let (engine, caller) = (Engine::on_sqlite(), caller());
    let intent: String = "Keep the gateway's limits. ".chars().cycle().take(INTENT_BYTES).collect();
    let mut made = Vec::with_capacity(count);
    for number in 0..count {
        let new = HandoffRequest::new(agent(number), format!("Work on part {number}."));
        let request = HandoffRequest { intent: Some(intent.clone()), include_recent: 0, ..new };
        made.push(engine.handoffs.prepare(&caller, request).await.unwrap());
    }
    Arc::new(made)
}

fn agent(number: usize) -> AgentName {
    format!("agent-{}", number % RECEIVERS).parse().unwrap()
}

async fn send(cycles: Arc<Cycles<impl Worker>>, end: Instant) {
    while Instant::now() < end {
        let Ok(place) = tokio::time::timeout_at(end.into(), cycles.places.acquire()).await else {
            return;
        };
        place.unwrap().forget();
        let number = cycles.next.fetch_add(1, Ordering::Relaxed);
        let Some(made) = cycles.envelopes.get(number) else { return };
        cycles.worker.send(made, number % RECEIVERS).await;
    }
}

async fn receive(cycles: Arc<Cycles<impl Worker>>, receiver: usize) {
    while !cycles.over.load(Ordering::Relaxed) {
        let received = cycles.worker.receive(receiver).await;
        let count = received.len();
        cycles.worker.complete(received).await;
        let all = cycles.done.fetch_add(count, Ordering::Relaxed) + count;
        if all == cycles.envelopes.len() {
            cycles.all_done.notify_one();
        }
        cycles.places.add_permits(count);
    }
}

/// The real one.
pub struct EngineWorker {
    deliveries: Deliveries,
    store: Arc<dyn Store>,
    caller: Caller,
    requests: Vec<ReceiveRequest>,
}

impl EngineWorker {
    /// On this engine.
    pub fn new(engine: &Engine) -> Self {
        let request = |number| ReceiveRequest {
            max: RECEIVED_MAX,
            wait: Duration::from_millis(100),
            accept: true,
            ..ReceiveRequest::new(agent(number))
        };
        let (deliveries, store) = (engine.deliveries.clone(), engine.store.clone());
        let requests = (0..RECEIVERS).map(request).collect();
        Self { deliveries, store, caller: caller(), requests }
    }
}

impl Worker for EngineWorker {
    type Received = Received;

    async fn send(&self, made: &Assembled, _: usize) {
        let options = SendOptions::default();
        self.deliveries.send_assembled(&self.caller, made, options).await.unwrap();
    }

    async fn receive(&self, receiver: usize) -> Vec<Received> {
        let request = self.requests.get(receiver).unwrap().clone();
        self.deliveries.receive(&self.caller, request).await.unwrap()
    }

    async fn complete(&self, received: Vec<Received>) {
        let acks = received.into_iter().map(|one| (one.delivery.row.id, one.fence, Ack::default()));
        let done = self.deliveries.complete_many(&self.caller, acks.collect()).await.unwrap();
        assert!(done.iter().all(Result::is_ok));
    }

    fn stop_waiting(&self) {
        self.deliveries.stop_waiting();
    }

    fn commands_a_commit(&self) -> f64 {
        let mean = self.store.stats().and_then(|stats| stats.batch_commands.mean());
        mean.unwrap_or(f64::NAN)
    }
}
