//! How much to try, and with which choices.

use std::env;

use fastrand::Rng;

/// The normal number, or the larger one of a soak.
pub fn times(normal: usize, soak: usize) -> usize {
    if env::var_os("SPINE_SOAK").is_some() { soak } else { normal }
}

/// Random choices, and the line that says how to make them again.
pub fn seeded() -> Rng {
    let given =
        env::var("SPINE_SEED").ok().map(|seed| seed.parse().expect("a number as SPINE_SEED"));
    let seed = given.unwrap_or_else(|| fastrand::u64(..));
    println!("SPINE_SEED={seed}");
    Rng::with_seed(seed)
}
