//! `memory-spine bench load`: whole handoff cycles over HTTP, with the latency of every stage.

mod histogram;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spine_client::{Client, ClientOptions};

use super::Failure;
use super::demo::{Process, ensure, start_server};
use crate::cli::Load;
use crate::terminal::{Progress, Screen, Table};
use histogram::Histogram;
use worker::{Stages, Worker};

const TICK: Duration = Duration::from_millis(200);

/// Loads a server of its own, or the one that was named, and reports.
pub async fn load(arguments: &Load) -> Result<(), Failure> {
    let target = Target::open(arguments.target.as_deref())?;
    let client = Client::new(ClientOptions {
        endpoint: target.endpoint.clone(),
        ..ClientOptions::from_environment()
    })?;
    let run = run(&client, arguments).await?;
    let left = left_open(&client).await?;
    let report = report(arguments, &run, left);
    Screen::new(arguments.json).show(&report, |screen| show(screen, arguments, &run));
    ensure(left == 0, &format!("every handoff that was sent is done ({left} are open or parked)"))
}

/// A server, and the folder that goes with it.
struct Target {
    endpoint: String,
    folder: Option<PathBuf>,
    server: Option<Process>,
}

impl Target {
    fn open(named: Option<&str>) -> Result<Self, Failure> {
        if let Some(endpoint) = named {
            return Ok(Self { endpoint: endpoint.to_owned(), folder: None, server: None });
        }
        let folder =
            std::env::temp_dir().join(format!("memory-spine-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let (server, endpoint) = start_server(&folder, "127.0.0.1:0", "error")?;
        Ok(Self { endpoint, folder: Some(folder), server: Some(server) })
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // The server goes before its folder.
        self.server = None;
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// What was measured.
struct Run {
    stages: Stages,
    elapsed: Duration,
}

async fn run(client: &Client, arguments: &Load) -> Result<Run, Failure> {
    let mut workers = Vec::new();
    for number in 0..arguments.concurrency {
        workers.push(Worker::prepare(client.clone(), number).await?);
    }
    let (started, cycles) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let until = started + arguments.duration;
    let at_work: Vec<_> = workers
        .into_iter()
        .map(|worker| tokio::spawn(worker.cycle_until(until, cycles.clone())))
        .collect();
    let watching = tokio::spawn(watch(arguments.duration, started, cycles));
    let mut stages = Stages::default();
    for worker in at_work {
        stages.add(&worker.await??);
    }
    watching.abort();
    Progress::new().end();
    Ok(Run { stages, elapsed: started.elapsed() })
}

async fn watch(duration: Duration, started: Instant, cycles: Arc<AtomicU64>) {
    let mut progress = Progress::new();
    loop {
        let (done, elapsed) = (cycles.load(Ordering::Relaxed), started.elapsed().as_secs_f64());
        let said = format!("{done} handoffs, {:.0} a second", done as f64 / elapsed.max(0.001));
        progress.at(Some(elapsed / duration.as_secs_f64()), &said);
        tokio::time::sleep(TICK).await;
    }
}

/// What was sent and is not done.
async fn left_open(client: &Client) -> Result<u64, Failure> {
    let agents = client.agents().await?;
    let ours = agents.iter().filter(|agent| agent.name.as_str().starts_with(worker::AGENT_PREFIX));
    Ok(ours.map(|agent| &agent.queue).map(|q| q.pending + q.leased + q.accepted + q.parked).sum())
}

fn report(arguments: &Load, run: &Run, left: u64) -> Value {
    let (cycles, seconds) = (run.stages.ack.count(), run.elapsed.as_secs_f64());
    let named = run.stages.named().into_iter();
    let stages: Value =
        named.map(|(name, histogram)| (name.to_owned(), stage(histogram))).collect();
    json!({
        "concurrency": arguments.concurrency, "seconds": seconds, "handoffs": cycles,
        "handoffs_per_s": cycles as f64 / seconds, "left_open": left, "stages": stages,
    })
}

fn stage(histogram: &Histogram) -> Value {
    json!({
        "count": histogram.count(), "p50_ms": histogram.ms(0.50), "p95_ms": histogram.ms(0.95),
        "p99_ms": histogram.ms(0.99), "max_ms": histogram.ms(1.0),
    })
}

fn show(screen: &Screen, arguments: &Load, run: &Run) {
    let (cycles, seconds) = (run.stages.ack.count(), run.elapsed.as_secs_f64());
    screen.say(&format!(
        "{cycles} handoffs in {seconds:.1} s at {} at once: {:.0} a second",
        arguments.concurrency,
        cycles as f64 / seconds
    ));
    let mut table = Table::new(&["STAGE", "COUNT", "P50 ms", "P95 ms", "P99 ms", "MAX ms"]);
    for (name, histogram) in run.stages.named() {
        let parts = [0.50, 0.95, 0.99, 1.0].map(|part| format!("{:.2}", histogram.ms(part)));
        table.row([name.to_owned(), histogram.count().to_string()].into_iter().chain(parts));
    }
    screen.say(&table.text());
}
