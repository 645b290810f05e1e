//! From one agent to another.

use serde_json::{Value, json};

use super::client::{House, text};

/// A sender that waits for the end gets the result that a receiver on another connection gives.
#[test]
fn a_direct_handoff_is_waited_for() {
    let house = House::start();
    let (sender, receiver) = (house.agent("analyst"), house.agent("coder"));
    let waiting = std::thread::spawn(move || {
        sender.hand_off("coder", json!({"wait": {"until": "done", "timeout_s": 30}}))
    });
    let received = receiver.receive("coder", json!({"accept": true}));
    assert_eq!(received["delivery"]["state"], "accepted");
    assert_eq!(received["envelope"]["task"]["summary"], "do it");
    assert_eq!(received["envelope_version"], "2");
    let done = receiver.settle(&received, "ack", json!({"result": {"lines": 7}})).with(200);
    assert_eq!(done["next"], Value::Null);
    let delivery = waiting.join().unwrap();
    assert_eq!((&delivery["state"], &delivery["result"]), (&json!("done"), &json!({"lines": 7})));
    assert_eq!(delivery["sender"], "analyst");
}

/// The end of the waiting is no error, and asking again goes on waiting.
#[test]
fn a_sender_that_waited_in_vain_asks_again() {
    let house = House::start();
    let sender = house.agent("analyst");
    let delivery = sender.hand_off("coder", json!({"wait": {"timeout_s": 0}}));
    assert_eq!(delivery["state"], "pending");
    let path = format!("/v1/deliveries/{}?wait_until=accepted&wait_s=30", text(&delivery["id"]));
    let waiting = std::thread::spawn(move || sender.get(&path).with(200));
    house.agent("coder").receive("coder", json!({"accept": true, "holder": "pid 1"}));
    let delivery = waiting.join().unwrap();
    assert_eq!(
        (&delivery["state"], &delivery["lease"]["holder"]),
        (&json!("accepted"), &json!("pid 1"))
    );
}

/// Done and handed on is one step, also when it is said twice.
#[test]
fn an_acknowledgement_hands_on() {
    let house = House::start();
    house.agent("analyst").hand_off("coder", json!({}));
    let coder = house.agent("coder");
    let received = coder.receive("coder", json!({}));
    let next = json!({"target_agent": "reviewer", "task_summary": "review it", "send": {"order_key": "a"}});
    let ack = json!({"result": "code", "action": "wrote it", "next": next});
    let done = coder.settle(&received, "ack", ack.clone()).with(200);
    assert_eq!(coder.settle(&received, "ack", ack).with(200), done);
    let review = house.agent("reviewer").receive("reviewer", json!({}));
    assert_eq!(review["delivery"]["id"], done["next"]["id"]);
    assert_eq!(review["delivery"]["order_key"], "a");
    assert_eq!(review["envelope"]["parents"][0]["id"], received["delivery"]["envelope_id"]);
    assert_eq!(review["envelope"]["task"]["intent"], "have it done");
    let trace = format!("/v1/envelopes/{}/trace", text(&done["next"]["envelope_id"]));
    let trace = coder.get(&trace).with(200);
    let count = |name: &str| trace[name].as_array().unwrap().len();
    assert_eq!((count("envelopes"), count("deliveries")), (2, 2));
    let kinds: Vec<&str> =
        trace["events"].as_array().unwrap().iter().map(|e| text(&e["kind"])).collect();
    for kind in ["envelope.made", "delivery.sent", "delivery.leased", "delivery.done"] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
    let lineage = format!("/v1/envelopes/{}/lineage", text(&done["next"]["envelope_id"]));
    assert_eq!(coder.get(&lineage).with(200)["deliveries"].as_array().unwrap().len(), 2);
}

/// What an agent hands off while it works on a delivery follows that delivery, unless it says otherwise.
#[test]
fn a_handoff_follows_the_delivery_it_comes_out_of() {
    let house = House::start();
    house.agent("analyst").hand_off("coder", json!({}));
    let received = house.agent("coder").receive("coder", json!({}));
    let id = text(&received["delivery"]["id"]);
    let coder = house.agent("coder").with("Memory-Spine-Delivery", id);
    let child = coder
        .post("/v1/envelopes", json!({"target_agent": "tester", "task_summary": "test"}))
        .with(201);
    assert_eq!(child["envelope"]["parents"][0]["id"], received["delivery"]["envelope_id"]);
    let named = json!({"target_agent": "tester", "task_summary": "test", "parent": id});
    let named = house.agent("coder").post("/v1/handoffs", named).with(201);
    assert_eq!(
        named["handoff"]["envelope"]["parents"][0]["id"],
        received["delivery"]["envelope_id"]
    );
    let own = json!({"target_agent": "tester", "task_summary": "else", "intent": "another", "new_task": true});
    let own = coder.post("/v1/handoffs", own).with(201);
    assert_eq!(own["handoff"]["envelope"]["parents"], json!([]));
    let audit = coder.get("/v1/audit?limit=1000").with(200);
    let noted = audit["events"]
        .as_array()
        .unwrap()
        .iter()
        .find(|event| event["kind"] == "task.new")
        .unwrap();
    assert_eq!((&noted["delivery"], &noted["envelope"]), (&json!(id), &own["handoff"]["id"]));
}

