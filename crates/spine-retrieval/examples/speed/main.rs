//! Search and index speed beside SQLite FTS5 in the same run, as ratios.
//!
//! `cargo run --release -p spine-retrieval --example speed [-- [PART] [MEMORIES ...]]`; a part is `writing`, `meanwhile` or
//! `searching`, and without one it is all of them, with so many memories to search.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod figures;
mod ours;
mod peer;
mod searching;
mod texts;
mod writing;

use std::thread;

const BATCH: usize = 1_000;
const HITS: usize = 10;
const WRITERS: usize = 100;
/// The first are written in a second or two, so that what is still to be indexed at the end counts.
const WRITTEN: [usize; 3] = [40_000, 100_000, 1_000_000];
const SEARCHED_MEANWHILE: [usize; 2] = [100_000, 400_000];
const SEARCHED: [usize; 2] = [10_000, 100_000];

/// The allocator of the real program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let mut told = std::env::args().skip(1).peekable();
    let part = told.next_if(|told| told.parse::<usize>().is_err());
    let told: Vec<usize> = told.map(|count| count.parse().expect("a number")).collect();
    match part.as_deref() {
        None => {
            each(&[], &WRITTEN, writing::write_and_index);
            each(&[], &SEARCHED_MEANWHILE, writing::search_meanwhile);
            each(&told, &SEARCHED, searching::compare_all);
        }
        Some("writing") => each(&told, &WRITTEN, writing::write_and_index),
        Some("meanwhile") => each(&told, &SEARCHED_MEANWHILE, writing::search_meanwhile),
        Some("searching") => each(&told, &SEARCHED, searching::compare_all),
        Some(other) => eprintln!("{other} is no part: writing, meanwhile, searching"),
    }
}

fn each(told: &[usize], usual: &[usize], measure: impl Fn(usize)) {
    let counts = if told.is_empty() { usual } else { told };
    counts.iter().for_each(|count| measure(*count));
}

fn write_all(texts: &[String], write: impl Fn(&str) + Sync) {
    let write = &write;
    thread::scope(|scope| {
        for share in texts.chunks(texts.len() / WRITERS) {
            scope.spawn(move || share.iter().for_each(|text| write(text)));
        }
    });
}

fn workspace(number: usize, per_workspace: usize) -> String {
    format!("space-{}", number / per_workspace)
}
