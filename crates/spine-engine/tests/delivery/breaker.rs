//! The circuit breaker, end to end.

use spine_engine::delivery::breaker::BreakerState;
use spine_engine::delivery::{BreakerOrder, DeliveryError};
use spine_store::testing::block_on;

use crate::house::{direct, house, house_on, name, result, with_fallback};

#[test]
fn three_that_nobody_took_open_it_and_senders_are_told_when_to_try_again() {
    let house = house();
    house.open_breaker("coder");
    let refused = house.try_send("coder", direct()).unwrap_err();
    let DeliveryError::CircuitOpen { retry_after_ms, .. } = refused else { panic!("{refused}") };
    assert!((1..=60_000).contains(&retry_after_ms));
    let restarted = house_on(house.store.clone(), house.clock.clone());
    assert_eq!(restarted.try_send("coder", direct()).unwrap_err().code(), "circuit-open");
    assert!(house.kinds("breaker.").contains(&"breaker.opened".to_owned()));
}

#[test]
fn while_it_is_open_a_fallback_takes_its_place_and_queued_work_waits() {
    let house = house();
    house.open_breaker("coder");
    let rerouted = house.try_send("coder", with_fallback("spare")).unwrap();
    assert_eq!(rerouted.row.agent, name("spare"));
    let queued = house.send("coder");
    assert!(house.try_take("coder").is_none());
    assert_eq!(house.state(queued), "pending");
}

#[test]
fn after_a_minute_one_probe_goes_and_anything_accepted_closes_it() {
    let house = house();
    house.open_breaker("coder");
    let queued: Vec<_> = (0..3).map(|_| house.send("coder")).collect();
    house.pass(61);
    let probe = house.take_all("coder", 10);
    assert_eq!(probe.len(), 1);
    let view = block_on(house.deliveries.agent(&house.caller, &name("coder"))).unwrap();
    assert_eq!(view.breaker.state, BreakerState::Closed);
    assert_eq!(house.take_all("coder", 10).len(), queued.len() - 1);
    house.complete(&probe[0], result(serde_json::json!(1))).unwrap();
}

#[test]
fn a_direct_handoff_is_the_probe_and_if_nobody_takes_it_the_circuit_stays_open() {
    let house = house();
    house.open_breaker("coder");
    house.pass(61);
    let probe = house.try_send("coder", direct()).unwrap();
    assert_eq!(house.try_send("coder", direct()).unwrap_err().code(), "circuit-open");
    house.pass(16);
    assert_eq!(house.get(probe.row.id).story.spent, 1);
    assert_eq!(house.try_send("coder", direct()).unwrap_err().code(), "circuit-open");
    house.pass(61);
    let next = house.take_all("coder", 10);
    assert_eq!(next.len(), 1);
}

#[test]
fn a_direct_probe_can_be_taken() {
    let house = house();
    house.open_breaker("coder");
    house.pass(61);
    let probe = house.try_send("coder", direct()).unwrap().row.id;
    let received = house.take("coder");
    assert_eq!(received.delivery.row.id, probe);
    assert!(house.try_send("coder", direct()).is_ok());
}

#[test]
fn nacks_and_rejections_never_open_it() {
    let house = house();
    for _ in 0..5 {
        let sent = house.send("coder");
        for _ in 0..3 {
            let received = house.take("coder");
            let (fence, why) = (received.fence.clone(), "no".to_owned());
            block_on(house.deliveries.nack(&house.caller, sent, fence, why, true, None)).unwrap();
        }
        assert_eq!(house.state(sent), "parked");
    }
    assert!(house.try_send("coder", direct()).is_ok());
}

#[test]
fn a_person_can_force_it_open_and_reset_it_and_pause_an_agent() {
    let house = house();
    let coder = name("coder");
    let order =
        |order| block_on(house.deliveries.order_breaker(&house.caller, &coder, order)).unwrap();
    order(BreakerOrder::ForceOpen);
    house.pass(120);
    assert_eq!(house.try_send("coder", direct()).unwrap_err().code(), "circuit-open");
    order(BreakerOrder::Reset);
    let sent = house.try_send("coder", direct()).unwrap().row.id;
    block_on(house.deliveries.pause(&house.caller, &coder, true)).unwrap();
    house.pass(100);
    assert!(house.try_take("coder").is_none());
    assert_eq!(house.get(sent).story.spent, 0);
    block_on(house.deliveries.pause(&house.caller, &coder, false)).unwrap();
    assert_eq!(house.take("coder").delivery.row.id, sent);
    let kinds = ["agent.paused", "agent.resumed"];
    assert_eq!(house.kinds("agent."), kinds);
}
