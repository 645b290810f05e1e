//! Receiving: long polls, streams, versions.

use serde_json::{Value, json};

use super::client::{House, text};

/// A receiver that waits is woken by a send, and one that is not is answered at its end.
#[test]
fn a_long_poll_is_woken_by_a_send() {
    let house = House::start();
    let receiver = house.agent("coder");
    assert_eq!(receiver.receive_many("coder", json!({"wait_s": 0})), Vec::<Value>::new());
    let waiting = std::thread::spawn(move || receiver.receive("coder", json!({"wait_s": 60})));
    // The queue shows nothing of who waits: the send may come before or after, and both must do.
    let sent = house.agent("analyst").hand_off("coder", json!({}));
    assert_eq!(waiting.join().unwrap()["delivery"]["id"], sent["id"]);
}

/// A stop answers those who wait, with what there is.
#[test]
fn a_stop_answers_a_long_poll() {
    let mut house = House::start();
    let events = house.agent("coder").follow("/v1/agents/other/stream");
    let receiver = house.agent("coder");
    let waiting =
        std::thread::spawn(move || receiver.receive_many("coder", json!({"wait_s": 300})));
    // When the poll has a place, the next request is behind it in the same server.
    while house.agent("coder").get("/v1/agents").status != 200 {}
    house.server.signal("TERM");
    assert!(house.server.wait().success());
    let _ = waiting.join();
    let mut events = events;
    assert_eq!(events.next(), None, "the stream ended");
}

/// A stream gives what comes, up to what the receiver can have in hands.
#[test]
fn a_stream_gives_no_more_than_is_settled() {
    let house = House::start();
    let (sender, receiver) = (house.agent("analyst"), house.agent("coder"));
    let sent: Vec<Value> = (0..3).map(|_| sender.hand_off("coder", json!({}))).collect();
    let mut stream = receiver.follow("/v1/agents/coder/stream?max_outstanding=2&accept=true");
    let first = stream.next().unwrap();
    let second = stream.next().unwrap();
    assert_eq!(
        (&first["delivery"]["id"], &second["delivery"]["id"]),
        (&sent[0]["id"], &sent[1]["id"])
    );
    assert_eq!(first["delivery"]["state"], "accepted");
    let queue = receiver.get("/v1/agents/coder").with(200)["queue"].clone();
    assert_eq!((&queue["accepted"], &queue["pending"]), (&json!(2), &json!(1)));
    receiver.settle(&second, "ack", json!({"result": 2})).with(200);
    assert_eq!(stream.next().unwrap()["delivery"]["id"], sent[2]["id"]);
}

/// An agent that reads version 1 is given the flat form, and one that reads neither is given nothing.
#[test]
fn an_old_receiver_is_given_the_flat_form() {
    let house = House::start();
    let receiver = house.agent("coder");
    house.agent("analyst").hand_off("coder", json!({}));
    let unknown = json!({"accept_versions": ["7"], "wait_s": 0});
    receiver.post("/v1/agents/coder/receive", unknown).problem(422, "version-unsupported");
    let received =
        receiver.receive("coder", json!({"accept_versions": ["1"], "format": "markdown"}));
    assert_eq!(received["envelope_version"], "1");
    assert_eq!(received["envelope"]["protocol"], Value::Null, "{}", received["envelope"]);
    assert!(received["envelope"].to_string().contains("do it"), "{}", received["envelope"]);
    assert!(text(&received["rendered"]).contains("do it"));
    receiver.settle(&received, "ack", json!({"result": "done"})).with(200);
}

/// What a handoff lacks is looked up again: the newest version, and which one was packed.
#[test]
fn missing_references_are_recovered() {
    let house = House::start();
    let (sender, receiver) = (house.agent("analyst"), house.agent("coder"));
    let stored = sender.post("/v1/memories", json!({"content": "the limit is 100"})).with(201);
    let id = text(&stored["id"]).to_owned();
    let later = "ms-2";
    let body = json!({"target_agent": "coder", "task_summary": "go", "intent": "go", "strategy": "lazy",
        "memory_refs": [id, later, "ms-99"]});
    sender.post("/v1/handoffs", body).with(201);
    let received = receiver.receive("coder", json!({}));
    assert_eq!(received["delivery"]["completeness"], json!(1.0 / 3.0));
    sender.post("/v1/memories", json!({"content": "it came later"})).with(201);
    sender
        .ask("PATCH", &format!("/v1/memories/{id}"), "{\"content\": \"the limit is 200\"}")
        .with(200);
    let path = format!("/v1/deliveries/{}/recover", text(&received["delivery"]["id"]));
    let recovered = receiver.ask("POST", &path, "").with(200);
    let memories: Vec<Value> = recovered["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| {
            json!([memory["id"], memory["content"], memory["version"], memory["packed_version"]])
        })
        .collect();
    assert_eq!(
        memories,
        [json!([id, "the limit is 200", 2, 1]), json!([later, "it came later", 1, null])]
    );
    assert_eq!(recovered["gaps"], json!([{"ref": "ms-99", "reason": "not_found"}]));
    assert_eq!(recovered["completeness"], json!(2.0 / 3.0));
}
