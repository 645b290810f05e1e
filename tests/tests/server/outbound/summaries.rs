//! Summaries are written ahead of time by an endpoint, for memories that have none.

use serde_json::{Value, json};

use super::stand_in::{Reply, StandIn};
use crate::delivery::client::{Client, House, Stream, text};

const LONG: &str = "The gateway takes 100 requests a second, and the key is AKIAQ3EGRYBV7NOZ5LWM.";

/// Waits until a memory has this summary.
#[track_caller]
fn wait_for(client: &Client, events: &mut Stream, id: &str, summary: &str) {
    while client.get(&format!("/v1/memories/{id}")).with(200)["summary"] != summary {
        events.next().expect("the stream goes on");
    }
}

#[test]
fn a_long_memory_gets_a_summary_that_follows_its_text_and_never_its_author() {
    let endpoint = StandIn::start(|_, number| {
        let choice =
            json!({"message": {"content": format!("Summary {number}.")}, "finish_reason": "stop"});
        Reply::json("200 OK", json!({"choices": [choice]}))
    });
    let house = House::start_with(&format!(
        "outbound.allow_private = true\n[summaries]\nurl = '{}'\nmodel = 'small'\napi_key = 'sk'\ntext_bytes_min = 40\n",
        endpoint.url("/v1")
    ));
    let analyst = house.agent("analyst");
    let mut events = analyst.follow("/v1/events");
    let memories = json!({"memories": [{"content": LONG}, {"content": "Short."},
        {"content": format!("{LONG} It has a summary."), "summary": "Its own."}]});
    analyst.post("/v1/memories", memories).with(201);
    wait_for(&analyst, &mut events, "ms-1", "Summary 0.");
    let asked = endpoint.next();
    assert_eq!(
        (asked.path.as_str(), asked.header("authorization")),
        ("/v1/chat/completions", "Bearer sk")
    );
    // What looks like a key does not leave the server.
    let sent = asked.json()["messages"].to_string();
    assert!(sent.contains("100 requests a second") && !sent.contains("AKIAQ3"), "{sent}");
    let patch =
        |body: Value| analyst.ask("PATCH", "/v1/memories/ms-1", &body.to_string()).with(200);
    patch(json!({"content": format!("{LONG} It was changed.")}));
    wait_for(&analyst, &mut events, "ms-1", "Summary 1.");
    patch(json!({"content": format!("{LONG} Changed again."), "summary": "By hand."}));
    // A memory that comes after it has its summary: so the one before was looked at, and left alone.
    analyst.post("/v1/memories", json!({"content": format!("Another one. {LONG}")})).with(201);
    wait_for(&analyst, &mut events, "ms-4", "Summary 2.");
    let by_hand = analyst.get("/v1/memories/ms-1").with(200);
    assert_eq!((text(&by_hand["summary"]), &by_hand["version"]), ("By hand.", &json!(5)));
    assert_eq!(analyst.get("/v1/memories/ms-3").with(200)["summary"], "Its own.");
    assert_eq!(endpoint.rest().len(), 2);
}