/// A chain at its limit ends: whoever is told so learns the way round, and the delivery waits for a person.
#[test]
fn at_the_hop_limit_the_delivery_is_parked() {
    let house = House::start();
    let body = json!({"target_agent": "coder", "task_summary": "a", "intent": "b", "max_hops": 1});
    house.agent("analyst").post("/v1/handoffs", body).with(201);
    let coder = house.agent("coder");
    let received = coder.receive("coder", json!({}));
    let next = json!({"next": {"target_agent": "analyst", "task_summary": "back"}});
    coder.settle(&received, "ack", next).with(200);
    let back = house.agent("analyst").receive("analyst", json!({}));
    let analyst =
        house.agent("analyst").with("Memory-Spine-Delivery", text(&back["delivery"]["id"]));
    let refused =
        analyst.post("/v1/handoffs", json!({"target_agent": "coder", "task_summary": "again"}));
    let problem = refused.problem(422, "hop-limit");
    assert_eq!(problem["agents"], json!(["analyst", "coder", "analyst"]));
    assert_eq!(problem["cycle"], json!(["coder", "analyst"]));
    let parked = analyst.get("/v1/parked?reason=hop_limit").with(200);
    assert_eq!(parked["deliveries"][0]["id"], back["delivery"]["id"]);
    assert_eq!(parked["deliveries"][0]["refused"]["handoff"]["task_summary"], "again");
}

/// Many: each by itself where it is handed off, all or none where it is sent; the same key gives the same answer.
#[test]
fn many_are_sent_at_once() {
    let house = House::start();
    let sender = house.agent("analyst").with("Idempotency-Key", "batch 1");
    let good = json!({"target_agent": "coder", "task_summary": "a", "intent": "b"});
    let bad = json!({"target_agent": "coder", "task_summary": "a", "max_tokens": 1});
    let body = json!({"handoffs": [good, bad, good]});
    let first = sender.post("/v1/handoffs", body.clone()).with(201);
    assert_eq!(first["handoffs"][1]["problem"]["type"], "/errors/budget");
    let again = sender.post("/v1/handoffs", body).with(201);
    assert_eq!(again["handoffs"][2]["delivery"]["id"], first["handoffs"][2]["delivery"]["id"]);
    assert_ne!(first["handoffs"][0]["delivery"]["id"], first["handoffs"][2]["delivery"]["id"]);
    let envelopes = [0, 2]
        .map(|n| json!({"envelope_id": first["handoffs"][n]["handoff"]["id"], "to": "tester"}));
    let sender = sender.with("Idempotency-Key", "batch 2");
    let sent = sender.post("/v1/deliveries", json!({"deliveries": envelopes})).with(201);
    assert_eq!(sent["deliveries"].as_array().unwrap().len(), 2);
    let again = sender.post("/v1/deliveries", json!({"deliveries": envelopes})).with(201);
    assert_eq!(again["deliveries"], sent["deliveries"]);
    let listed = sender.get("/v1/deliveries?agent=tester&state=pending&limit=1").with(200);
    let cursor = text(&listed["next_cursor"]);
    let rest =
        sender.get(&format!("/v1/deliveries?agent=tester&limit=1&cursor={cursor}")).with(200);
    assert_eq!(rest["deliveries"][0]["id"], sent["deliveries"][0]["id"], "newest first");
    let of_one =
        format!("/v1/deliveries?envelope_id={}&order=oldest", text(&envelopes[0]["envelope_id"]));
    assert_eq!(sender.get(&of_one).with(200)["deliveries"].as_array().unwrap().len(), 2);
}

/// A pipeline says who is next by what came out.
#[test]
fn a_pipeline_goes_back_when_the_review_says_so() {
    let house = House::start();
    let steps = json!([{"agent": "coder"}, {"agent": "reviewer", "summary": "look at it", "next": [
        {"to": "coder", "when": {"at": "/approved", "equals": false}}, {"to": null}]}]);
    let sender = house.agent("analyst");
    let set = sender.put("/v1/pipelines/code", json!({"steps": steps})).with(200);
    assert_eq!(sender.get("/v1/pipelines").with(200)["pipelines"], json!([set]));
    sender.hand_off("coder", json!({"pipeline": "code"}));
    let run = |agent: &str, result: Value| {
        let client = house.agent(agent);
        let received = client.receive(agent, json!({}));
        client.settle(&received, "ack", json!({"result": result})).with(200)["next"]["agent"]
            .clone()
    };
    assert_eq!(run("coder", json!("v1")), "reviewer");
    assert_eq!(run("reviewer", json!({"approved": false})), "coder");
    assert_eq!(run("coder", json!("v2")), "reviewer");
    assert_eq!(run("reviewer", json!({"approved": true})), Value::Null);
}
