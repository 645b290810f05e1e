//! One to many, and many to one.

use std::time::Duration;

use serde_json::json;
use spine_engine::delivery::{JoinRequest, PublicationView, PublishRequest, SendOptions};
use spine_store::testing::block_on;

use crate::house::{House, direct, handoff, house, house_on, name, result};

pub(crate) fn publish(house: &House, to: &[&str], join: Option<JoinRequest>) -> PublicationView {
    let receivers = Some(to.iter().map(|to| name(to)).collect());
    let (envelope, options) = (house.envelope("broadcast"), SendOptions::default());
    let request = PublishRequest { envelope, receivers, join, options };
    block_on(house.deliveries.publish(&house.caller, "news", request)).unwrap()
}

pub(crate) fn join(need: Option<u32>, timeout_ms: Option<u64>) -> Option<JoinRequest> {
    let (handoff, options) = (handoff("lead", "Put it together."), SendOptions::default());
    Some(JoinRequest { handoff, need, timeout_ms, options })
}

fn finish(house: &House, agent: &str, words: &str) {
    let received = house.take(agent);
    house.complete(&received, result(json!(words))).unwrap();
    house.due();
}

fn view(house: &House, view: &PublicationView) -> PublicationView {
    block_on(house.deliveries.publication(&house.caller, view.publication.id)).unwrap()
}

#[test]
fn each_receiver_has_a_delivery_of_its_own() {
    let house = house();
    let published = publish(&house, &["a", "b", "c"], None);
    finish(&house, "a", "done");
    let states: Vec<_> =
        view(&house, &published).deliveries.iter().map(|one| one.state().as_str()).collect();
    assert_eq!(states, ["done", "pending", "pending"]);
}

#[test]
fn subscribers_get_what_names_no_receivers() {
    let house = house();
    for agent in ["a", "b"] {
        block_on(house.deliveries.subscribe(&house.caller, "news", &name(agent), true)).unwrap();
    }
    block_on(house.deliveries.subscribe(&house.caller, "news", &name("b"), false)).unwrap();
    let (envelope, options) = (house.envelope("broadcast"), SendOptions::default());
    let request = PublishRequest { envelope, receivers: None, join: None, options };
    let publish = house.deliveries.publish(&house.caller, "news", request.clone());
    assert_eq!(block_on(publish).unwrap().deliveries.len(), 1);
    let nobody = block_on(house.deliveries.publish(&house.caller, "empty", request)).unwrap_err();
    assert_eq!(nobody.code(), "no-receivers");
}

#[test]
fn an_envelope_for_a_channel_is_not_sent_to_one() {
    let house = house();
    let refused = house.try_send("broadcast", SendOptions::default()).unwrap_err();
    assert_eq!(refused.code(), "broadcast-target");
}

#[test]
fn when_all_are_done_their_results_are_the_parents_of_one_envelope() {
    let house = house();
    let published = publish(&house, &["a", "b", "c"], join(None, None));
    finish(&house, "a", "alpha found");
    finish(&house, "b", "beta found");
    assert!(house.try_take("lead").is_none());
    finish(&house, "c", "gamma found");
    let received = house.take("lead");
    let joined = house.read(&received);
    assert_eq!((joined.parents.len(), joined.hop), (3, 3));
    let texts: Vec<_> =
        joined.memories.iter().filter_map(|memory| memory.text.as_deref()).collect();
    for words in ["alpha found", "beta found", "gamma found"] {
        assert!(texts.iter().any(|text| text.contains(words)), "{texts:?}");
    }
    let agents: Vec<_> = joined.history.iter().map(|entry| entry.agent.as_str()).collect();
    assert_eq!(agents, ["a", "b", "c"]);
    assert!(view(&house, &published).is_settled());
}

#[test]
fn enough_are_enough_and_it_happens_once() {
    let house = house();
    let published = publish(&house, &["a", "b", "c"], join(Some(2), None));
    finish(&house, "a", "one");
    let other = house_on(house.store.clone(), house.clock.clone());
    finish(&house, "b", "two");
    other.due();
    finish(&house, "c", "three");
    other.due();
    assert_eq!(house.take_all("lead", 10).len(), 1);
    let made = view(&house, &published).publication.join.unwrap().made.unwrap();
    assert_eq!(made.done, 2);
}

#[test]
fn at_its_timeout_a_join_goes_on_with_what_there_is_and_names_what_is_missing() {
    let house = house();
    publish(&house, &["a", "b"], join(None, Some(30_000)));
    finish(&house, "a", "only this");
    house.pass(29);
    assert!(house.try_take("lead").is_none());
    house.pass(1);
    let joined = house.read(&house.take("lead"));
    let progress = joined.task.state.progress.join(" ");
    assert!(progress.contains("No result from b (pending)"), "{progress}");
}

#[test]
fn a_join_that_nobody_can_add_to_does_not_wait() {
    let house = house();
    publish(&house, &["a"], join(None, Some(3_600_000)));
    let received = house.take("a");
    let (id, fence) = (received.delivery.row.id, received.fence);
    let no = "not mine".to_owned();
    block_on(house.deliveries.reject(&house.caller, id, fence, no, None)).unwrap();
    house.due();
    let joined = house.read(&house.take("lead"));
    assert_eq!(joined.parents.len(), 1);
}

#[test]
fn a_publication_can_be_waited_for() {
    let house = house();
    let published = publish(&house, &["a", "b"], None);
    let id = published.publication.id;
    let wait = || {
        let timeout = Duration::from_secs(5);
        block_on(house.deliveries.wait_publication(&house.caller, id, timeout)).unwrap()
    };
    finish(&house, "a", "x");
    assert!(!wait().is_settled());
    finish(&house, "b", "y");
    assert!(wait().is_settled());
}

/// A join that was to be sent directly was refused again and again while its target's circuit was open, and every join
/// behind it waited, too.
#[test]
fn a_join_into_an_open_circuit_waits_there_and_holds_up_no_other() {
    let house = house();
    house.open_breaker("lead");
    let directly = join(None, None).map(|join| JoinRequest { options: direct(), ..join });
    let to_other = JoinRequest { handoff: handoff("other", "Go on."), ..join(None, None).unwrap() };
    let first = publish(&house, &["a"], directly);
    let second = publish(&house, &["b"], Some(to_other));
    finish(&house, "a", "one");
    finish(&house, "b", "two");
    for published in [&first, &second] {
        assert!(view(&house, published).publication.join.unwrap().made.is_some());
    }
    assert!(house.try_take("other").is_some());
}
