//! The telephone game, measured: what reaches the last agent of a chain by plain summaries, by a transcript cut to the
//! budget, and through Memory Spine.

mod chain;
mod chart;
mod world;

pub use chain::{Reached, play};
pub use chart::svg;
pub use world::World;

use fastrand::Rng;

/// Every agent loses each fact of its own summary with this probability.
pub const LOSS: f64 = 0.1;
/// What the last agent may read.
pub const BUDGET_TOKENS: u32 = 4_000;
/// The shortest and the longest chain.
pub const AGENTS: std::ops::RangeInclusive<usize> = 2..=12;

/// Shares of what reached the last agent, for chains of one length.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row {
    /// How many agents.
    pub agents: usize,
    /// How many chains.
    pub chains: u32,
    /// By plain summaries.
    pub summaries: Reached,
    /// By a transcript, its end cut to the budget.
    pub transcript: Reached,
    /// Through Memory Spine.
    pub spine: Reached,
}

/// Plays `chains` chains, spread evenly over the lengths; the same seed gives the same table.
pub fn table(seed: u64, chains: u32) -> Vec<Row> {
    let lengths: Vec<usize> = AGENTS.collect();
    let chains_each = chains.div_ceil(lengths.len() as u32);
    // Two worlds, one for each core of a small machine.
    let (even, odd): (Vec<usize>, Vec<usize>) =
        lengths.into_iter().partition(|agents| agents % 2 == 0);
    let mut rows = std::thread::scope(|scope| {
        let other = scope.spawn(|| rows_of(seed + 1, &odd, chains_each));
        let mut rows = rows_of(seed, &even, chains_each);
        rows.extend(other.join().unwrap_or_default());
        rows
    });
    rows.sort_by_key(|row| row.agents);
    rows
}

fn rows_of(seed: u64, lengths: &[usize], chains: u32) -> Vec<Row> {
    let mut rng = Rng::with_seed(seed);
    let world = World::new(&mut rng);
    lengths.iter().map(|agents| row_of(&world, &mut rng, *agents, chains)).collect()
}

fn row_of(world: &World, rng: &mut Rng, agents: usize, chains: u32) -> Row {
    let mut row = Row { agents, chains, ..Row::default() };
    for _ in 0..chains {
        let [summaries, transcript, spine] = play(world, rng, agents);
        row.summaries.add(summaries);
        row.transcript.add(transcript);
        row.spine.add(spine);
    }
    row
}

/// The table as text.
pub fn shown(rows: &[Row]) -> String {
    let head = "agents  chains   facts: summaries  transcript  spine   constraints: summaries  transcript  spine   intent: spine\n";
    let line = |row: &Row| {
        let share = |reached: &Reached| 100.0 * reached.facts();
        let kept = |reached: &Reached| 100.0 * reached.constraints();
        format!(
            "{:>6}  {:>6}   {:>16.1}  {:>10.1}  {:>5.1}   {:>22.1}  {:>10.1}  {:>5.1}   {:>13.1}\n",
            row.agents,
            row.chains,
            share(&row.summaries),
            share(&row.transcript),
            share(&row.spine),
            kept(&row.summaries),
            kept(&row.transcript),
            kept(&row.spine),
            100.0 * row.spine.intents(),
        )
    };
    rows.iter().fold(head.to_owned(), |table, row| table + &line(row))
}
