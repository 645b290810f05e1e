//! `cargo xtask bench delivery`: whole cycles on SQLite (send a 4 KB envelope, receive with accept, done), each step on disk before
//! its answer, with every rule and event on.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use spine_engine::Caller;
use spine_engine::assembly::{Assembled, HandoffRequest};
use spine_engine::delivery::{Ack, Deliveries, ReceiveRequest, SendOptions};
use spine_tests::{Engine, cpu_ms};
use tokio::sync::Semaphore;
// The allocator of the real program.
use memory_spine as _;

const RECEIVERS: usize = 10;
const ENVELOPES: usize = 40_000;
const SECONDS: u64 = 5;

struct Bench {
    deliveries: Deliveries,
    caller: Caller,
    envelopes: Arc<Vec<Assembled>>,
    next: AtomicUsize,
    done: AtomicU64,
    places: Semaphore,
}

fn main() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(async {
        let envelopes = Arc::new(envelopes().await);
        println!("outstanding   cycles a second   µs of processor a cycle");
        for outstanding in outstanding() {
            let (rate, cpu_us) = measure(outstanding, envelopes.clone()).await;
            println!("{outstanding:>11} {rate:>17.0} {cpu_us:>25.0}");
        }
    });
}

/// Those that were asked for, or the usual ones.
fn outstanding() -> Vec<usize> {
    let asked: Vec<usize> =
        std::env::args().skip(1).map(|number| number.parse().unwrap()).collect();
    if asked.is_empty() { vec![1, 100, 1_000] } else { asked }
}

fn caller() -> Caller {
    Caller { agent: "bench".parse().ok(), ..Caller::of("default".parse().unwrap()) }
}

async fn measure(outstanding: usize, envelopes: Arc<Vec<Assembled>>) -> (f64, f64) {
    let engine = Engine::on_sqlite();
    let bench = Arc::new(Bench {
        envelopes,
        deliveries: engine.deliveries.clone(),
        caller: caller(),
        next: AtomicUsize::new(0),
        done: AtomicU64::new(0),
        places: Semaphore::new(outstanding),
    });
    let (started, cpu_before_ms) = (Instant::now(), cpu_ms());
    let end = started + Duration::from_secs(SECONDS);
    let senders = outstanding.min(200);
    let mut tasks: Vec<_> = (0..senders).map(|_| tokio::spawn(send(bench.clone(), end))).collect();
    tasks.extend((0..RECEIVERS).map(|n| tokio::spawn(receive(bench.clone(), n, end))));
    tokio::time::sleep_until(end.into()).await;
    bench.deliveries.stop_waiting();
    for task in tasks {
        task.await.unwrap();
    }
    let done = bench.done.load(Ordering::Relaxed) as f64;
    (done / started.elapsed().as_secs_f64(), (cpu_ms() - cpu_before_ms) * 1_000.0 / done)
}

/// Different ones of some 4 KB each, made before the clock starts: assembly has its own benchmark.
async fn envelopes() -> Vec<Assembled> {
    let (engine, caller) = (Engine::on_sqlite(), caller());
    let mut made = Vec::with_capacity(ENVELOPES);
    for number in 0..ENVELOPES {
        let target = format!("agent-{}", number % RECEIVERS).parse().unwrap();
        let summary =
            format!("Work on part {number}. {}", "Keep the gateway's limits. ".repeat(100));
        let request = HandoffRequest { include_recent: 0, ..HandoffRequest::new(target, summary) };
        made.push(engine.handoffs.prepare(&caller, request).await.unwrap());
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
