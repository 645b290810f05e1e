//! Benchmarks by name.

use crate::command::{Failure, cargo, run};

struct Benchmark {
    name: &'static str,
    shows: &'static str,
    cargo: &'static [&'static str],
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "protocol",
        shows: "parse, digest, child, render and count for an envelope of some 4,000 tokens",
        cargo: &["bench", "--package", "spine-protocol", "--bench", "envelope"],
    },
    Benchmark {
        name: "retrieval",
        shows: "recall@10 on a file in LoCoMo's form, by category, with each part switched off in turn: PATH",
        cargo: &["run", "--release", "--package", "spine-retrieval", "--example", "recall"],
    },
    Benchmark {
        name: "memory",
        shows: "writing, searching meanwhile, searching and cold start beside SQLite FTS5: [writing | meanwhile | searching] [MEMORIES …]",
        cargo: &["run", "--release", "--package", "spine-retrieval", "--example", "speed"],
    },
    Benchmark {
        name: "survival",
        shows: "what reaches the last agent of a chain, three ways: [SVG]",
        cargo: &["run", "--release", "--package", "spine-tests", "--bin", "survival"],
    },
    Benchmark {
        name: "evidence",
        shows: "evidence turns in a handoff, on a file in LoCoMo's form: PATH",
        cargo: &["run", "--release", "--package", "spine-tests", "--bin", "evidence"],
    },
    Benchmark {
        name: "delivery",
        shows: "whole cycles of send, receive and done on SQLite, each step on disk",
        cargo: &["run", "--release", "--package", "spine-tests", "--bin", "delivery_speed"],
    },
    Benchmark {
        name: "health",
        shows: "what looking after health costs, as a ratio of the same cycles: [ROUNDS] [OUTSTANDING]",
        cargo: &["run", "--release", "--package", "spine-tests", "--bin", "health_speed"],
    },
    Benchmark {
        name: "assembly",
        shows: "agent_handoff out of 100,000 memories: p50, p99, and where the time goes",
        cargo: &["run", "--release", "--package", "spine-tests", "--bin", "assembly_speed"],
    },
];

/// As the server sets it for itself (`crates/memory-spine/src/allocator.rs`), also for what is measured without one.
const KEPT_PAGES_MS: (&str, &str) = ("MIMALLOC_PURGE_DELAY", "100");

/// The benchmarks there are.
pub fn list() -> String {
    let lines = BENCHMARKS.iter().map(|bench| format!("  {:<12} {}", bench.name, bench.shows));
    let served = [
        ("peers", "the same load on Redis Streams, and the ratio: [SECONDS]"),
        ("health-served", "what health costs a server, over HTTP: [ROUNDS] [SECONDS]"),
    ];
    let served = served.iter().map(|(name, shows)| format!("  {name:<12} {shows}"));
    let lines: Vec<String> = lines.chain(served).collect();
    format!("cargo xtask bench NAME, with NAME one of\n{}", lines.join("\n"))
}

/// Runs one, with the rest of the arguments.
pub fn run_one(name: &str, arguments: &[&str]) -> Result<(), Failure> {
    let bench = BENCHMARKS.iter().find(|bench| bench.name == name);
    let bench =
        bench.ok_or_else(|| Failure::new(format!("there is no benchmark {name:?}\n{}", list())))?;
    let (variable, ms) = KEPT_PAGES_MS;
    run(cargo(bench.cargo).arg("--").args(arguments).env(variable, ms))
}
