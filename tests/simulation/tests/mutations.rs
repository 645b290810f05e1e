//! Broken engines are noticed: otherwise the simulation would show nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use spine_simulation::mutation::Mutation;
use spine_simulation::run::simulate;
use spine_simulation::watch::Rule;

/// As many as in the normal run; most are caught by the first few.
const SEEDS: u64 = 1_000;

/// The rules that a broken engine breaks first, in one seed or another.
fn expected(mutation: Mutation) -> &'static [Rule] {
    match mutation {
        Mutation::None => &[],
        Mutation::EpochIgnored => &[Rule::LostLeaseIsPowerless],
        Mutation::IncarnationIgnored => &[Rule::TokensDiffer],
        Mutation::AnswerBeforeCommit => &[Rule::AnsweredIsStored],
        Mutation::BackoffLost => &[Rule::Backoff],
        Mutation::JoinUnguarded => &[Rule::JoinOnce],
        Mutation::NextSplit => &[Rule::NextIsAtomic],
        Mutation::AttemptsUncounted => &[Rule::Attempts],
        // Whoever comes too late writes all the same: what that breaks first depends on who it is.
        Mutation::GuardsIgnored => &[
            Rule::OneLease,
            Rule::EpochsGrow,
            Rule::EndIsFinal,
            Rule::LostLeaseIsPowerless,
            Rule::Attempts,
        ],
        Mutation::KeysIgnored => &[Rule::OncePerRequest],
        Mutation::OrderIgnored => &[Rule::Order],
        Mutation::BreakerIgnored | Mutation::PauseIgnored => &[Rule::HeldBack],
        Mutation::WorkspacesMixed => &[Rule::Isolation],
        Mutation::WakesLost => &[Rule::EverythingSettles],
        Mutation::LeaseEndForgotten => &[Rule::EverythingSettles],
        Mutation::PruningUnguarded | Mutation::ParentsUnguarded => &[Rule::PrunedIsOver],
    }
}

fn caught(mutation: Mutation) -> (u64, Rule, String) {
    let failing =
        (1..=SEEDS).find_map(|seed| Some((seed, simulate(seed, mutation, false).violation?)));
    let (seed, violation) = failing.unwrap_or_else(|| panic!("{mutation:?} was not noticed"));
    (seed, violation.rule, violation.detail)
}

#[test]
fn every_broken_engine_is_caught_by_the_rule_it_breaks() {
    for mutation in Mutation::ALL {
        let (seed, rule, detail) = caught(mutation);
        println!("{mutation:?} at seed {seed}: {rule:?}: {detail}");
        assert!(expected(mutation).contains(&rule), "{mutation:?} broke {rule:?}: {detail}");
        // The same seed with the engine as it is.
        assert_eq!(simulate(seed, Mutation::None, false).violation, None, "seed {seed}");
    }
}
