//! One envelope to many, and what they make of it together.

use serde_json::json;

use super::client::{House, text};

#[test]
fn a_broadcast_is_joined() {
    let house = House::start();
    let sender = house.agent("analyst");
    for agent in ["b", "a", "c"] {
        sender.ask("PUT", &format!("/v1/channels/reviews/subscribers/{agent}"), "").with(200);
    }
    let channel = sender.ask("DELETE", "/v1/channels/reviews/subscribers/c", "").with(200);
    assert_eq!(channel, json!({"name": "reviews", "subscribers": ["a", "b"]}));
    assert_eq!(sender.get("/v1/channels").with(200), json!({"channels": [channel]}));
    let body =
        json!({"target_agent": "broadcast", "task_summary": "look", "intent": "have it looked at"});
    let envelope = sender.post("/v1/envelopes", body).with(201)["id"].clone();
    sender
        .post("/v1/deliveries", json!({"envelope_id": envelope}))
        .problem(422, "broadcast-target");
    let join =
        json!({"handoff": {"target_agent": "lead", "task_summary": "decide"}, "timeout_s": 60});
    let publish = json!({"envelope_id": envelope, "join": join});
    sender.post("/v1/channels/nobody/publish", publish.clone()).problem(422, "no-receivers");
    let keyed = sender.with("idempotency-key", "p1");
    let published = keyed.post("/v1/channels/reviews/publish", publish.clone()).with(201);
    let again = keyed.post("/v1/channels/reviews/publish", publish).with(201);
    assert_eq!(again["id"], published["id"]);
    assert_eq!(published["deliveries"].as_array().unwrap().len(), 2);
    assert_eq!((&published["settled"], &published["join"]["need"]), (&json!(false), &json!(2)));
    let path = format!("/v1/publications/{}?wait_s=30", text(&published["id"]));
    let waiting = std::thread::spawn(move || sender.get(&path).with(200));
    for agent in ["a", "b"] {
        let client = house.agent(agent);
        let received = client.receive(agent, json!({}));
        assert_eq!(received["delivery"]["publication_id"], published["id"]);
        client.settle(&received, "ack", json!({"result": agent})).with(200);
    }
    let settled = waiting.join().unwrap();
    assert_eq!((&settled["settled"], &settled["join"]["made"]["done"]), (&json!(true), &json!(2)));
    let joined = house.agent("lead").receive("lead", json!({}));
    assert_eq!(joined["delivery"]["id"], settled["join"]["made"]["delivery_id"]);
    assert_eq!(joined["envelope"]["parents"].as_array().unwrap().len(), 2);
}
