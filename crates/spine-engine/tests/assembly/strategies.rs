//! The four strategies, and the kinds that are treated apart.

use spine_engine::memories::NewMemory;
use spine_protocol::{Detail, Strategy, TrimmedTo};

use crate::house::*;

fn long(subject: &str) -> String {
    (0..60).map(|n| format!("Finding {n} about {subject}: the queue holds {n} jobs. ")).collect()
}

#[test]
fn each_strategy_gives_its_detail() {
    let house = house();
    let id = house.note(&long("the worker"));
    let detail = |strategy: Strategy| {
        let mut request = request(&format!("Use {id}."));
        request.strategy = strategy;
        let envelope = house.assemble(request);
        let memory = packed(&envelope, id).unwrap();
        (memory.detail, memory.text.as_ref().map_or(0, String::len))
    };
    let (full, length) = detail(Strategy::Full);
    assert_eq!((full, length), (Detail::Full, long("the worker").len()));
    assert_eq!(detail(Strategy::Priority).0, Detail::Full);
    let (summary, shorter) = detail(Strategy::Summary);
    assert!(summary == Detail::Summary && shorter > 0 && shorter < length / 4);
    assert_eq!(detail(Strategy::Lazy), (Detail::Ref, 0));
}

#[test]
fn full_that_does_not_fit_is_an_error_that_says_what_it_needs() {
    let house = house();
    let id = house.note(&long("the worker"));
    let mut request = request(&format!("Use {id}."));
    (request.strategy, request.max_tokens) = (Strategy::Full, Some(400));
    let error = house.try_assemble(request).unwrap_err().to_string();
    assert!(error.contains("its budget is 400") && error.contains("memories"), "{error}");
}

#[test]
fn priority_shortens_what_matters_least_and_says_so() {
    let house = house();
    let asked = house.note(&long("the asked-for worker"));
    let others: Vec<_> = (0..10).map(|n| house.note(&long(&format!("worker {n}")))).collect();
    let mut request = request(&format!("Use {asked}."));
    request.max_tokens = Some(2_000);
    let envelope = house.assemble(request);
    assert_eq!(packed(&envelope, asked).unwrap().detail, Detail::Full);
    let less = others
        .iter()
        .filter(|id| packed(&envelope, **id).is_none_or(|m| m.detail < Detail::Full))
        .count();
    assert!(
        less > 0 && envelope.trimmed.count as usize == less,
        "{} of {less} named",
        envelope.trimmed.count
    );
    assert!(
        envelope
            .trimmed
            .items
            .iter()
            .all(|item| item.to != TrimmedTo::None || packed(&envelope, item.id).is_none())
    );
}

#[test]
fn conversation_is_summarised_unless_asked_for_in_full() {
    let house = house();
    let turn = NewMemory { kind: "conversation".parse().unwrap(), ..note(&long("the chat")) };
    let id = house.store(turn);
    let summarised = house.assemble(request(&format!("Use {id}.")));
    assert_eq!(packed(&summarised, id).unwrap().detail, Detail::Summary);
    assert_eq!(summarised.trimmed.count, 0, "its kind asks for a summary: nothing was trimmed");
    let mut in_full = request(&format!("Use {id}."));
    in_full.strategy = Strategy::Full;
    assert_eq!(packed(&house.assemble(in_full), id).unwrap().detail, Detail::Full);
}

#[test]
fn reasoning_travels_only_when_asked_for() {
    let house = house();
    let id = house.store(NewMemory {
        kind: "reasoning".parse().unwrap(),
        ..note("because the queue is full")
    });
    assert!(packed(&house.assemble(request("Look at the queue.")), id).is_none());
    assert!(packed(&house.assemble(request(&format!("Look at {id}."))), id).is_some());
}

#[test]
fn the_memorys_own_summary_is_preferred() {
    let house = house();
    let id = house
        .store(NewMemory { summary: Some("In short: full.".into()), ..note(&long("the worker")) });
    let mut request = request(&format!("Use {id}."));
    request.strategy = Strategy::Summary;
    let envelope = house.assemble(request);
    assert_eq!(packed(&envelope, id).unwrap().text.as_deref(), Some("In short: full."));
}
