//! Alerts are told to webhooks, and the history says what each answered.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::SECRET;
use super::stand_in::{Reply, StandIn};
use crate::delivery::client::{Client, House, text};
use crate::process::program;

fn settings(url: &str, slack: &str) -> String {
    format!(
        "[outbound]\nallow_private = true\n[alerts]\nlink = 'https://spine.example/'\n\
         [[alerts.webhook]]\nname = 'ops'\nurl = '{url}'\nsecret = '{SECRET}'\n\
         [[alerts.webhook]]\nname = 'chat'\nurl = '{slack}'\nform = 'slack'\n"
    )
}

/// One that its receiver gives up, so that an alert opens.
fn fail_a_handoff(house: &House) {
    house.agent("analyst").hand_off("coder", json!({"policy": {"attempts": 1}}));
    let coder = house.agent("coder");
    let received = coder.receive("coder", json!({}));
    coder.settle(&received, "nack", json!({"reason": "cannot", "retry": false})).with(200);
}

/// What an alert's history says, when it says as much as is wanted.
#[track_caller]
fn history(client: &Client, entries: usize) -> Vec<Value> {
    let mut events = client.follow("/v1/events");
    loop {
        let alerts = client.get("/v1/alerts").with(200);
        let sent = alerts["alerts"][0]["sent"].as_array().cloned().unwrap_or_default();
        if sent.len() >= entries {
            return sent;
        }
        events.next().expect("the stream goes on");
    }
}

fn outcomes(sent: &[Value]) -> Vec<(&str, Value)> {
    let one = |one: &'_ Value| json!([one["ok"], one["status"]]);
    sent.iter().map(|sent| (text(&sent["webhook"]), one(sent))).collect()
}

#[test]
fn an_alert_is_signed_tried_again_and_noted() {
    let failing_once =
        |_: &_, number| Reply::empty(if number == 0 { "500 Oh" } else { "204 None" });
    let (ops, chat) = (StandIn::start(failing_once), StandIn::start(|_, _| Reply::empty("200 OK")));
    let house = House::start_with(&settings(&ops.url("/in?k=1"), &chat.url("/T0/B0")));
    assert_eq!(house.agent("ops").get("/v1/alerts").with(200)["webhooks"], 2);
    fail_a_handoff(&house);
    let (first, second) = (ops.next(), ops.next());
    assert_eq!(first.path, "/in?k=1");
    assert_eq!(first.checked_id(), second.checked_id());
    let body = second.json();
    assert_eq!(second.checked_id(), format!("{}-opened", text(&body["alert"]["id"])));
    assert_eq!((&body["type"], &body["workspace"]), (&json!("alert.opened"), &json!("default")));
    assert_eq!(body["alert"]["kind"], "handoff_failed");
    let in_slack = chat.next();
    assert!(!in_slack.has_header("webhook-signature"));
    let shown = in_slack.json();
    assert!(text(&shown["text"]).starts_with(":information_source: info: "), "{shown}");
    assert!(shown["blocks"].to_string().contains("<https://spine.example/|Open>"), "{shown}");
    let sent = history(&house.agent("ops"), 2);
    assert_eq!(outcomes(&sent), [("ops", json!([true, 204])), ("chat", json!([true, 200]))]);
}

/// A server died while a webhook was being tried again, and what it was to be told was known to nobody any more. Whoever has
/// it already is not told twice.
#[test]
fn what_was_being_tried_again_is_told_after_a_crash() {
    let (release, held) = channel::<()>();
    let held = Mutex::new(held);
    let failing_then_stuck = move |_: &_, number| match number {
        0 => Reply::empty("503 Down"),
        _ => {
            // Until the test lets go.
            let _ = held.lock().unwrap().recv();
            Reply::empty("204 None")
        }
    };
    let ops = StandIn::start(failing_then_stuck);
    let chat = StandIn::start(|_, _| Reply::empty("200 OK"));
    let house = House::start_with(&settings(&ops.url("/in"), &chat.url("/T0/B0")));
    fail_a_handoff(&house);
    let (first, _stuck) = (ops.next(), ops.next());
    assert_eq!(outcomes(&history(&house.agent("ops"), 1)), [("chat", json!([true, 200]))]);
    let house = house.crash_and_start();
    drop(release);
    let sent = history(&house.agent("ops"), 2);
    assert_eq!(outcomes(&sent), [("ops", json!([true, 204])), ("chat", json!([true, 200]))]);
    let told = ops.rest();
    assert!(!told.is_empty() && told.iter().all(|one| one.checked_id() == first.checked_id()));
    assert_eq!(chat.rest().len(), 1, "chat had it before the crash");
    let house = house.crash_and_start();
    house.agent("ops").post("/v1/alerts/test", json!({})).with(200);
    let kinds: Vec<Value> =
        ops.rest().iter().map(|one| one.json()["alert"]["kind"].clone()).collect();
    assert_eq!(kinds, ["test"], "nothing else is owed any more");
}

#[test]
fn a_test_is_tried_once_and_says_what_each_answered() {
    let (ops, chat) = (
        StandIn::start(|_, _| Reply::empty("500 Oh")),
        StandIn::start(|_, _| Reply::empty("200 OK")),
    );
    let house = House::start_with(&settings(&ops.url("/"), &chat.url("/")));
    let tested = house.agent("ops").post("/v1/alerts/test", json!({})).with(200);
    let sent = tested["sent"].as_array().unwrap();
    assert_eq!(outcomes(sent), [("ops", json!([false, 500])), ("chat", json!([true, 200]))]);
    assert_eq!(sent[0]["error"], "the endpoint failed: try again later (status 500)");
    assert_eq!(ops.next().json()["alert"]["kind"], "test");
    assert_eq!(ops.rest().len(), 0);
}

/// By address it is refused when the server starts; by name, when it connects.
#[test]
fn this_machine_is_not_called_unless_that_is_allowed() {
    let nobody = StandIn::start(|_, _| Reply::empty("200 OK"));
    let by_address = settings(&nobody.url("/"), &nobody.url("/")).replace("= true", "= false");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("memory-spine.toml"), &by_address).unwrap();
    let refused = program(folder.path(), &["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success());
    assert!(
        said.contains("`alerts.webhook[0].url` in memory-spine.toml: this address may not"),
        "{said}"
    );
    let by_name = by_address.replace("127.0.0.1", "localhost");
    let house = House::start_with(&by_name);
    fail_a_handoff(&house);
    let mut sent = history(&house.agent("ops"), 2);
    sent.sort_by_key(|one| text(&one["webhook"]).to_owned());
    assert_eq!(outcomes(&sent), [("chat", json!([false, null])), ("ops", json!([false, null]))]);
    assert!(text(&sent[0]["error"]).starts_with("this address may not be reached"), "{sent:?}");
    assert_eq!(nobody.rest().len(), 0);
}

#[test]
fn secrets_are_not_shown_with_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = settings("http://127.0.0.1:9/hidden", "http://127.0.0.1:9/T0/hidden");
    std::fs::write(folder.path().join("memory-spine.toml"), file).unwrap();
    let shown = program(folder.path(), &["config"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("name = \"ops\""), "{shown}");
    assert!(!shown.contains("hidden") && !shown.contains("whsec_"), "{shown}");
}
