//! What waits for a person, and breakers.

use serde_json::{Value, json};

use super::client::{Client, House, text};

fn park(client: &Client, to: &str, reason: &str) -> Value {
    let sent = client.hand_off(to, json!({}));
    let body = json!({"envelope_id": sent["envelope_id"], "reason": reason});
    let parked = client.post("/v1/parked", body).with(200);
    assert_eq!(parked["deliveries"][0]["state"], "parked");
    parked["deliveries"][0].clone()
}

fn ids(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(text).collect()
}

#[test]
fn one_is_requeued_resent_resolved_or_discarded() {
    let house = House::start();
    let person = house.agent("maria");
    let step = |delivery: &Value, step: &str, body: Value| {
        person.post(&format!("/v1/parked/{}/{step}", text(&delivery["id"])), body)
    };
    let one = park(&person, "coder", "look at this");
    let requeued = step(&one, "requeue", json!({"target": "tester"})).with(200);
    assert_eq!((&requeued["state"], &requeued["agent"]), (&json!("pending"), &json!("tester")));
    assert_eq!(
        step(&one, "discard", json!({"reason": "x"})).problem(409, "not-parked")["state"],
        "pending"
    );
    let two = park(&person, "coder", "look at this");
    let edited =
        json!({"target_agent": "coder", "task_summary": "do it well", "send": {"order_key": "k"}});
    let keyed = person.with("idempotency-key", "resend");
    let path = format!("/v1/parked/{}/resend", text(&two["id"]));
    let resent = keyed.post(&path, edited.clone()).with(201);
    assert_eq!(resent["replaced"]["id"], two["id"]);
    assert_eq!(resent["handoff"]["envelope"]["parents"][0]["id"], two["envelope_id"]);
    assert_eq!(resent["delivery"]["order_key"], "k");
    assert_eq!(keyed.post(&path, edited).with(201)["delivery"]["id"], resent["delivery"]["id"]);
    let three = park(&person, "coder", "look at this");
    let resolved = step(&three, "resolve", json!({"result": [1], "by": "joe"})).with(200);
    assert_eq!(
        (&resolved["state"], &resolved["ending"]["by_hand"]),
        (&json!("done"), &json!(true))
    );
    assert_eq!((&resolved["result"], &resolved["ending"]["by"]), (&json!([1]), &json!("joe")));
    let four = park(&person, "coder", "look at this");
    let discarded = step(&four, "discard", json!({"reason": "old"})).with(200);
    assert_eq!(
        (&discarded["state"], &discarded["ending"]["reason"]),
        (&json!("cancelled"), &json!("old"))
    );
}

#[test]
fn many_are_reviewed_after_a_dry_run() {
    let house = House::start();
    let person = house.agent("maria");
    let parked: Vec<Value> =
        ["flaky", "flaky", "other"].map(|why| park(&person, "coder", why)).into();
    let listed = person.get("/v1/parked?target=coder&reason=flaky").with(200);
    assert_eq!(listed["deliveries"].as_array().unwrap().len(), 2);
    let filter = json!({"filter": {"target": "coder", "reason": "flaky"}, "reason": "it is back", "dry_run": true});
    let dry = person.post("/v1/parked/requeue", filter.clone()).with(200);
    assert_eq!(ids(&dry["ids"]), [text(&parked[0]["id"]), text(&parked[1]["id"])]);
    assert_eq!(
        person.get("/v1/agents/coder").with(200)["queue"]["parked"],
        3,
        "a dry run does nothing"
    );
    let mut really = filter;
    really["dry_run"] = json!(false);
    let done = person.post("/v1/parked/requeue", really).with(200);
    assert_eq!((&done["ids"], &done["dry_run"]), (&dry["ids"], &json!(false)));
    let given_up = person
        .post("/v1/parked/discard", json!({"filter": {}, "reason": "old", "max": 10}))
        .with(200);
    assert_eq!(ids(&given_up["ids"]), [text(&parked[2]["id"])]);
    let queue = person.get("/v1/agents/coder").with(200)["queue"].clone();
    assert_eq!((&queue["parked"], &queue["pending"]), (&json!(0), &json!(2)));
}

