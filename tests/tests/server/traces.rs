//! Traces that callers bring, where nobody records them.

use serde_json::json;

use crate::delivery::client::{House, text};

const BROUGHT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Clients with tracing send another `traceparent` with every try. A repeated request was answered as if its key had been
/// used for something else.
#[test]
fn a_repeated_request_is_the_same_in_another_span() {
    let house = House::start();
    let client = house.agent("one").with("idempotency-key", "k");
    let body = json!({"target_agent": "two", "task_summary": "a", "intent": "b"});
    let ids = [BROUGHT, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01"].map(|span| {
        let made = client.with("traceparent", span).post("/v1/handoffs", body.clone()).with(201);
        made["handoff"]["id"].clone()
    });
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn a_trace_goes_on_from_hop_to_hop() {
    let house = House::start();
    let body = json!({"target_agent": "two", "task_summary": "a", "intent": "b"});
    house.agent("one").with("traceparent", BROUGHT).post("/v1/handoffs", body).with(201);
    let two = house.agent("two");
    let received = two.receive("two", json!({"accept": true}));
    assert_eq!(received["envelope"]["traceparent"], BROUGHT);
    let at_hand = two.with("memory-spine-delivery", text(&received["delivery"]["id"]));
    let next = json!({"target_agent": "three", "task_summary": "c"});
    let made = at_hand.post("/v1/handoffs", next).with(201);
    assert_eq!(made["handoff"]["envelope"]["traceparent"], BROUGHT);
}
