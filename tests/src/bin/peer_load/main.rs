//! The same load on Memory Spine and on a peer, by clients of the same kind: whole handoffs, each step one request over a
//! plain socket, by as many at once. Arguments: `spine` or `redis`, the port, how many at once, seconds. Prints one line of
//! JSON.

mod redis;
mod spine;

use std::error::Error;
use std::future::Future;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Queues that the load is spread over.
const QUEUES: usize = 16;

/// One of many who hand work over and take it, again and again.
trait Worker: Sized + Send + 'static {
    /// Connects so many, and makes what they need before the time counts.
    fn prepare(port: u16, count: usize) -> impl Future<Output = Outcome<Vec<Self>>> + Send;

    /// One whole handoff.
    fn cycle(&mut self) -> impl Future<Output = Outcome<()>> + Send;
}

async fn measure<W: Worker>(port: u16, concurrency: usize, seconds: f64) -> Outcome<()> {
    let workers = W::prepare(port, concurrency).await?;
    let started = Instant::now();
    let until = started + Duration::from_secs_f64(seconds);
    let at_work: Vec<_> =
        workers.into_iter().map(|worker| tokio::spawn(cycle_until(worker, until))).collect();
    let mut cycles = 0;
    for worker in at_work {
        cycles += worker.await??;
    }
    let per_s = cycles as f64 / started.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({"handoffs": cycles, "handoffs_per_s": per_s, "concurrency": concurrency})
    );
    Ok(())
}

async fn cycle_until(mut worker: impl Worker, until: Instant) -> Outcome<u64> {
    let mut cycles = 0;
    while Instant::now() < until {
        worker.cycle().await?;
        cycles += 1;
    }
    Ok(cycles)
}

async fn load(peer: &str, port: u16, concurrency: usize, seconds: f64) -> Outcome<()> {
    match peer {
        "redis" => measure::<redis::Worker>(port, concurrency, seconds).await,
        "spine" => {
            measure::<spine::Worker>(port, concurrency, seconds).await?;
            spine::check_none_open(port).await
        }
        other => Err(format!("expected `spine` or `redis`, got {other:?}").into()),
    }
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("expected: spine|redis PORT CONCURRENCY SECONDS");
    let peer = next()?;
    let (port, concurrency, seconds) = (next()?.parse()?, next()?.parse()?, next()?.parse()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(load(&peer, port, concurrency, seconds))
}
