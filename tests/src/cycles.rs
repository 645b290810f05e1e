//! Whole cycles as fast as they go: send a 4 KB envelope, receive with accept, done, each step on disk before its answer.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use spine_engine::Caller;
use spine_engine::assembly::{Assembled, HandoffRequest};
use spine_engine::delivery::{Ack, Deliveries, ReceiveRequest, SendOptions};
use tokio::sync::Semaphore;

use crate::Engine;

const RECEIVERS: usize = 10;
const SENDERS_MAX: usize = 200;

/// Everything that senders and receivers share.
struct Cycles {
    deliveries: Deliveries,
    caller: Caller,
    envelopes: Vec<Assembled>,
    next: AtomicUsize,
    done: AtomicU64,
    places: Semaphore,
}

/// Who sends and receives.
pub fn caller() -> Caller {
    Caller { agent: "bench".parse().ok(), ..Caller::of("default".parse().unwrap()) }
}

/// How many cycles a second there are with so many under way at once. Envelopes are made before the clock starts:
/// assembly has its own benchmark.
pub async fn rate(engine: &Engine, outstanding: usize, envelopes: usize, time: Duration) -> f64 {
    let caller = caller();
    let cycles = Arc::new(Cycles {
        envelopes: made(engine, &caller, envelopes).await,
        deliveries: engine.deliveries.clone(),
        caller,
        next: AtomicUsize::new(0),
        done: AtomicU64::new(0),
        places: Semaphore::new(outstanding),
    });
    let started = Instant::now();
    let end = started + time;
    let senders = outstanding.min(SENDERS_MAX);
    let mut tasks: Vec<_> = (0..senders).map(|_| tokio::spawn(send(cycles.clone(), end))).collect();
    tasks.extend((0..RECEIVERS).map(|n| tokio::spawn(receive(cycles.clone(), n, end))));
    tokio::time::sleep_until(end.into()).await;
    cycles.deliveries.stop_waiting();
    for task in tasks {
        task.await.unwrap();
    }
    cycles.done.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64()
}

async fn made(engine: &Engine, caller: &Caller, count: usize) -> Vec<Assembled> {
    let mut made = Vec::with_capacity(count);
    for number in 0..count {
        let target = format!("agent-{}", number % RECEIVERS).parse().unwrap();
        let summary =
            format!("Work on part {number}. {}", "Keep the gateway's limits. ".repeat(100));
        let request = HandoffRequest { include_recent: 0, ..HandoffRequest::new(target, summary) };
        made.push(engine.handoffs.prepare(caller, request).await.unwrap());
    }
    made
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

async fn receive(cycles: Arc<Cycles>, number: usize, end: Instant) {
    let agent = format!("agent-{number}").parse().unwrap();
    let request = ReceiveRequest {
        max: 100,
        wait: Duration::from_millis(100),
        accept: true,
        ..ReceiveRequest::new(agent)
    };
    while Instant::now() < end {
        let received = cycles.deliveries.receive(&cycles.caller, request.clone()).await.unwrap();
        let count = received.len();
        let acks = received.into_iter().map(|one| (one.delivery.row.id, one.fence, Ack::default()));
        let done = cycles.deliveries.complete_many(&cycles.caller, acks.collect()).await.unwrap();
        assert!(done.iter().all(Result::is_ok));
        cycles.done.fetch_add(count as u64, Ordering::Relaxed);
        cycles.places.add_permits(count);
    }
}
