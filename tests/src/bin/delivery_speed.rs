//! `cargo xtask bench delivery`: whole cycles on SQLite (send a 4 KB envelope, receive with accept, done), each step on disk before
//! its answer, with every rule and event on.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use spine_engine::Caller;
use spine_engine::assembly::{Assembled, HandoffRequest};
use spine_engine::delivery::{Ack, Deliveries, ReceiveRequest, SendOptions};
use spine_tests::Engine;
use tokio::sync::Semaphore;

const RECEIVERS: usize = 10;
const ENVELOPES: usize = 40_000;
const SECONDS: u64 = 5;

struct Bench {
    deliveries: Deliveries,
    caller: Caller,
    envelopes: Vec<Assembled>,
    next: AtomicUsize,
    done: AtomicU64,
    places: Semaphore,
}

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(async {
        println!("outstanding   cycles a second");
        for outstanding in [1, 100, 1_000] {
            let rate = measure(outstanding).await;
            println!("{outstanding:>11} {rate:>17.0}");
        }
    });
}

async fn measure(outstanding: usize) -> f64 {
    let engine = Engine::on_sqlite();
    let caller = Caller { agent: "bench".parse().ok(), ..Caller::of("default".parse().unwrap()) };
    let bench = Arc::new(Bench {
        envelopes: envelopes(&engine, &caller).await,
        deliveries: engine.deliveries.clone(),
        caller,
        next: AtomicUsize::new(0),
        done: AtomicU64::new(0),
        places: Semaphore::new(outstanding),
    });
    let started = Instant::now();
    let end = started + Duration::from_secs(SECONDS);
    let senders = outstanding.min(200);
    let mut tasks: Vec<_> = (0..senders).map(|_| tokio::spawn(send(bench.clone(), end))).collect();
    tasks.extend((0..RECEIVERS).map(|n| tokio::spawn(receive(bench.clone(), n, end))));
    tokio::time::sleep_until(end.into()).await;
    bench.deliveries.stop_waiting();
    for task in tasks {
        task.await.unwrap();
    }
    bench.done.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64()
}

/// Different ones of some 4 KB each, made before the clock starts: assembly has its own benchmark.
async fn envelopes(engine: &Engine, caller: &Caller) -> Vec<Assembled> {
    let mut made = Vec::with_capacity(ENVELOPES);
    for number in 0..ENVELOPES {
        let target = format!("agent-{}", number % RECEIVERS).parse().unwrap();
        let summary =
            format!("Work on part {number}. {}", "Keep the gateway's limits. ".repeat(100));
        let request = HandoffRequest { include_recent: 0, ..HandoffRequest::new(target, summary) };
        made.push(engine.handoffs.prepare(caller, request).await.unwrap());
    }
    made
}

async fn send(bench: Arc<Bench>, end: Instant) {
    while Instant::now() < end {
        let Ok(place) = tokio::time::timeout_at(end.into(), bench.places.acquire()).await else {
            return;
        };
        place.unwrap().forget();
        let number = bench.next.fetch_add(1, Ordering::Relaxed);
        let Some(made) = bench.envelopes.get(number) else { return };
        let options = SendOptions::default();
        bench.deliveries.send_assembled(&bench.caller, made, options).await.unwrap();
    }
}

async fn receive(bench: Arc<Bench>, number: usize, end: Instant) {
    let agent = format!("agent-{number}").parse().unwrap();
    let request = ReceiveRequest {
        max: 100,
        wait: Duration::from_millis(100),
        accept: true,
        ..ReceiveRequest::new(agent)
    };
    while Instant::now() < end {
        let received = bench.deliveries.receive(&bench.caller, request.clone()).await.unwrap();
        let count = received.len();
        let acks = received.into_iter().map(|one| (one.delivery.row.id, one.fence, Ack::default()));
        let done = bench.deliveries.complete_many(&bench.caller, acks.collect()).await.unwrap();
        assert!(done.iter().all(Result::is_ok));
        bench.done.fetch_add(count as u64, Ordering::Relaxed);
        bench.places.add_permits(count);
    }
}
