//! Who is first.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake};
use std::time::Duration;

use spine_engine::delivery::policy::PolicyPart;
use spine_engine::delivery::{ReceiveRequest, Received, SendOptions};
use spine_protocol::AgentName;
use spine_store::Priority;
use spine_store::testing::block_on;

use crate::house::{House, house, house_on, house_where_time_stands_still, name, result};

fn send(house: &House, priority: Priority, order_key: Option<&str>) -> spine_protocol::DeliveryId {
    let order_key = order_key.map(|key| key.parse().unwrap());
    let options = SendOptions { priority: Some(priority), order_key, ..SendOptions::default() };
    house.try_send("coder", options).unwrap().row.id
}

fn taken(house: &House) -> spine_protocol::DeliveryId {
    house.take("coder").delivery.row.id
}

#[test]
fn urgent_ones_first_then_the_oldest() {
    let house = house();
    let low = send(&house, Priority::Low, None);
    let first = send(&house, Priority::Normal, None);
    let second = send(&house, Priority::Normal, None);
    assert_eq!(taken(&house), first);
    let urgent = send(&house, Priority::Critical, None);
    assert_eq!([taken(&house), taken(&house), taken(&house)], [urgent, second, low]);
}

#[test]
fn with_a_key_one_at_a_time_in_order_and_others_are_not_held_up() {
    let house = house();
    let first = send(&house, Priority::Normal, Some("repo"));
    let second = send(&house, Priority::Critical, Some("repo"));
    let other = send(&house, Priority::Normal, Some("docs"));
    let received = house.take("coder");
    assert_eq!(received.delivery.row.id, first);
    assert_eq!(taken(&house), other);
    assert!(house.try_take("coder").is_none());
    house.complete(&received, result(serde_json::json!(1))).unwrap();
    assert_eq!(taken(&house), second);
}

/// Whether whoever waits was told to look.
#[derive(Default)]
struct Told(AtomicBool);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// While another has the first of a lane in its hands, somebody waits for the next. It is told when the first is gone.
fn check_told_of_the_next(fallbacks: Vec<AgentName>, goes: impl FnOnce(&House, &Received)) {
    let house = house_where_time_stands_still();
    let order_key = Some("repo".parse().unwrap());
    let policy = PolicyPart { attempts_max: Some(1), ..PolicyPart::default() };
    let options =
        SendOptions { order_key, fallbacks: Some(fallbacks), policy, ..SendOptions::default() };
    house.try_send("coder", options).unwrap();
    let second = send(&house, Priority::Normal, Some("repo"));
    let first = house.take("coder");
    let wait = Duration::from_secs(60);
    let request = ReceiveRequest { wait, accept: true, ..ReceiveRequest::new(name("coder")) };
    let mut waiting = pin!(house.deliveries.receive(&house.caller, request));
    let told = Arc::new(Told::default());
    let waker = Arc::clone(&told).into();
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    goes(&house, &first);
    assert!(told.0.load(Ordering::SeqCst));
    assert_eq!(block_on(waiting).unwrap()[0].delivery.row.id, second);
}

/// A receiver that waited while another had the first of a lane in its hands was not told when that one was done. It found
/// the next only when it looked again by itself, a second later: a lane of two receivers did one handoff a second.
#[test]
fn whoever_waits_gets_the_next_with_a_key_when_the_one_before_ends() {
    let complete = |house: &House, first: &Received| {
        house.complete(first, result(serde_json::json!(1))).unwrap();
    };
    check_told_of_the_next(Vec::new(), complete);
}

/// The same where the first went on to another agent.
#[test]
fn whoever_waits_gets_the_next_with_a_key_when_the_one_before_is_rerouted() {
    let nack = |house: &House, first: &Received| {
        let (id, why) = (first.delivery.row.id, "crashed".to_owned());
        let nacked = house.deliveries.nack(&house.caller, id, first.fence.clone(), why, true, None);
        assert_eq!(block_on(nacked).unwrap().row.agent, name("spare"));
    };
    check_told_of_the_next(vec![name("spare")], nack);
}

#[test]
fn what_arrives_while_receivers_ask_takes_its_place_and_is_taken_once() {
    let house = house();
    assert!(house.try_take("coder").is_none());
    let first = send(&house, Priority::Normal, None);
    let keyed = send(&house, Priority::Normal, Some("repo"));
    let third = send(&house, Priority::Normal, None);
    let urgent = send(&house, Priority::High, None);
    let got: Vec<_> = (0..4).map(|_| taken(&house)).collect();
    assert_eq!(got, [urgent, first, keyed, third]);
    assert!(house.try_take("coder").is_none());
}

#[test]
fn what_another_server_took_does_not_hide_what_is_behind_it() {
    let house = house();
    let other = house_on(house.store.clone(), house.clock.clone());
    assert!(house.try_take("coder").is_none());
    let first = house.send("coder");
    let second = house.send("coder");
    assert_eq!(taken(&other), first);
    assert_eq!(taken(&house), second);
    assert!(house.try_take("coder").is_none());
}

#[test]
fn a_poisoned_one_does_not_hold_up_those_behind_it() {
    let house = house();
    let poisoned = send(&house, Priority::Normal, Some("repo"));
    let behind = send(&house, Priority::Normal, Some("repo"));
    for _ in 0..3 {
        let received = house.take("coder");
        assert_eq!(received.delivery.row.id, poisoned);
        let why = "crashed".to_owned();
        let fence = received.fence;
        block_on(house.deliveries.nack(&house.caller, poisoned, fence, why, true, None)).unwrap();
    }
    assert_eq!(house.state(poisoned), "parked");
    assert_eq!(taken(&house), behind);
}

#[test]
fn a_receiver_takes_many_at_once_and_each_only_once() {
    let house = house();
    let sent: Vec<_> = (0..250).map(|_| house.send("coder")).collect();
    let mut got = Vec::new();
    for max in [100, 1, 99, 100] {
        got.extend(house.take_all("coder", max).into_iter().map(|one| one.delivery.row.id));
    }
    assert_eq!(got, sent);
}

#[test]
fn attempts_and_lease_are_set_for_the_handoff() {
    let house = house();
    let policy = PolicyPart { attempts_max: Some(1), lease_ms: Some(5_000), ..Default::default() };
    let options = SendOptions { policy, ..SendOptions::default() };
    let sent = house.try_send("coder", options).unwrap().row.id;
    house.take("coder");
    house.pass(4);
    assert_eq!(house.state(sent), "accepted");
    house.pass(1);
    assert_eq!(house.state(sent), "parked");
}
