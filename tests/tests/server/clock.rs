//! The clock that tests move: there only when it was asked for, and then everything that goes by time follows it.

use serde_json::{Value, json};
use spine_protocol::Timestamp;
use spine_server::test_routes;

use crate::access::key;
use crate::delivery::client::{Client, text};
use crate::process::{Server, program};

const CLOCK: &str = "/v1/test/clock";

/// A server whose clock tests move.
pub fn start(folder: &tempfile::TempDir) -> Server {
    Server::of(program(folder.path(), &["serve", "--listen", "127.0.0.1:0", "--test-clock"]))
}

#[track_caller]
fn unix_ms(moment: &Value) -> i64 {
    text(moment).parse::<Timestamp>().unwrap().unix_ms()
}

#[track_caller]
pub fn advance(client: &Client, seconds: f64) {
    client.post(CLOCK, json!({"advance_s": seconds})).with(200);
}

#[test]
fn without_being_asked_for_it_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    assert_eq!(server.get(CLOCK).problem(), "404 /errors/route-unknown");
    let moved = server.post(CLOCK, &json!({"advance_s": 1}));
    assert_eq!(moved.problem(), "404 /errors/route-unknown");
    assert_eq!(server.get("/readyz").json()["test_clock"], false);
}

/// A description is of what every server has.
#[test]
fn it_is_in_no_description() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder);
    assert!(!server.get("/openapi.json").json().to_string().contains("/v1/test"));
    assert_eq!(server.get("/readyz").json()["test_clock"], true);
}

#[test]
fn it_is_refused_where_others_could_come_in() {
    let folder = tempfile::tempdir().unwrap();
    key(folder.path(), &["--scope", "admin", "--workspace", "*"]);
    let arguments = ["serve", "--listen", "0.0.0.0:0", "--test-clock"];
    let refused = program(folder.path(), &arguments).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("--test-clock: 0.0.0.0:0 can be reached from other machines"), "{said}");
}

#[test]
fn only_an_administrator_moves_it() {
    let folder = tempfile::tempdir().unwrap();
    let writer = key(folder.path(), &["--scope", "write"]);
    let admin = key(folder.path(), &["--scope", "admin", "--workspace", "*"]);
    let server = start(&folder);
    for route in test_routes() {
        let status = |headers: &[(&str, &str)]| {
            let body = r#"{"advance_s": 1}"#;
            server.send(route.method.as_str(), route.path, headers, body).status
        };
        let with = |key: &str| status(&[("authorization", &format!("Bearer {key}"))]);
        assert_eq!((status(&[]), with(&writer), with(&admin)), (401, 403, 200), "{}", route.id);
    }
}

#[test]
fn it_goes_ahead_only_and_not_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder);
    let before = server.get(CLOCK).json();
    let refused = ["-1", "366e5", "1e15", "null", "\"an hour\""];
    for value in refused {
        let body = format!(r#"{{"advance_s": {value}}}"#);
        let answer = server.send("POST", CLOCK, &[], &body);
        assert_eq!(answer.problem(), "422 /errors/invalid-body", "{value}");
    }
    for body in ["{}", r#"{"advance_s": 1, "set": 2}"#, r#"{"to": "2030-01-01T00:00:00Z"}"#] {
        assert_eq!(server.send("POST", CLOCK, &[], body).problem(), "422 /errors/invalid-body");
    }
    assert_eq!(server.send("POST", CLOCK, &[], "[").problem(), "400 /errors/malformed-json");
    let passed_ms = unix_ms(&server.get(CLOCK).json()["now"]) - unix_ms(&before["now"]);
    assert!((0..600_000).contains(&passed_ms), "{passed_ms} ms have passed");
}

/// Whoever waits is woken: a receiver gets what has come back, and one whose time is over is told so.
#[test]
fn long_polls_follow_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder);
    let client = Client::of(&server.address, "coder");
    let policy = json!({"policy": {"backoff_first_s": 0}});
    let sent = Client::of(&server.address, "analyst").hand_off("coder", policy);
    client.receive("coder", json!({"lease_s": 20}));
    let mut events = client.follow("/v1/events");
    let polling = |client: Client, wait_s: f64| {
        std::thread::spawn(move || client.receive_many("coder", json!({"wait_s": wait_s})))
    };
    let receiver = polling(client.clone(), 30.0);
    advance(&client, 21.0);
    let received = receiver.join().unwrap();
    assert_eq!((received.len(), &received[0]["delivery"]["id"]), (1, &sent["id"]));
    assert_eq!(received[0]["delivery"]["attempt"], 2);
    client.settle(&received[0], "ack", json!({})).with(200);
    while events.next().unwrap()["kind"] != "delivery.done" {}
    let waiting = polling(client.clone(), 30.0);
    // Whether it has begun to wait or not: it ends in no time of the machine's.
    while !waiting.is_finished() {
        advance(&client, 31.0);
    }
    assert_eq!(waiting.join().unwrap(), Vec::<Value>::new());
}

/// An alert opens when it happens and is over after its time, both on the way of one move.
#[test]
fn alerts_open_and_resolve_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder);
    let client = Client::of(&server.address, "coder");
    let policy = json!({"policy": {"attempts": 1}});
    Client::of(&server.address, "analyst").hand_off("coder", policy);
    client.receive("coder", json!({"lease_s": 600}));
    advance(&client, 3600.0);
    let alerts = client.get("/v1/alerts?state=all").with(200);
    let alert = &alerts["alerts"][0];
    assert_eq!(
        (&alert["kind"], alerts["alerts"].as_array().unwrap().len()),
        (&json!("handoff_failed"), 1)
    );
    let lasted_ms = unix_ms(&alert["resolved_at"]) - unix_ms(&alert["opened_at"]);
    assert_eq!(lasted_ms, 300_000, "{alert}");
    let health = client.get("/v1/health").with(200);
    assert_eq!(health["verdict"], "critical", "the last hour has one handoff, and it failed");
    advance(&client, 86_400.0);
    assert_eq!(client.get("/v1/health").with(200)["verdict"], "healthy");
}

/// An agent that nobody registered was gone from the list as soon as its work was done. It is there for a day.
#[test]
fn an_agent_is_in_the_list_for_a_day_after_its_work() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder);
    let client = Client::of(&server.address, "coder");
    let names = || {
        let list = client.get("/v1/agents").with(200);
        let names =
            list["agents"].as_array().unwrap().iter().map(|one| text(&one["name"]).to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(), Vec::<String>::new());
    Client::of(&server.address, "analyst").hand_off("coder", json!({}));
    let received = client.receive("coder", json!({"accept": true}));
    client.settle(&received, "ack", json!({})).with(200);
    assert_eq!(names(), ["coder"]);
    // An envelope for everybody makes no agent of that name.
    let to_all =
        json!({"target_agent": "broadcast", "task_summary": "do it", "intent": "have it done"});
    client.post("/v1/envelopes", to_all).with(201);
    assert_eq!(names(), ["coder"]);
    advance(&client, 23.0 * 3600.0);
    assert_eq!(names(), ["coder"]);
    advance(&client, 2.0 * 3600.0);
    assert_eq!(names(), Vec::<String>::new());
}