/// While the circuit is open whoever waits is told at once, and a fallback or a queue takes the rest.
#[test]
fn an_open_circuit_is_told_with_its_time() {
    let house = House::start();
    let sender = house.agent("analyst");
    let opened = sender.put("/v1/agents/coder/breaker", json!({"state": "open"})).with(200);
    assert_eq!(
        (&opened["breaker"]["state"], &opened["breaker"]["forced"]),
        (&json!("open"), &json!(true))
    );
    let body = |send: Value| json!({"target_agent": "coder", "task_summary": "a", "intent": "b", "send": send});
    let refused = sender.post("/v1/handoffs", body(json!({"wait": {}})));
    assert!(refused.retry_after.as_ref().unwrap().parse::<u64>().unwrap() > 0);
    let problem = refused.problem(503, "circuit-open");
    assert_eq!(problem["agent"], "coder");
    assert!(problem["retry_after_s"].is_u64() && problem["retry_at"].is_string(), "{problem}");
    let instead = body(json!({"wait": {"timeout_s": 0}, "fallbacks": ["tester"]}));
    assert_eq!(sender.post("/v1/handoffs", instead).with(201)["delivery"]["agent"], "tester");
    assert_eq!(
        sender.post("/v1/handoffs", body(json!({}))).with(201)["delivery"]["state"],
        "pending"
    );
    let closed = sender.put("/v1/agents/coder/breaker", json!({"state": "closed"})).with(200);
    assert_eq!(closed["breaker"]["state"], "closed");
    assert_eq!(sender.get("/v1/agents/coder/breaker").with(200), closed["breaker"]);
    house.agent("coder").receive("coder", json!({}));
}

/// What an agent is registered with counts for what is sent to it; being paused is not lost with it.
#[test]
fn an_agent_is_registered_and_paused() {
    let house = House::start();
    let coder = house.agent("coder");
    coder.ask("POST", "/v1/agents/coder/pause", "").with(200);
    let options = json!({"description": "writes", "max_tokens": 900, "policy": {"attempts": 2, "lease_s": 5.5},
        "fallbacks": ["tester"]});
    let agent = coder.put("/v1/agents/coder", options).with(200);
    assert_eq!((&agent["paused"], &agent["max_tokens"]), (&json!(true), &json!(900)));
    assert_eq!(agent["webhook"], Value::Null);
    assert_eq!(
        agent["policy"],
        json!({"attempts": 2, "lease_s": 5.5, "backoff_first_s": null,
        "backoff_max_s": null, "take_s": null, "pending_s_max": null})
    );
    let sent = house.agent("analyst").hand_off("coder", json!({}));
    assert_eq!(sent["fallbacks"], json!(["tester"]));
    assert_eq!(coder.receive_many("coder", json!({"wait_s": 0})), Vec::<Value>::new());
    coder.ask("POST", "/v1/agents/coder/resume", "").with(200);
    let received = coder.receive("coder", json!({}));
    assert_eq!(received["envelope"]["assembly"]["max_tokens"], 900);
    let agents = coder.get("/v1/agents").with(200);
    assert_eq!(agents["agents"].as_array().unwrap().len(), 1);
}

/// What is forgotten is gone from memories, envelopes and results, and the lineage still verifies.
#[test]
fn a_memory_is_forgotten_everywhere() {
    let house = House::start();
    let (sender, coder) = (house.agent("analyst"), house.agent("coder"));
    let memory = sender.post("/v1/memories", json!({"content": "the marble secret"})).with(201);
    let body = json!({"target_agent": "coder", "task_summary": "a", "intent": "b", "memory_refs": [memory["id"]]});
    let made = sender.post("/v1/handoffs", body).with(201);
    let received = coder.receive("coder", json!({}));
    assert!(received["envelope"].to_string().contains("marble"));
    coder.settle(&received, "ack", json!({"result": "done"})).with(200);
    let mut erase = json!({"memory": memory["id"], "reason": "asked for", "dry_run": true});
    assert_eq!(sender.post("/v1/erasures", erase.clone()).with(200)["envelopes"], 1);
    assert_eq!(sender.get("/v1/erasures").with(200)["erasures"], json!([]));
    erase["dry_run"] = json!(false);
    let erased = sender.post("/v1/erasures", erase).with(200);
    assert_eq!((&erased["memories"], &erased["memory"]), (&json!(1), &memory["id"]));
    assert_eq!(sender.get("/v1/erasures").with(200)["erasures"], json!([erased]));
    let path = format!("/v1/envelopes/{}", text(&made["handoff"]["id"]));
    assert!(!sender.get(&path).with(200).to_string().contains("marble"));
    assert_eq!(sender.get(&format!("{path}/verify")).with(200)["intact"], true);
}
