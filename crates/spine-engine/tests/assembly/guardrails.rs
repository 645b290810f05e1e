//! Secrets, deadlines, and a search that does not answer.

use std::sync::Arc;

use serde_json::json;
use spine_engine::memories::NewMemory;
use spine_protocol::{NewConstraint, NewHistory, Scope, WorkspaceName};
use spine_store::{
    ErrorKind, IndexStatus, Retriever, SearchAnswer, SearchQuery, StoreError, StoreFuture,
};

use crate::house::*;

fn constraint(name: &str, value: serde_json::Value) -> NewConstraint {
    NewConstraint { name: name.parse().unwrap(), value, scope: Scope::Lineage }
}

/// Put together here, so that no scanner takes this file for a leak.
fn token() -> String {
    format!("ghp{}{}", "_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

#[test]
fn secrets_are_blacked_out_in_the_envelope_and_stay_in_the_store() {
    let house = house();
    let id = house.store(NewMemory {
        pinned: true,
        ..note(&format!("push with {} as the password", token()))
    });
    let mut guarded = request("Push the branch.");
    guarded.constraints = vec![constraint("security", json!("no plaintext credentials"))];
    guarded.history = vec![NewHistory {
        agent: "researcher".parse().unwrap(),
        action: format!("logged in with {}", token()),
        why: None,
        memory_id: None,
        result_digest: None,
        at: None,
    }];
    let envelope = house.assemble(guarded);
    let bytes = String::from_utf8(envelope.canonical_bytes().to_vec()).unwrap();
    assert!(!bytes.contains(&token()));
    let places: Vec<&str> =
        envelope.redactions.iter().map(|redaction| redaction.place.as_str()).collect();
    assert_eq!(places, ["history", id.to_string().as_str()]);
    let stored = spine_store::testing::block_on(house.memories.get(&house.caller, id)).unwrap();
    assert!(stored.body.text.contains(&token()));
    let open = house.assemble(request("Push the branch."));
    assert!(
        open.redactions.is_empty() && open.memories[0].text.as_ref().unwrap().contains(&token())
    );
}

#[test]
fn a_secret_in_what_travels_word_for_word_refuses_the_call() {
    let house = house();
    let mut guarded = request(&format!("Push with {}.", token()));
    guarded.constraints = vec![constraint("forbid", json!(["secrets"]))];
    let error = house.try_assemble(guarded).unwrap_err();
    assert_eq!(error.code(), "secret-in-core");
    assert!(
        error.to_string().starts_with("the intent holds") && !error.to_string().contains(&token())
    );
}

#[test]
fn a_deadline_that_has_passed_is_flagged_not_refused() {
    let mut late = request("Finish it.");
    late.constraints = vec![constraint("deadline", json!("2020-01-30T00:00:00Z"))];
    assert!(house().assemble(late).is_overdue());
}

/// An index that fails, or never answers.
struct DeadRetriever {
    answers: bool,
}

fn dead<T>() -> StoreFuture<'static, T>
where
    T: Send + 'static,
{
    Box::pin(async { Err(StoreError::new(ErrorKind::Unavailable, "no index")) })
}

impl Retriever for DeadRetriever {
    fn search(&self, _: &WorkspaceName, _: SearchQuery) -> StoreFuture<'_, SearchAnswer> {
        if self.answers { dead() } else { Box::pin(std::future::pending()) }
    }
    fn status(&self, _: &WorkspaceName) -> StoreFuture<'_, IndexStatus> {
        dead()
    }
    fn erase_remnants(&self, _: &WorkspaceName) -> StoreFuture<'_, ()> {
        dead()
    }
    fn rebuild(&self) -> StoreFuture<'_, ()> {
        dead()
    }
}

fn check_goes_through_without(retriever: DeadRetriever) {
    let house = house_with(|_| Arc::new(retriever));
    let pin = house.store(NewMemory { pinned: true, ..note("pinned") });
    let asked = house.note("asked for");
    let envelope = house.assemble(request(&format!("Use {asked}.")));
    assert!(packed(&envelope, pin).is_some() && packed(&envelope, asked).is_some());
    let gap = &envelope.completeness.gaps[0];
    assert_eq!(
        (gap.reference.as_str(), gap.reason.as_str()),
        ("relevant memories", "search unavailable")
    );
    assert_eq!(envelope.completeness.score(), 1.0, "every explicit reference is here");
}

#[test]
fn a_search_that_fails_is_a_named_gap() {
    check_goes_through_without(DeadRetriever { answers: true });
}

#[test]
fn a_search_that_does_not_answer_in_time_is_a_named_gap() {
    check_goes_through_without(DeadRetriever { answers: false });
}
