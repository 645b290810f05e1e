//! One seed, from the first command to the last.

use std::time::Duration;

use crate::actors::{calm_down, weather};
use crate::lock;
use crate::mutation::Mutation;
use crate::watch::{Rule, Violation};
use crate::world::{ENGINES, World};

/// How long things go wrong, in simulated seconds.
const STORM_S: u64 = 20;
/// The same for one seed in eight: long enough for a breaker to open and be probed.
const LONG_STORM_S: u64 = 90;
/// How long it may take until everything has settled, in simulated seconds.
const CALM_S_MAX: u64 = 900;
/// How often the whole disk is looked at, in simulated seconds.
const LOOK_S: u64 = 10;
/// More polls than this is a loop that never ends.
const POLLS_MAX: u64 = 2_000_000;

/// What came of a seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The first rule that did not hold.
    pub violation: Option<Violation>,
    /// How often somebody was polled.
    pub polls: u64,
    /// Commands that took effect.
    pub commands: u64,
    /// Deliveries that were made.
    pub deliveries: usize,
    /// The end of the story, if it was asked for.
    pub story: Vec<String>,
}

/// Runs one seed.
pub fn simulate(seed: u64, mutation: Mutation, traced: bool) -> Report {
    let world = World::new(seed, mutation, traced);
    let mut scheduler = world.scheduler();
    (0..ENGINES).for_each(|engine| world.start(engine));
    world.spawn(weather(world.clone()));
    let failed = || lock(&world.disk).watch.violation().is_some();
    let storm_s = if world.chance(12) { LONG_STORM_S } else { STORM_S };
    for _ in 0..storm_s / LOOK_S {
        scheduler.run_until(world.time.now().after(Duration::from_secs(LOOK_S)), failed);
        look_around(&world);
    }
    calm_down(&world);
    for _ in 0..CALM_S_MAX / LOOK_S {
        scheduler.run_until(world.time.now().after(Duration::from_secs(LOOK_S)), failed);
        let disk = lock(&world.disk);
        if disk.watch.violation().is_some() || disk.watch.unsettled(&disk.model).is_empty() {
            break;
        }
        if scheduler.polls() > POLLS_MAX {
            break;
        }
    }
    let report = finish(&world, scheduler.polls());
    drop(scheduler);
    world.close();
    report
}

fn look_around(world: &World) {
    let mut disk = lock(&world.disk);
    let disk = &mut *disk;
    disk.watch.look_around(&disk.model);
}

fn finish(world: &World, polls: u64) -> Report {
    let mut disk = lock(&world.disk);
    let disk = &mut *disk;
    disk.watch.ended(&disk.model);
    if polls > POLLS_MAX {
        disk.watch.fail(Rule::EverythingSettles, format!("{polls} polls"));
    }
    Report {
        violation: disk.watch.violation().cloned(),
        polls,
        commands: disk.applied,
        deliveries: disk.watch.deliveries(),
        story: world.story(),
    }
}
