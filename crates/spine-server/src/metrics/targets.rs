//! Figures of each target, where that was set. An agent has series of its own or is among the others, and stays there as long as
//! the process lives: what is counted never goes back.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use spine_engine::health::TargetTotals;
use spine_protocol::AgentName;

use super::family::{Family, Kind, Labels, Value};
use super::standing::{Standing, TargetStanding};

/// All targets without series of their own. No agent can have this name.
const OTHERS: &str = "_other";

/// Which agents have series of their own.
#[derive(Default)]
pub struct Named(Mutex<BTreeSet<AgentName>>);

impl Named {
    /// Gives places to those that have none, the busiest first, and says who has one.
    fn extended(&self, standing: &Standing, places: usize) -> BTreeSet<AgentName> {
        // What a panic left behind is still a set of names.
        let mut named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = standing.totals.targets.keys().flatten();
        let waiting = standing.targets.keys();
        let handoffs = |name: &AgentName| {
            let totals = standing.totals.targets.get(&Some(name.clone()));
            totals.map_or(0, |totals| totals.counts.handoffs)
        };
        let mut fresh: Vec<&AgentName> =
            counted.chain(waiting).filter(|name| !named.contains(*name)).collect();
        fresh.sort_by_key(|name| (Reverse(handoffs(name)), *name));
        fresh.dedup();
        let left = places.saturating_sub(named.len());
        named.extend(fresh.into_iter().take(left).cloned());
        named.clone()
    }
}

/// One target, or all others.
#[derive(Default)]
struct Target {
    totals: TargetTotals,
    standing: TargetStanding,
}

/// The families, of at most so many targets and the others.
pub fn families(standing: &Standing, named: &Named, places: usize) -> Vec<Family> {
    if places == 0 {
        return Vec::new();
    }
    let targets = by_label(standing, &named.extended(standing, places));
    vec![
        latencies(&targets),
        handoffs(&targets),
        failures(&targets),
        queues(&targets),
        breakers(&targets),
    ]
}

fn by_label(standing: &Standing, named: &BTreeSet<AgentName>) -> BTreeMap<String, Target> {
    let label = |name: Option<&AgentName>| match name.filter(|name| named.contains(*name)) {
        Some(name) => name.to_string(),
        None => OTHERS.to_owned(),
    };
    let mut targets = BTreeMap::<_, Target>::from([(OTHERS.to_owned(), Target::default())]);
    for (name, totals) in &standing.totals.targets {
        targets.entry(label(name.as_ref())).or_default().totals.merge(totals);
    }
    for (name, queue) in &standing.targets {
        targets.entry(label(Some(name))).or_default().standing.merge(queue);
    }
    targets
}

type Targets = BTreeMap<String, Target>;

fn of_target(name: &str) -> Labels {
    vec![("target", name.to_owned().into())]
}

fn of_part(name: &str, label: &'static str, word: &'static str) -> Labels {
    vec![("target", name.to_owned().into()), (label, word.into())]
}

fn latencies(targets: &Targets) -> Family {
    let points = targets.iter().flat_map(|(name, target)| {
        [("accepted", &target.totals.accepted), ("done", &target.totals.done)]
            .map(|(stage, tally)| (of_part(name, "stage", stage), Value::Numbers(tally.clone())))
    });
    let help = "Time from handoff to a stage, by target.";
    Family::of(Kind::Histogram, "memory_spine_target_latency_seconds", help, points)
}

fn handoffs(targets: &Targets) -> Family {
    let count = |target: &Target| target.totals.counts.handoffs;
    counted(targets, "memory_spine_target_handoffs_total", "Handoffs sent, by target.", count)
}

fn failures(targets: &Targets) -> Family {
    let (name, help) =
        ("memory_spine_target_failed_total", "Handoffs that ran out of attempts, by target.");
    counted(targets, name, help, |target| target.totals.counts.failed)
}

fn counted(
    targets: &Targets,
    name: &'static str,
    help: &'static str,
    count: impl Fn(&Target) -> u64,
) -> Family {
    let point =
        |(name, target): (&String, &Target)| (of_target(name), Value::Number(count(target) as f64));
    Family::of(Kind::Counter, name, help, targets.iter().map(point))
}

fn queues(targets: &Targets) -> Family {
    let points = targets.iter().flat_map(|(name, Target { standing, .. })| {
        [
            ("pending", standing.pending),
            ("leased", standing.leased),
            ("accepted", standing.accepted),
            ("parked", standing.parked),
        ]
        .map(|(state, count)| (of_part(name, "state", state), Value::Number(count as f64)))
    });
    let help = "Deliveries in queues, by target and state.";
    Family::of(Kind::Gauge, "memory_spine_target_queue_deliveries", help, points)
}

fn breakers(targets: &Targets) -> Family {
    let point = |(name, target): (&String, &Target)| {
        (of_target(name), Value::Number(target.standing.breakers_open as f64))
    };
    let help = "Breakers that are not closed, by target: one for each workspace that has it.";
    Family::of(Kind::Gauge, "memory_spine_target_breakers_open", help, targets.iter().map(point))
}
