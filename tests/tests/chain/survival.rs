//! Intent and constraints reach the last agent always; the facts it needs nearly always, where summaries lose them.

use spine_tests::survival::{AGENTS, shown, table};

#[test]
fn what_matters_survives_a_thousand_chains() {
    let seed = std::env::var("SPINE_SEED")
        .map_or_else(|_| fastrand::u64(..1 << 40), |seed| seed.parse().unwrap());
    let chains = if std::env::var_os("SPINE_SOAK").is_some() { 10_000 } else { 1_000 };
    println!("{chains} chains from SPINE_SEED={seed}");
    let rows = table(seed, chains);
    println!("{}", shown(&rows));
    assert_eq!(rows.len(), AGENTS.count(), "a chain that panics takes its rows with it");
    for row in &rows {
        assert_eq!(row.spine.intents(), 1.0, "{} agents", row.agents);
        assert_eq!(row.spine.constraints(), 1.0, "{} agents", row.agents);
        // Some five hundred facts for each length: this leaves room for chance, the mean below does not.
        assert!(row.spine.facts() >= 0.93, "{} agents: {:.3}", row.agents, row.spine.facts());
    }
    let mean = rows.iter().map(|row| row.spine.facts()).sum::<f64>() / rows.len() as f64;
    assert!(mean >= 0.97, "{mean:.3}");
    let long = rows.last().unwrap();
    assert!(
        long.summaries.facts() < 0.5 && long.summaries.constraints() < 0.5,
        "the game loses: {}",
        shown(&rows)
    );
}
