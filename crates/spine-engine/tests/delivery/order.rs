//! Who is first.

use spine_engine::delivery::SendOptions;
use spine_engine::delivery::policy::PolicyPart;
use spine_store::Priority;
use spine_store::testing::block_on;

use crate::house::{House, house, result};

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
