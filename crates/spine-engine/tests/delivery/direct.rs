//! One sender, one receiver.

use std::time::Duration;

use serde_json::json;
use spine_engine::Caller;
use spine_engine::delivery::machine::Note;
use spine_engine::delivery::{DeliveryError, SendOptions, Until};
use spine_protocol::ExpectedOutput;
use spine_store::testing::block_on;

use crate::house::{agent, direct, handoff, house, house_on, name, result, with_fallback};

#[test]
fn a_handoff_is_sent_taken_accepted_and_done() {
    let house = house();
    let sent = house.send("coder");
    assert_eq!(house.state(sent), "pending");
    let received = house.take("coder");
    assert_eq!((received.delivery.row.id, house.state(sent)), (sent, "accepted"));
    assert_eq!(house.read(&received).target, name("coder"));
    let done = house.complete(&received, result(json!({"ok": true}))).unwrap();
    assert_eq!(done.row.result.as_deref(), Some(br#"{"ok":true}"#.as_slice()));
    let kinds = ["delivery.sent", "delivery.accepted", "delivery.done"];
    assert_eq!(house.kinds("delivery."), kinds);
}

#[test]
fn a_timeout_ends_the_waiting_and_never_the_delivery() {
    let house = house();
    let sent = house.try_send("coder", direct()).unwrap().row.id;
    let wait = |until, seconds| {
        let timeout = Duration::from_secs(seconds);
        block_on(house.deliveries.wait(&house.caller, sent, until, timeout)).unwrap()
    };
    assert_eq!(wait(Until::Accepted, 5).state().as_str(), "pending");
    let received = house.take("coder");
    assert_eq!(wait(Until::Accepted, 5).state().as_str(), "accepted");
    assert_eq!(wait(Until::Done, 5).state().as_str(), "accepted");
    house.complete(&received, result(json!("done"))).unwrap();
    assert_eq!(wait(Until::Done, 5).state().as_str(), "done");
}

#[test]
fn who_takes_nothing_spends_attempts_then_comes_the_fallback_then_a_person() {
    let house = house();
    let sent = house.try_send("coder", with_fallback("spare")).unwrap().row.id;
    house.pass(44);
    assert_eq!(house.get(sent).row.agent, name("coder"));
    house.pass(2);
    assert_eq!(house.get(sent).row.agent, name("spare"));
    house.pass(46);
    let parked = house.get(sent);
    assert_eq!(parked.state().as_str(), "parked");
    let story: Vec<_> = parked
        .story
        .attempts
        .iter()
        .map(|attempt| (attempt.agent.as_str(), attempt.outcome.as_str()))
        .collect();
    let expected = [("coder", "not_taken"); 3].into_iter().chain([("spare", "not_taken"); 3]);
    assert_eq!(story, expected.collect::<Vec<_>>());
}

#[test]
fn a_receiver_that_dies_loses_its_lease_and_the_next_one_goes_on_from_its_checkpoint() {
    let house = house();
    let sent = house.send("coder");
    let dead = house.take("coder");
    let note =
        Note { text: "half".into(), percent: Some(50.0), checkpoint: Some(json!({"at": 7})) };
    let fence = dead.fence.clone();
    block_on(house.deliveries.progress(&house.caller, sent, fence, note)).unwrap();
    house.pass(61);
    let alive = house.take("coder");
    assert_eq!(alive.delivery.row.id, sent);
    assert_eq!(alive.delivery.story.checkpoint, Some(json!({"at": 7})));
    let late = house.complete(&dead, result(json!("late"))).unwrap_err();
    assert_eq!(late, DeliveryError::LeaseLost { id: sent });
    house.complete(&alive, result(json!("first"))).unwrap();
    house.complete(&alive, result(json!("first"))).unwrap();
    assert_eq!(house.get(sent).row.result.as_deref(), Some(br#""first""#.as_slice()));
}

#[test]
fn a_lease_survives_a_restart_of_the_server() {
    let house = house();
    let sent = house.send("coder");
    let received = house.take("coder");
    let restarted = house_on(house.store.clone(), house.clock.clone());
    restarted.complete(&received, result(json!(1))).unwrap();
    assert_eq!(restarted.state(sent), "done");
}

#[test]
fn a_result_that_is_not_what_was_asked_for_is_refused_and_the_lease_stays() {
    let house = house();
    let schema = json!({"type": "object", "required": ["diff"]});
    let mut request = handoff("coder", "Write it.");
    request.expected_output =
        Some(ExpectedOutput { schema: Some(schema), ..ExpectedOutput::default() });
    let options = SendOptions::default();
    let (_, sent) = block_on(house.deliveries.hand_off(&house.caller, request, options)).unwrap();
    let received = house.take("coder");
    let refused = house.complete(&received, result(json!({"patch": 1}))).unwrap_err();
    assert_eq!(refused.code(), "result-invalid");
    assert!(refused.to_string().contains("diff"), "{refused}");
    house.complete(&received, result(json!({"diff": "…"}))).unwrap();
    assert_eq!(house.state(sent.row.id), "done");
}

#[test]
fn a_rejection_ends_it_and_the_sender_reads_the_question() {
    let house = house();
    let sent = house.send("coder");
    let received = house.take("coder");
    let (reason, question) = ("unclear".to_owned(), Some("Which gateway?".to_owned()));
    let fence = received.fence.clone();
    block_on(house.deliveries.reject(&house.caller, sent, fence, reason, question)).unwrap();
    let ending = house.get(sent).story.ending.unwrap();
    assert_eq!(ending.question.as_deref(), Some("Which gateway?"));
    assert!(house.try_take("coder").is_none());
}

#[test]
fn a_receiver_learns_of_a_cancellation_at_its_next_heartbeat() {
    let house = house();
    let sent = house.send("coder");
    let received = house.take("coder");
    block_on(house.deliveries.cancel(&house.caller, sent, "not needed")).unwrap();
    let heartbeat = house.deliveries.extend(&house.caller, sent, received.fence, None);
    let error = block_on(heartbeat).unwrap_err();
    assert_eq!(error.code(), "cancelled");
    assert!(error.to_string().contains("not needed"));
}

#[test]
fn the_same_key_sends_once() {
    let house = house();
    let envelope = house.envelope("coder");
    let caller = Caller { idempotency_key: "k1".parse().ok(), ..house.caller.clone() };
    let request =
        || spine_engine::delivery::SendRequest { envelope, options: SendOptions::default() };
    let first = block_on(house.deliveries.send(&caller, vec![request()])).unwrap();
    let again = block_on(house.deliveries.send(&caller, vec![request()])).unwrap();
    assert_eq!(first[0].row.id, again[0].row.id);
    let other = spine_engine::delivery::SendRequest { options: direct(), ..request() };
    let conflict = block_on(house.deliveries.send(&caller, vec![other])).unwrap_err();
    assert_eq!(conflict, DeliveryError::IdempotencyConflict);
    assert_eq!(house.take_all("coder", 10).len(), 1);
}

#[test]
fn another_workspace_sees_nothing() {
    let house = house();
    let sent = house.send("coder");
    let stranger = Caller { agent: agent("coder"), ..Caller::of("other".parse().unwrap()) };
    let unknown = block_on(house.deliveries.get(&stranger, sent)).unwrap_err();
    assert_eq!(unknown, DeliveryError::Unknown { id: sent });
    let request = spine_engine::delivery::ReceiveRequest::new(name("coder"));
    assert!(block_on(house.deliveries.receive(&stranger, request)).unwrap().is_empty());
}
