//! What was measured, and how it is said.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long each search took, sorted, and what one computed on average.
pub struct Times {
    wall: Vec<Duration>,
    cpu_mean: Duration,
}

pub fn print_times(ours: &Times, fts: &Times) {
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        print_ratio(name, percentile(&ours.wall, share), percentile(&fts.wall, share));
    }
    print_ratio("cpu", ours.cpu_mean, fts.cpu_mean);
}

fn print_ratio(name: &str, ours: Duration, fts: Duration) {
    let ratio = fts.as_secs_f64() / ours.as_secs_f64();
    println!("search   {name} {ours:>10.2?}   fts5 {fts:>10.2?}   ratio {ratio:.1}");
}

pub fn time_each<'q>(
    queries: impl IntoIterator<Item = &'q String>,
    every: Duration,
    mut search: impl FnMut(&str),
) -> Times {
    let mut queries = queries.into_iter().peekable();
    search(queries.peek().unwrap());
    let mut time = |query: &String| {
        let start = Instant::now();
        search(query);
        start.elapsed()
    };
    let cpu = cpu_time();
    let mut wall: Vec<Duration> = Vec::new();
    for query in queries {
        let took = time(query);
        wall.push(took);
        thread::sleep(every.saturating_sub(took));
    }
    let cpu_mean = (cpu_time() - cpu) / wall.len() as u32;
    wall.sort();
    Times { wall, cpu_mean }
}

fn percentile(sorted: &[Duration], share: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// What this thread has computed, whatever else the machine does.
fn cpu_time() -> Duration {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = schedule.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or_default();
    Duration::from_nanos(ns)
}

/// What all threads computed meanwhile: it says more than the clock where others use the machine, too.
pub fn with_cpu<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = process_cpu();
    let result = work();
    (result, process_cpu() - before)
}

fn process_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks =
        behind_name.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok());
    Duration::from_millis(ticks.sum::<u64>() * 10)
}

pub fn per_second(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}

pub fn resident_mb() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kb| kb.parse().ok());
    kb.unwrap_or(0i64) / 1024
}

pub fn size_mb(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else {
        return std::fs::metadata(path).map_or(0, |meta| meta.len()) / 1_000_000;
    };
    let sizes = entries.filter_map(|entry| entry.ok()?.metadata().ok());
    sizes.map(|meta| meta.len()).sum::<u64>() / 1_000_000
}
