//! Deliveries are pushed to agents that have a webhook.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};

use super::SECRET;
use super::stand_in::{Reply, StandIn};
use crate::delivery::client::{Client, House, text};

const OPEN: &str = "outbound.allow_private = true";

fn quick(attempts: u32) -> Value {
    json!({"attempts": attempts, "backoff_first_s": 0.01, "backoff_max_s": 0.02})
}

#[track_caller]
fn register(house: &House, agent: &str, url: &str, policy: Value) {
    let body = json!({"policy": policy, "webhook": {"url": url, "secret": SECRET}});
    let agent = house.agent(agent).put(&format!("/v1/agents/{agent}"), body).with(200);
    assert_eq!(agent["webhook"], json!({"url": url, "accept_versions": null}));
}

/// The delivery when it is over.
#[track_caller]
fn ended(client: &Client, sent: &Value) -> Value {
    let path = format!("/v1/deliveries/{}?wait_until=done&wait_s=60", text(&sent["id"]));
    client.get(&path).with(200)
}

fn attempts(delivery: &Value) -> Vec<(&str, &str)> {
    let attempts = delivery["attempts"].as_array().unwrap().iter();
    attempts
        .map(|one| (text(&one["outcome"]), one["reason"].as_str().unwrap_or_default()))
        .collect()
}

/// Somebody who answers when the test says so.
fn patient(then: Value) -> (StandIn, Sender<()>) {
    let (go, wait) = channel();
    let wait = Mutex::new(wait);
    let stand_in = StandIn::start(move |_, _| {
        let _ = wait.lock().unwrap().recv();
        Reply::json("200 OK", then.clone())
    });
    (stand_in, go)
}

#[test]
fn a_delivery_is_pushed_and_done_by_the_answer() {
    let coder = StandIn::start(|asked, _| {
        Reply::json(
            "200 OK",
            json!({"result": {"of": asked.json()["delivery"]["id"]}, "action": "wrote it"}),
        )
    });
    let house = House::start_with(OPEN);
    register(&house, "coder", &coder.url("/inbox"), json!({}));
    let analyst = house.agent("analyst");
    let sent = analyst.hand_off("coder", json!({"wait": {"until": "done", "timeout_s": 60}}));
    let asked = coder.next();
    assert_eq!((asked.path.as_str(), asked.checked_id().as_str()), ("/inbox", text(&sent["id"])));
    let body = asked.json();
    assert_eq!((&body["type"], &body["workspace"]), (&json!("delivery"), &json!("default")));
    assert_eq!(body["envelope"]["task"]["intent"], "have it done");
    assert_eq!(body["delivery"]["lease"]["holder"], "webhook");
    assert_eq!((&sent["state"], &sent["result"]), (&json!("done"), &json!({"of": sent["id"]})));
    assert_eq!(sent["ending"]["action"], "wrote it");
    assert_eq!(coder.rest().len(), 0);
}

#[test]
fn work_that_is_only_taken_is_settled_later_with_the_lease_that_was_pushed() {
    let coder = StandIn::start(|_, _| Reply::empty("202 Accepted"));
    let house = House::start_with(OPEN);
    register(&house, "coder", &coder.url("/"), json!({}));
    let sent = house.agent("analyst").hand_off("coder", json!({"wait": {"timeout_s": 60}}));
    assert_eq!(sent["state"], "accepted");
    let pushed = coder.next().json();
    house.agent("coder").settle(&pushed, "ack", json!({"result": 7})).with(200);
    assert_eq!(ended(&house.agent("analyst"), &sent)["result"], 7);
}

/// Half a fleet may be older, also the half that is pushed to.
#[test]
fn an_older_agent_is_pushed_the_version_it_reads() {
    let coder = StandIn::start(|_, _| Reply::json("200 OK", json!({"result": 7})));
    let house = House::start_with(OPEN);
    let (client, path, url) = (house.agent("coder"), "/v1/agents/coder", coder.url("/"));
    let reads =
        |versions| json!({"webhook": {"url": url, "secret": SECRET, "accept_versions": versions}});
    client.put(path, reads(json!(["3"]))).problem(422, "version-unsupported");
    client.put(path, reads(json!(vec!["1"; 17]))).problem(422, "invalid-body");
    let registered = client.put(path, reads(json!(["1"]))).with(200);
    assert_eq!(registered["webhook"]["accept_versions"], json!(["1"]));
    let analyst = house.agent("analyst");
    let sent = analyst.hand_off("coder", json!({"wait": {"until": "done", "timeout_s": 60}}));
    let pushed = coder.next().json();
    assert_eq!(pushed["envelope_version"], "1");
    let envelope = &pushed["envelope"];
    assert_eq!((&envelope["version"], &envelope["target"]), (&json!(1), &json!("coder")));
    assert!(text(&envelope["task_summary"]).starts_with("have it done"), "{envelope}");
    assert_eq!((&sent["state"], &sent["result"]), (&json!("done"), &json!(7)));
}

