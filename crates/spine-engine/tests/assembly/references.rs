//! Which memories travel, why, and what becomes of those that cannot.

use std::time::Duration;

use spine_engine::assembly::HandoffRequest;
use spine_engine::memories::NewMemory;
use spine_protocol::{Gap, NewHistory, Source};

use crate::house::*;

fn gaps(gaps: &[Gap]) -> Vec<(&str, &str)> {
    gaps.iter().map(|gap| (gap.reference.as_str(), gap.reason.as_str())).collect()
}

#[test]
fn every_explicit_reference_is_there_or_a_gap_with_its_reason() {
    let house = house();
    let kept = house.note("kept");
    let deleted = house.note("deleted");
    let expired = house.store(NewMemory { ttl: Some(Duration::from_secs(1)), ..note("expired") });
    let other = house
        .store(NewMemory { subject: Some("user:9".parse().unwrap()), ..note("about somebody") });
    spine_store::testing::block_on(house.memories.delete(&house.caller, deleted, None)).unwrap();
    house.clock.advance_ms(2_000);
    let summary = format!("Use {kept} through {other}, and ms-77.");
    let envelope = house.assemble(request(&summary));
    assert_eq!(packed(&envelope, kept).unwrap().source, Source::Mentioned);
    assert_eq!(
        gaps(&envelope.completeness.gaps),
        [
            (deleted.to_string().as_str(), "deleted"),
            (expired.to_string().as_str(), "expired"),
            (other.to_string().as_str(), "another subject"),
            ("ms-77", "not_found"),
        ]
    );
    assert_eq!((envelope.completeness.requested, envelope.completeness.included), (5, 1));
}

#[test]
fn a_memory_from_two_sources_travels_once_with_the_strongest() {
    let house = house();
    let memory = house.store(NewMemory { pinned: true, ..note("the gateway retries") });
    let second = house.note("the gateway times out");
    let mut request = request(&format!("See {memory} and {second} about the gateway."));
    request.memory_refs = vec![memory, second];
    request.history = vec![NewHistory {
        agent: "researcher".parse().unwrap(),
        action: "read the docs".into(),
        why: None,
        memory_id: Some(second),
        result_digest: None,
        at: None,
    }];
    let envelope = house.assemble(request);
    assert_eq!(envelope.memories.len(), 2);
    assert_eq!(packed(&envelope, memory).unwrap().source, Source::Pinned);
    assert_eq!(packed(&envelope, second).unwrap().source, Source::Mentioned);
    assert_eq!(envelope.completeness.score(), 1.0);
}

/// The oldest of more than five hundred pins were left out without a word.
#[test]
fn pins_beyond_the_limit_are_a_gap() {
    const PINS_MAX: usize = 500;
    let house = house();
    let long = "The gateway retries. ".repeat(900);
    let pin = |n: usize| NewMemory { pinned: true, ..note(&format!("{n}. {long}")) };
    let first = house.store(pin(0));
    let wide = || HandoffRequest { max_tokens: Some(50_000), ..request("Go on.") };
    for count in 1..=PINS_MAX {
        if count == PINS_MAX {
            let envelope = house.assemble(wide());
            assert_eq!(
                (envelope.memories.len(), gaps(&envelope.completeness.gaps).len()),
                (count, 0)
            );
        }
        house.store(pin(count));
    }
    let envelope = house.assemble(wide());
    assert_eq!(gaps(&envelope.completeness.gaps), [("older pinned memories", "too many")]);
    assert_eq!((envelope.memories.len(), packed(&envelope, first)), (PINS_MAX, None));
}

#[test]
fn with_nothing_requested_completeness_is_one() {
    let envelope = house().assemble(request("Start."));
    assert_eq!((envelope.completeness.requested, envelope.completeness.score()), (0, 1.0));
}

