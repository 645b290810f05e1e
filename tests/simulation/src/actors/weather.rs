//! Crashes, sleeps, kills, and sets the data back.

use super::{CAST, Role, join};
use crate::lock;
use crate::scheduler::TaskId;
use crate::world::{ENGINES, Weather, World};

type Living = Vec<(TaskId, (&'static str, Role))>;

/// Sets everybody to work and then makes it hard for them.
pub async fn weather(world: World) {
    let joined = CAST.iter().filter_map(|who| Some((join(&world, *who)?, *who)));
    let mut living: Living = joined.collect();
    let mut restores = u32::from(world.chance(30));
    loop {
        world.rest_ms(7_000).await;
        // What is set right when everybody is well is not to be set back any more.
        if world.weather().healthy {
            return;
        }
        match world.below(10) {
            0..3 => crash(&world).await,
            3..5 => sleep(&world),
            5..9 => kill(&world, &mut living).await,
            _ if restores > 0 => {
                restores -= 1;
                set_back(&world);
            }
            _ => {}
        }
    }
}

fn some_engine(world: &World) -> usize {
    usize::try_from(world.below(ENGINES as u64)).unwrap_or_default()
}

async fn crash(world: &World) {
    let engine = some_engine(world);
    world.crash(engine);
    world.rest_ms(800).await;
    world.start(engine);
}

fn sleep(world: &World) {
    let (engine, ms) = (some_engine(world), world.below(9_000));
    world.note(|| format!("server {engine} stands still for {ms} ms"));
    let until = world.time.now().after(std::time::Duration::from_millis(ms));
    lock(&world.orders).put_to_sleep(engine, until);
}

/// Somebody is gone in the middle of whatever it does; another takes its place later.
async fn kill(world: &World, living: &mut Living) {
    let index = usize::try_from(world.below(living.len() as u64)).unwrap_or_default();
    let Some((task, who)) = living.get(index).copied() else { return };
    world.note(|| format!("{who:?} dies"));
    lock(&world.orders).end(task);
    world.rest_ms(2_000).await;
    if let Some(task) = join(world, who) {
        living.remove(index);
        living.push((task, who));
    }
}

/// A backup is restored, or the disk turns out to have lost its last writes.
fn set_back(world: &World) {
    let commands = usize::try_from(1 + world.below(40)).unwrap_or_default();
    let new_history = world.chance(50);
    world.note(|| format!("{commands} commands are lost, new history: {new_history}"));
    (0..ENGINES).for_each(|engine| world.crash(engine));
    lock(&world.disk).set_back(commands, new_history);
    (0..ENGINES).for_each(|engine| world.start(engine));
}

/// Everybody is well from now on.
pub fn calm_down(world: &World) {
    *lock(&world.weather) = Weather { healthy: true, ..Weather::default() };
    lock(&world.orders).wake_all();
    for engine in 0..ENGINES {
        if world.server(engine).is_none() {
            world.start(engine);
        }
    }
    world.note(|| "everybody is well again".to_owned());
}
