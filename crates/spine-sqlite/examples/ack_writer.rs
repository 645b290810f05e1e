//! For crash tests: writes memories from many threads as fast as it can, and prints each id after its
//! write was acknowledged. `verify` reads those ids and checks that each is there and the file is whole.
//!
//! ack_writer write PATH [--threads N] [--in-flight N, for each thread] [--writes N] [--unsafe-normal]
//! ack_writer verify PATH < ACKNOWLEDGED
//! ack_writer hold PATH     (opens the store, says so, and waits until its input ends)
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use std::io::{self, BufRead, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use spine_protocol::{MemoryId, WorkspaceName};
use spine_sqlite::{CheckDepth, Durability, Options, SqliteStore};
use spine_store::testing::block_on;
use spine_store::{
    Applied, Command, MemoryBody, MemoryDraft, MemoryReads, Outcome, Put, Store, StoreError,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["write", path, options @ ..] => write(Path::new(path), options),
        ["verify", path] => verify(Path::new(path)),
        ["hold", path] => hold(Path::new(path)),
        _ => panic!("usage: ack_writer write|verify|hold PATH"),
    };
    result.map_or_else(complain, |()| ExitCode::SUCCESS)
}

fn complain(error: StoreError) -> ExitCode {
    eprintln!("{error}\n{:?}: {}", error.kind(), error.detail());
    ExitCode::FAILURE
}

fn default() -> WorkspaceName {
    "default".parse().unwrap()
}

/// The value behind a flag.
fn number(options: &[&str], flag: &str, otherwise: u64) -> u64 {
    let found = options.iter().position(|option| *option == flag);
    found.and_then(|at| options.get(at + 1)).map_or(otherwise, |value| value.parse().unwrap())
}

fn write(path: &Path, options: &[&str]) -> Result<(), StoreError> {
    let normal = options.contains(&"--unsafe-normal");
    let durability = if normal { Durability::Normal } else { Durability::Full };
    let store = SqliteStore::open(path, Options { durability, ..Options::default() })?;
    let (threads, in_flight) =
        (number(options, "--threads", 16), number(options, "--in-flight", 1));
    let writes = number(options, "--writes", u64::MAX);
    let (started, left) = (Instant::now(), AtomicU64::new(writes));
    let work = || write_until_done(&store, &left, in_flight);
    let results: Vec<Result<(), StoreError>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{writes} writes, {:.0} a second", writes as f64 / seconds);
    results.into_iter().collect()
}

fn write_until_done(
    store: &SqliteStore,
    left: &AtomicU64,
    in_flight: u64,
) -> Result<(), StoreError> {
    let take = |left: u64| left.checked_sub(in_flight);
    while left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok() {
        let waiting: Vec<_> = (0..in_flight).map(|_| store.apply(vec![command(store)])).collect();
        for answer in waiting {
            let id = acknowledged(block_on(answer)?)?;
            // One call for the whole line: lines of two threads do not mix, and no kill cuts one short.
            io::stdout().write_all(format!("{id}\n").as_bytes()).unwrap();
        }
    }
    Ok(())
}

fn command(store: &SqliteStore) -> Command {
    let body = MemoryBody { text: "x".repeat(200), ..MemoryBody::default() };
    let put = Put::NewMemory(Box::new(MemoryDraft { body, content: None }));
    Command { puts: vec![put], ..Command::new(default(), store.now()) }
}

fn acknowledged(mut outcomes: Vec<Outcome>) -> Result<MemoryId, StoreError> {
    match outcomes.remove(0)? {
        Applied::Now(receipt) => Ok(receipt.first_memory.unwrap()),
        Applied::Before(_) => panic!("there was no idempotency key"),
    }
}

fn verify(path: &Path) -> Result<(), StoreError> {
    let store = SqliteStore::open(path, Options::default())?;
    store.check(CheckDepth::Full)?;
    let (mut found, mut lost) = (0, 0);
    for line in io::stdin().lock().lines() {
        let id: MemoryId = line.unwrap().parse().unwrap();
        let row = block_on(store.memory(&default(), id))?;
        if row.is_some_and(|row| row.live().is_some()) { found += 1 } else { lost += 1 }
    }
    println!("{found} found, {lost} lost");
    assert_eq!(lost, 0, "acknowledged writes are lost");
    Ok(())
}

fn hold(path: &Path) -> Result<(), StoreError> {
    let _store = SqliteStore::open(path, Options::default())?;
    println!("open");
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
    Ok(())
}