#[test]
fn a_receiver_that_fails_is_tried_again_and_then_it_is_parked_with_its_story() {
    let replies = ["500 Oh", "404 None", "200 OK"];
    let coder = StandIn::start(move |_, number| match number {
        2 => Reply::json(replies[2], json!({"error": "no compiler"})),
        number => Reply::empty(replies[number]),
    });
    let house = House::start_with(OPEN);
    register(&house, "coder", &coder.url("/"), quick(3));
    let sent = house.agent("analyst").hand_off("coder", json!({}));
    let parked = ended(&house.agent("analyst"), &sent);
    assert_eq!(parked["state"], "parked");
    assert_eq!(
        attempts(&parked),
        [
            ("nacked", "the endpoint failed: try again later (status 500)"),
            ("nacked", "there is nothing at this URL: check its path (status 404)"),
            ("nacked", "no compiler"),
        ]
    );
    let ids: Vec<String> = (0..3).map(|_| coder.next().checked_id()).collect();
    assert!(ids.iter().all(|id| id == text(&sent["id"])), "{ids:?}");
}

#[test]
fn what_a_receiver_will_not_do_or_says_wrong_is_known_to_the_sender() {
    let coder = StandIn::start(|_, number| match number {
        0 => Reply::json("200 OK", json!({"reject": "not mine", "question": "whose?"})),
        1 => Reply::json("200 OK", json!({"result": "text"})),
        _ => Reply::empty("410 Gone"),
    });
    let house = House::start_with(OPEN);
    register(&house, "coder", &coder.url("/"), quick(3));
    let analyst = house.agent("analyst");
    let rejected = ended(&analyst, &analyst.hand_off("coder", json!({})));
    assert_eq!(
        (&rejected["state"], &rejected["ending"]["question"]),
        (&json!("rejected"), &json!("whose?"))
    );
    let body = json!({"target_agent": "coder", "task_summary": "count", "send": {},
        "expected_output": {"schema": {"type": "integer"}}});
    let sent = analyst.post("/v1/handoffs", body).with(201)["delivery"].clone();
    let parked = ended(&analyst, &sent);
    // Gone means that nobody tries again.
    let outcomes = attempts(&parked);
    assert_eq!((parked["state"].as_str(), outcomes.len()), (Some("parked"), 2), "{parked}");
    assert!(outcomes[0].1.starts_with("the result does not match the expected schema"));
    assert!(outcomes[1].1.ends_with("(status 410)"), "{outcomes:?}");
}

/// By address it is refused when the agent is registered; by name, when the server connects.
#[test]
fn this_machine_is_not_pushed_to_unless_that_is_allowed() {
    let nobody = StandIn::start(|_, _| Reply::empty("200 OK"));
    let house = House::start();
    let body = |url: String| json!({"webhook": {"url": url, "secret": SECRET}});
    let coder = house.agent("coder");
    let refused = coder.put("/v1/agents/coder", body(nobody.url("/"))).problem(422, "invalid-body");
    assert_eq!(refused["pointer"], "/webhook/url");
    let short = json!({"webhook": {"url": "https://a.example", "secret": "s"}});
    let refused = coder.put("/v1/agents/coder", short).problem(422, "invalid-body");
    assert_eq!(refused["pointer"], "/webhook/secret");
    let by_name = format!("http://localhost:{}/", nobody.port);
    register(&house, "coder", &by_name, json!({}));
    let analyst = house.agent("analyst");
    let parked = ended(&analyst, &analyst.hand_off("coder", json!({})));
    let story = attempts(&parked);
    assert_eq!((text(&parked["state"]), story.len(), story[0].0), ("parked", 1, "not_taken"));
    assert!(story[0].1.starts_with("this address may not be reached"), "{story:?}");
    assert_eq!(nobody.rest().len(), 0);
}