#[test]
fn a_child_inherits_memories_at_their_newest_version_and_asks_again_for_gaps() {
    let house = house();
    let first = house.note("version one");
    let root = house.assemble(request(&format!("Use {first} and ms-2.")));
    assert_eq!(root.completeness.gaps.len(), 1);
    let patch = spine_engine::memories::MemoryPatch {
        text: Some("version two".into()),
        ..Default::default()
    };
    spine_store::testing::block_on(house.memories.update(&house.caller, first, patch, None))
        .unwrap();
    let late = house.note("arrived late");
    assert_eq!(late.number(), 2);
    let mut next = request("Go on.");
    next.parents = vec![root.id];
    next.include_recent = 0;
    let child = house.assemble(next);
    let inherited = packed(&child, first).unwrap();
    assert_eq!((inherited.version, inherited.source.clone()), (2, Source::Inherited));
    assert!(packed(&child, late).is_some() && child.completeness.gaps.is_empty());
    assert_eq!(child.hop, 2);
}

#[test]
fn another_workspace_is_as_if_it_were_not_there() {
    let house = house();
    let id = house.note("secret of the default workspace");
    let stranger =
        spine_engine::Caller { workspace: "other".parse().unwrap(), ..house.caller.clone() };
    let asked = house.handoffs.assemble(&stranger, request(&format!("Use {id}.")));
    let envelope = spine_store::testing::block_on(asked).unwrap().envelope;
    assert_eq!(gaps(&envelope.completeness.gaps), [(id.to_string().as_str(), "not_found")]);
    let mut next = request("Go on.");
    next.parents = vec![envelope.id];
    assert_eq!(house.try_assemble(next).unwrap_err().code(), "not-found");
}

#[test]
fn a_handoff_for_one_subject_draws_on_nobody_elses_memories() {
    let house = house();
    let about = |subject: &str| NewMemory {
        subject: Some(subject.parse().unwrap()),
        pinned: true,
        ..note("likes tea")
    };
    let (own, other) = (
        house.store(about("user:1")),
        house.store(NewMemory { text: "likes coffee".into(), ..about("user:2") }),
    );
    let general = house.note("tea and coffee are in the kitchen");
    let mut for_one = request("Serve tea or coffee.");
    for_one.subject = Some("user:1".parse().unwrap());
    let envelope = house.assemble(for_one);
    assert!(packed(&envelope, own).is_some() && packed(&envelope, general).is_some());
    assert!(packed(&envelope, other).is_none());
    let for_nobody = house.assemble(request("Serve tea or coffee."));
    assert!(packed(&for_nobody, own).is_none() && packed(&for_nobody, general).is_some());
}

#[test]
fn a_range_beyond_the_limit_is_named() {
    let envelope = house().assemble(request("Read ms-1 through ms-900."));
    assert_eq!(envelope.completeness.requested, 200);
    assert!(envelope.completeness.gaps.iter().any(|gap| gap.reason == "too many"), "R6");
}

#[test]
fn a_repeated_request_is_answered_with_the_same_envelope() {
    let house = house();
    house.note("the gateway times out");
    let caller = spine_engine::Caller {
        idempotency_key: Some("k1".parse().unwrap()),
        ..house.caller.clone()
    };
    let assemble = |summary: &str| {
        spine_store::testing::block_on(house.handoffs.assemble(&caller, request(summary)))
    };
    let first = assemble("Look at the gateway.").unwrap();
    house.note("stored meanwhile");
    let second = assemble("Look at the gateway.").unwrap();
    assert_eq!((&first.envelope, &first.explanation), (&second.envelope, &second.explanation));
    assert_eq!(assemble("Something else.").unwrap_err().code(), "idempotency-conflict");
}

#[test]
fn an_envelope_can_be_asked_later_why_it_carries_what() {
    let house = house();
    let id = house.note("the gateway times out");
    let made = house.try_assemble(request(&format!("Use {id}."))).unwrap();
    let asked = house.handoffs.explain(&house.caller, made.envelope.id);
    let explanation = spine_store::testing::block_on(asked).unwrap();
    assert_eq!(explanation, made.explanation);
    let why = &explanation.memories[0];
    assert_eq!(
        (why.id, why.source.as_str(), why.rule.as_str()),
        (id, "mentioned", "travels in full")
    );
    assert!(why.claim > 0.0 && why.levels[0].tokens == made.envelope.memories[0].tokens);
}
