//! Whole cycles as fast as they go: send a 4 KB envelope, receive with accept, done, each step on disk before its answer.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use spine_engine::Caller;
use spine_engine::assembly::{Assembled, HandoffRequest};
use spine_engine::delivery::{Ack, Deliveries, ReceiveRequest, SendOptions};
use tokio::sync::{Notify, Semaphore};

use crate::{Engine, cpu_ms};

const RECEIVERS: usize = 10;
const SENDERS_MAX: usize = 1_000;
/// With it an envelope is of 4 KB.
const INTENT_BYTES: usize = 3_200;

/// Everything that senders and receivers share.
struct Cycles {
    deliveries: Deliveries,
    caller: Caller,
    envelopes: Envelopes,
    next: AtomicUsize,
    done: AtomicUsize,
    all_done: Notify,
    over: AtomicBool,
    places: Semaphore,
}

/// Who sends and receives.
pub fn caller() -> Caller {
    Caller { agent: "bench".parse().ok(), ..Caller::of("default".parse().unwrap()) }
}

/// Handoffs of some 4 KB each, all different.
pub type Envelopes = Arc<Vec<Assembled>>;

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
    engine: &Engine,
    outstanding: usize,
    envelopes: Envelopes,
    time_max: Duration,
) -> Speed {
    let cycles = Arc::new(Cycles {
        envelopes,
        deliveries: engine.deliveries.clone(),
        caller: caller(),
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
    cycles.deliveries.stop_waiting();
    let (done, seconds) =
        (cycles.done.load(Ordering::Relaxed) as f64, started.elapsed().as_secs_f64());
    let cpu_us_a_cycle = (cpu_ms() - cpu_before_ms) * 1_000.0 / done;
    for task in tasks {
        task.await.unwrap();
    }
    let commands_a_commit = engine.store.stats().and_then(|stats| stats.batch_commands.mean());
    let commands_a_commit = commands_a_commit.unwrap_or(f64::NAN);
    Speed { rate: done / seconds, cpu_us_a_cycle, commands_a_commit }
}

/// Makes so many, on a store of their own.
pub async fn envelopes(count: usize) -> Envelopes {
    let (engine, caller) = (Engine::on_sqlite(), caller());
    let intent: String = "Keep the gateway's limits. ".chars().cycle().take(INTENT_BYTES).collect();
    let mut made = Vec::with_capacity(count);
    for number in 0..count {
        let target = format!("agent-{}", number % RECEIVERS).parse().unwrap();
        let new = HandoffRequest::new(target, format!("Work on part {number}."));
        let request = HandoffRequest { intent: Some(intent.clone()), include_recent: 0, ..new };
        made.push(engine.handoffs.prepare(&caller, request).await.unwrap());
    }
    Arc::new(made)
}

async fn send(cycles: Arc<Cycles>, end: Instant) {
    while Instant::now() < end {
        let Ok(place) = tokio::time::timeout_at(end.into(), cycles.places.acquire()).await else {
            return;
        };
        place.unwrap().forget();
        let number = cycles.next.fetch_add(1, Ordering::Relaxed);
        let Some(made) = cycles.envelopes.get(number) else { return };
        let options = SendOptions::default();
        cycles.deliveries.send_assembled(&cycles.caller, made, options).await.unwrap();
    }
}

async fn receive(cycles: Arc<Cycles>, number: usize) {
    let agent = format!("agent-{number}").parse().unwrap();
    let request = ReceiveRequest {
        max: 100,
        wait: Duration::from_millis(100),
        accept: true,
        ..ReceiveRequest::new(agent)
    };
    while !cycles.over.load(Ordering::Relaxed) {
        let received = cycles.deliveries.receive(&cycles.caller, request.clone()).await.unwrap();
        let count = received.len();
        let acks = received.into_iter().map(|one| (one.delivery.row.id, one.fence, Ack::default()));
        let done = cycles.deliveries.complete_many(&cycles.caller, acks.collect()).await.unwrap();
        assert!(done.iter().all(Result::is_ok));
        let all = cycles.done.fetch_add(count, Ordering::Relaxed) + count;
        if all == cycles.envelopes.len() {
            cycles.all_done.notify_one();
        }
        cycles.places.add_permits(count);
    }
}