#[test]
fn a_server_that_was_killed_pushes_again_under_the_same_id() {
    let (dead, _go) = patient(Value::Null);
    let house = House::start_with(OPEN);
    register(&house, "coder", &dead.url("/"), json!({"lease_s": 3, "backoff_first_s": 0}));
    let sent = house.agent("analyst").hand_off("coder", json!({}));
    let first = dead.next();
    let house = house.crash_and_start();
    let alive = StandIn::start(|_, _| Reply::json("200 OK", json!({"result": "late"})));
    register(&house, "coder", &alive.url("/"), json!({"lease_s": 3, "backoff_first_s": 0}));
    let second = alive.next();
    assert_eq!(first.checked_id(), second.checked_id());
    assert_ne!(first.json()["lease"], second.json()["lease"]);
    let done = ended(&house.agent("analyst"), &sent);
    assert_eq!((text(&done["state"]), attempts(&done)[0].0), ("done", "lease_expired"));
}

#[test]
fn a_slow_agent_has_its_places_and_holds_up_nobody() {
    let (slow, go) = patient(json!({"result": "slow"}));
    let fast = StandIn::start(|_, _| Reply::json("200 OK", json!({"result": "fast"})));
    let house = House::start_with(OPEN);
    register(&house, "slow", &slow.url("/"), json!({}));
    register(&house, "fast", &fast.url("/"), json!({}));
    let analyst = house.agent("analyst");
    let waiting: Vec<Value> = (0..12).map(|_| analyst.hand_off("slow", json!({}))).collect();
    for _ in 0..8 {
        slow.next();
    }
    let done = analyst.hand_off("fast", json!({"wait": {"until": "done", "timeout_s": 60}}));
    assert_eq!(done["result"], "fast");
    assert_eq!(slow.rest().len(), 0, "more at once than an agent has places");
    drop(go);
    for sent in &waiting {
        assert_eq!(ended(&analyst, sent)["state"], "done");
    }
}

#[test]
fn a_webhook_that_nobody_answers_at_opens_the_breaker() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let house = House::start_with(OPEN);
    register(&house, "coder", &format!("http://{gone}/"), quick(1));
    let analyst = house.agent("analyst");
    let mut events = analyst.follow("/v1/events");
    for _ in 0..3 {
        let parked = ended(&analyst, &analyst.hand_off("coder", json!({})));
        assert_eq!((text(&parked["state"]), attempts(&parked)[0].0), ("parked", "not_taken"));
    }
    // The breaker is told after the delivery's own step.
    while events.next().expect("the stream goes on")["kind"] != "breaker.opened" {}
    assert_eq!(analyst.get("/v1/agents/coder/breaker").with(200)["state"], "open");
}

#[test]
fn a_stop_waits_for_the_answer_to_a_push() {
    let (coder, go) = patient(json!({"result": "in time"}));
    let mut house = House::start_with(OPEN);
    register(&house, "coder", &coder.url("/"), json!({}));
    let sent = house.agent("analyst").hand_off("coder", json!({}));
    coder.next();
    house.server.signal("TERM");
    go.send(()).unwrap();
    assert!(house.server.wait().success());
    let house = house.start_again();
    let found = house.agent("analyst").get(&format!("/v1/deliveries/{}", text(&sent["id"])));
    assert_eq!(found.with(200)["result"], "in time");
}

#[test]
fn a_webhook_can_be_moved_and_taken_away() {
    let done = |_: &_, _| Reply::json("200 OK", json!({"result": 1}));
    let (old, new) = (StandIn::start(done), StandIn::start(done));
    let house = House::start_with(OPEN);
    let analyst = house.agent("analyst");
    for stand_in in [&old, &new] {
        register(&house, "coder", &stand_in.url("/"), json!({}));
        analyst.hand_off("coder", json!({"wait": {"until": "done", "timeout_s": 60}}));
    }
    assert_eq!((old.rest().len(), new.rest().len()), (1, 1));
    let coder = house.agent("coder");
    coder.put("/v1/agents/coder", json!({})).with(200);
    analyst.hand_off("coder", json!({}));
    let received = coder.receive("coder", json!({}));
    assert_eq!(received["delivery"]["attempt"], 1);
    assert_eq!((old.rest().len(), new.rest().len()), (0, 0));
}
