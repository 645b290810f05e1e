//! Leases: heartbeats, the end of one, crashes.

use serde_json::json;

use super::client::{House, text};

/// A lease that ran out is lost: the work is somebody else's, and the first one is told so.
#[test]
fn a_lease_that_ran_out_is_lost() {
    let house = House::start();
    let policy = json!({"policy": {"backoff_first_s": 0}});
    house.agent("analyst").hand_off("coder", policy);
    let coder = house.agent("coder");
    let first = coder.receive("coder", json!({"lease_s": 1, "holder": "one"}));
    let second = coder.receive("coder", json!({"holder": "two"}));
    assert_eq!(first["delivery"]["id"], second["delivery"]["id"]);
    assert_eq!(second["delivery"]["attempt"], 2);
    assert_eq!(second["delivery"]["attempts"][0]["outcome"], "lease_expired");
    assert_eq!(second["delivery"]["attempts"][0]["holder"], "one");
    for (step, more) in
        [("ack", json!({})), ("extend", json!({})), ("nack", json!({"reason": "x"}))]
    {
        coder.settle(&first, step, more).problem(409, "lease-lost");
    }
    coder.settle(&second, "ack", json!({"result": 1})).with(200);
}

/// A crash of the server in the middle keeps the lease, the progress, and what waits.
#[test]
fn a_crash_keeps_leases_and_loses_nothing() {
    let house = House::start();
    let sent = house.agent("analyst").hand_off("coder", json!({}));
    let waiting = house.agent("analyst").hand_off("tester", json!({}));
    let coder = house.agent("coder");
    let received = coder.receive("coder", json!({"accept": true}));
    let note = json!({"note": "half", "percent": 50.0, "checkpoint": {"line": 3}});
    coder.settle(&received, "progress", note).with(200);
    let house = house.crash_and_start();
    let coder = house.agent("coder");
    let extended = coder.settle(&received, "extend", json!({"lease_s": 90})).with(200);
    assert_eq!(
        (&extended["checkpoint"], &extended["progress"][0]["note"]),
        (&json!({"line": 3}), &json!("half"))
    );
    let done = coder.settle(&received, "ack", json!({"result": "ok"})).with(200);
    assert_eq!((&done["delivery"]["id"], &done["delivery"]["result"]), (&sent["id"], &json!("ok")));
    let other = house.agent("tester").receive("tester", json!({}));
    assert_eq!(other["delivery"]["id"], waiting["id"]);
}

/// What was called off is seen at the next heartbeat.
#[test]
fn a_cancellation_is_seen_at_the_heartbeat() {
    let house = House::start();
    let sender = house.agent("analyst");
    let sent = sender.hand_off("coder", json!({}));
    let coder = house.agent("coder");
    let received = coder.receive("coder", json!({"accept": true}));
    let path = format!("/v1/deliveries/{}/cancel", text(&sent["id"]));
    sender.post(&path, json!({"reason": "not needed"})).with(200);
    let problem = coder.settle(&received, "extend", json!({})).problem(409, "cancelled");
    assert_eq!(problem["reason"], "not needed");
    let other = sender.hand_off("coder", json!({}));
    let path = format!("/v1/deliveries/{}/cancel", text(&other["id"]));
    let all = sender.post(&path, json!({"reason": "all of it", "lineage": true})).with(200);
    assert_eq!(all["deliveries"][0]["state"], "cancelled");
}

/// Many are acknowledged at once, each by itself; a result that is not what was asked for keeps the lease.
#[test]
fn many_are_acknowledged_at_once() {
    let house = House::start();
    let sender = house.agent("analyst");
    for _ in 0..2 {
        sender.hand_off("coder", json!({}));
    }
    let body = json!({"target_agent": "coder", "task_summary": "a number", "intent": "a number",
        "expected_output": {"description": "a number", "schema": {"type": "number"}}});
    sender.post("/v1/handoffs", body).with(201);
    let coder = house.agent("coder");
    let received = coder.receive_many("coder", json!({"max": 10}));
    assert_eq!(received.len(), 3);
    let acks: Vec<_> = received
        .iter()
        .map(|one| json!({"id": one["delivery"]["id"], "lease": one["lease"], "result": "text"}))
        .collect();
    let answer = coder.post("/v1/deliveries/ack", json!({"acks": acks})).with(200);
    assert_eq!(answer["acks"][0]["delivery"]["state"], "done");
    assert_eq!(answer["acks"][1]["delivery"]["result"], "text");
    assert_eq!(answer["acks"][2]["problem"]["type"], "/errors/result-invalid");
    let problem =
        coder.settle(&received[2], "ack", json!({"result": "text"})).problem(422, "result-invalid");
    assert_eq!(problem["problems"].as_array().unwrap().len(), 1);
    coder.settle(&received[2], "ack", json!({"result": 7})).with(200);
}

/// What a receiver will not do ends with its question; what it could not do comes again.
#[test]
fn work_is_given_back_or_refused() {
    let house = House::start();
    house.agent("analyst").hand_off("coder", json!({}));
    let coder = house.agent("coder");
    let first = coder.receive("coder", json!({}));
    let nacked = coder.settle(&first, "nack", json!({"reason": "no disk", "after_s": 0})).with(200);
    assert_eq!(
        (&nacked["state"], &nacked["attempts"][0]["reason"]),
        (&json!("pending"), &json!("no disk"))
    );
    let again = coder.receive("coder", json!({}));
    let rejected = coder
        .settle(&again, "reject", json!({"reason": "unclear", "question": "which?"}))
        .with(200);
    assert_eq!(
        (&rejected["state"], &rejected["ending"]["question"]),
        (&json!("rejected"), &json!("which?"))
    );
    coder.settle(&again, "ack", json!({})).problem(409, "already-over");
}
