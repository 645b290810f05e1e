//! The dead-letter queue.

use serde_json::json;
use spine_engine::delivery::{DeliveryError, Many, ParkedFilter, SendOptions};
use spine_store::testing::block_on;

use crate::broadcast::{join, publish};
use crate::house::{House, agent, handoff, house, result};

fn parked(house: &House, to: &str) -> spine_protocol::DeliveryId {
    let sent = house.send(to);
    let envelope = house.get(sent).row.envelope;
    block_on(house.deliveries.park_envelope(&house.caller, envelope, "looks wrong")).unwrap();
    sent
}

fn many(house: &House, many: Many) -> spine_engine::delivery::Reviewed {
    block_on(house.deliveries.requeue_many(&house.caller, &many)).unwrap()
}

#[test]
fn what_was_parked_goes_to_another_agent_and_is_done() {
    let house = house();
    let id = parked(&house, "coder");
    let requeue = house.deliveries.requeue(&house.caller, id, agent("spare"), "coder is gone");
    block_on(requeue).unwrap();
    let received = house.take("spare");
    house.complete(&received, result(json!(1))).unwrap();
    let kinds = house.kinds("delivery.");
    assert!(kinds.contains(&"delivery.requeued".to_owned()), "{kinds:?}");
}

#[test]
fn parking_twice_is_one_entry_with_two_reasons() {
    let house = house();
    let id = parked(&house, "coder");
    let envelope = house.get(id).row.envelope;
    block_on(house.deliveries.park_envelope(&house.caller, envelope, "still wrong")).unwrap();
    let reasons: Vec<_> =
        house.get(id).story.parked.into_iter().map(|parked| parked.reason).collect();
    assert_eq!(reasons, ["looks wrong", "still wrong"]);
    let all = ParkedFilter::default();
    let list = house.deliveries.parked(&house.caller, &all, None, 10);
    assert_eq!(block_on(list).unwrap().items.len(), 1);
}

#[test]
fn an_envelope_that_was_never_sent_can_be_parked() {
    let house = house();
    let envelope = house.envelope("coder");
    let park = house.deliveries.park_envelope(&house.caller, envelope, "not yet");
    assert_eq!(block_on(park).unwrap()[0].state().as_str(), "parked");
    assert!(house.try_take("coder").is_none());
}

#[test]
fn two_reviewers_cannot_collide() {
    let house = house();
    let id = parked(&house, "coder");
    block_on(house.deliveries.discard(&house.caller, id, "duplicate")).unwrap();
    let late = block_on(house.deliveries.requeue(&house.caller, id, None, "again")).unwrap_err();
    assert!(matches!(late, DeliveryError::NotParked { .. }), "{late}");
}

#[test]
fn edited_and_sent_again_it_is_a_child_and_the_old_one_is_closed() {
    let house = house();
    let id = parked(&house, "coder");
    let edited = handoff("coder", "Do the work, but smaller.");
    let resend = house.deliveries.resend(&house.caller, id, edited, SendOptions::default());
    let (old, new) = block_on(resend).unwrap();
    assert_eq!((old.state().as_str(), new.state().as_str()), ("cancelled", "pending"));
    let envelope = house.read(&house.take("coder"));
    assert_eq!(envelope.parents[0].id, old.row.envelope);
    assert_eq!(envelope.task.intent, "Do the work.");
}

#[test]
fn done_by_hand_it_has_a_result() {
    let house = house();
    let id = parked(&house, "coder");
    block_on(house.deliveries.resolve(&house.caller, id, json!({"by": "hand"}))).unwrap();
    let done = house.get(id);
    assert_eq!(done.state().as_str(), "done");
    assert!(done.story.ending.unwrap().by_hand);
}

#[test]
fn many_by_filter_with_a_dry_run_and_at_a_rate() {
    let house = house();
    let mut coder: Vec<_> = (0..5).map(|_| parked(&house, "coder")).collect();
    coder.sort();
    parked(&house, "tester");
    let filter = ParkedFilter { target: agent("coder"), ..ParkedFilter::default() };
    let order = Many { filter, rate_per_s: Some(1.0), reason: "fixed".into(), ..Many::default() };
    let dry = many(&house, Many { dry_run: true, ..order.clone() });
    assert_eq!(dry.ids, coder);
    assert_eq!(house.state(coder[0]), "parked");
    assert_eq!(many(&house, order).ids, coder);
    assert_eq!(house.take_all("coder", 10).len(), 1);
    house.pass(2);
    assert_eq!(house.take_all("coder", 10).len(), 2);
}

#[test]
fn a_requeue_into_an_open_breaker_waits_instead_of_parking_again() {
    let house = house();
    let sent = house.open_breaker("coder");
    assert_eq!(house.state(sent[0]), "parked");
    block_on(house.deliveries.requeue(&house.caller, sent[0], None, "try again")).unwrap();
    house.pass(50);
    assert_eq!(house.state(sent[0]), "pending");
    house.pass(15);
    assert_eq!(house.take("coder").delivery.row.id, sent[0]);
}

/// The parts were cancelled, and their end made the join: work went on that nobody wanted.
#[test]
fn a_cancelled_lineage_is_not_joined() {
    let house = house();
    let published = publish(&house, &["a", "b"], join(None, None));
    let envelope = published.publication.envelope;
    let cancel = house.deliveries.cancel_lineage(&house.caller, envelope, "no budget");
    assert_eq!(block_on(cancel).unwrap().len(), 2);
    house.due();
    assert!(house.try_take("lead").is_none());
    assert_eq!(house.kinds("publication."), ["publication.made", "publication.join_cancelled"]);
}

#[test]
fn a_whole_lineage_is_cancelled_and_what_is_done_stays_done() {
    let house = house();
    let first = house.send("a");
    let received = house.take("a");
    house.complete(&received, crate::house::next("b", "Go on.")).unwrap();
    let root = house.get(first).row.envelope;
    let cancel = house.deliveries.cancel_lineage(&house.caller, root, "no budget");
    assert_eq!(block_on(cancel).unwrap().len(), 1);
    assert_eq!(house.state(first), "done");
    assert!(house.try_take("b").is_none());
}
