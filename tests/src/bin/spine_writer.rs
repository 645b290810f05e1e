//! The program that is crashed.
//!
//! ```text
//! spine_writer write DIR THREADS [--acks N] [--checkpoint-pages N] [--seed N] [--synchronous normal]
//!                                [--index kept]
//! spine_writer verify DIR < ACKNOWLEDGEMENTS
//! ```
//!
//! `write` stores memories, changes and removes them as fast as it can, and prints `ack <memory> <what is left>` for each
//! write when it was acknowledged, never before. A thread ends at its first error. When all have ended, the errors are
//! printed, and a few more writes are tried, so that an `ack` behind an `error` is a write that was taken
//! by a store that had failed. With `--index kept` a search index is kept in step meanwhile.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use fastrand::Rng;
use spine_engine::memories::MemoryError;
use spine_sqlite::{Durability, Options};
use spine_store::StoreError;
use spine_tests::{Ack, House, verify};

const USAGE: &str = "usage: spine_writer write DIR THREADS [--acks N] [--checkpoint-pages N] \
                     [--seed N] [--synchronous normal] [--index kept] | spine_writer verify DIR";
const WRITES_AFTER_ERROR: usize = 3;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["write", folder, threads, settings @ ..] => write(Path::new(folder), threads, settings),
        ["verify", folder] => verify_acknowledged(Path::new(folder)),
        _ => Err(USAGE.into()),
    };
    done.unwrap_or_else(|failure| {
        eprintln!("{failure}");
        ExitCode::FAILURE
    })
}

struct Load {
    threads: usize,
    acks_max: usize,
    seed: u64,
    index: bool,
    options: Options,
}

impl Load {
    fn parse(threads: &str, settings: &[&str]) -> Result<Self, Failure> {
        let (threads, options) = (threads.parse()?, Options::default());
        let mut load = Self { threads, acks_max: usize::MAX, seed: 0, index: false, options };
        for setting in settings.chunks(2) {
            match setting {
                ["--acks", acks] => load.acks_max = acks.parse()?,
                ["--checkpoint-pages", pages] => load.options.checkpoint_pages = pages.parse()?,
                ["--seed", seed] => load.seed = seed.parse()?,
                ["--index", "kept"] => load.index = true,
                ["--synchronous", "normal"] => load.options.durability = Durability::Normal,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(load)
    }
}

fn write(folder: &Path, threads: &str, settings: &[&str]) -> Result<ExitCode, Failure> {
    let load = Load::parse(threads, settings)?;
    let house = match House::open(folder, load.options.clone()) {
        Ok(house) => house,
        Err(error) => return tell(&error.into()),
    };
    let errors = write_and_index(folder, &house, &load)?;
    if errors.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    errors.iter().try_for_each(|error| tell(error).map(drop))?;
    write_after_error(&house, load.seed)
}

/// Writes, and keeps an index in step if that is wanted.
fn write_and_index(folder: &Path, house: &House, load: &Load) -> Result<Vec<MemoryError>, Failure> {
    if !load.index {
        // The power-cut tests model every write of this process: an index would be a stranger among them.
        return write_from_threads(house, load);
    }
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let indexing = scope.spawn(|| house.index_until(folder, &stop));
        let errors = write_from_threads(house, load);
        stop.store(true, Ordering::Relaxed);
        indexing.join().map_err(|_| "the index panicked")??;
        errors
    })
}

/// The first error of each thread that had one.
fn write_from_threads(house: &House, load: &Load) -> Result<Vec<MemoryError>, Failure> {
    let acks = AtomicUsize::new(0);
    let results: Vec<_> = thread::scope(|scope| {
        let start = |number| {
            let rng = Rng::with_seed(load.seed.wrapping_add(number as u64));
            let acks = &acks;
            scope.spawn(move || write_until_error(house, rng, acks, load.acks_max))
        };
        let threads: Vec<_> = (0..load.threads).map(start).collect();
        threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let ended = results.into_iter().map(|joined| joined.map_err(|_| "a thread panicked"));
    let ended = ended.collect::<Result<Vec<_>, _>>()?;
    Ok(ended.into_iter().filter_map(Result::err).collect())
}

fn write_until_error(
    house: &House,
    mut rng: Rng,
    acks: &AtomicUsize,
    acks_max: usize,
) -> Result<(), MemoryError> {
    let mut own = Vec::new();
    while acks.load(Ordering::Relaxed) < acks_max {
        let written = house.write_some(&mut own, &mut rng)?;
        acks.fetch_add(written.len(), Ordering::Relaxed);
        written.iter().for_each(acknowledge);
    }
    Ok(())
}

fn write_after_error(house: &House, seed: u64) -> Result<ExitCode, Failure> {
    let mut rng = Rng::with_seed(!seed);
    for _ in 0..WRITES_AFTER_ERROR {
        match house.store_some(&mut rng) {
            Ok(stored) => stored.iter().for_each(acknowledge),
            Err(error) => tell(&error).map(drop)?,
        }
    }
    Ok(ExitCode::FAILURE)
}

/// One call for the whole line: lines of two threads do not mix, and a kill cuts none short.
fn say(line: &str) {
    if io::stdout().write_all(format!("{line}\n").as_bytes()).is_err() {
        // Nobody listens any more, and nobody else would end it.
        std::process::exit(1);
    }
}

fn acknowledge(ack: &Ack) {
    say(&ack.to_string());
}

fn tell(error: &MemoryError) -> Result<ExitCode, Failure> {
    let MemoryError::Store(error) = error else { return Err(error.to_string().into()) };
    say(&format!("error {:?}", error.kind()));
    eprintln!("{error} ({})", error.detail());
    Ok(ExitCode::FAILURE)
}

fn verify_acknowledged(folder: &Path) -> Result<ExitCode, Failure> {
    let mut acknowledged = Vec::new();
    for line in io::stdin().lock().lines() {
        acknowledged.push(line?.parse()?);
    }
    let verdict = verify(folder, &acknowledged)
        .map_err(|error: StoreError| format!("{error} ({:?}: {})", error.kind(), error.detail()))?;
    say(&verdict.to_string());
    Ok(if verdict.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
