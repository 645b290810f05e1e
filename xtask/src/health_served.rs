//! `cargo xtask bench health-served [ROUNDS] [SECONDS]`: what looking after health costs a server, by whole handoffs over
//! HTTP, 100 at once. Servers that look ten times a second and servers that look once a minute take turns, so that
//! whatever else the machine does is in both.

use std::path::Path;
use std::process::Command;

use crate::command::{Failure, cargo, run, target_folder};
use crate::peers::Load;

const ROUNDS_DEFAULT: usize = 20;
const SECONDS_DEFAULT: &str = "4";
const CONCURRENCY: &str = "100";
const LOOKING_S: &str = "0.1";
const HARDLY_LOOKING_S: &str = "60";

/// Prints the ratio of each round, and what is in the middle.
pub fn compare(arguments: &[&str]) -> Result<(), Failure> {
    let rounds = arguments.first().map_or(Ok(ROUNDS_DEFAULT), |rounds| count(rounds))?;
    let seconds = arguments.get(1).copied().unwrap_or(SECONDS_DEFAULT);
    let programs = ["--bin", "memory-spine", "--bin", "peer_load"];
    run(cargo(&["build", "--release", "--workspace"]).args(programs))?;
    let target = target_folder()?;
    let mut ratios = Vec::new();
    println!("round   without   with   with / without");
    for round in 0..rounds {
        // Who is first changes, too.
        let first_looks = round % 2 == 0;
        let first = handoffs_a_second(&target, first_looks, seconds)?;
        let second = handoffs_a_second(&target, !first_looks, seconds)?;
        let (with, without) = if first_looks { (first, second) } else { (second, first) };
        let ratio = with / without;
        println!("{round:>5} {without:>9.0} {with:>6.0} {ratio:>16.3}");
        ratios.push(ratio);
    }
    say(ratios);
    Ok(())
}

fn count(rounds: &str) -> Result<usize, Failure> {
    rounds.parse().map_err(|_| Failure::new(format!("{rounds:?} is no number of rounds")))
}

fn handoffs_a_second(target: &Path, looks: bool, seconds: &str) -> Result<f64, Failure> {
    let every = if looks { LOOKING_S } else { HARDLY_LOOKING_S };
    let mut serving = Command::new(target.join("release/memory-spine"));
    let load = Load { target, concurrency: CONCURRENCY, seconds };
    load.on_spine(serving.env("MEMORY_SPINE_HEALTH_LOOK_S", every))
}

fn say(mut ratios: Vec<f64>) {
    ratios.sort_by(f64::total_cmp);
    let at = |place: usize| ratios.get(place).copied().unwrap_or(f64::NAN);
    let (low, median, high) =
        (at(ratios.len() / 4), at(ratios.len() / 2), at(ratios.len() * 3 / 4));
    let cost = (1.0 - median) * 100.0;
    println!("median {median:.3} (quarters {low:.3} to {high:.3}), a cost of {cost:.1} %");
}
