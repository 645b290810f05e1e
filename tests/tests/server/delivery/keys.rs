//! A key for an agent is for that agent.

use serde_json::{Value, json};

use super::client::{Client, House, text};

#[test]
fn an_agents_key_acts_for_no_other() {
    let house = House::start();
    let admin = house.agent("maria");
    let sent = admin.hand_off("coder", json!({}));
    let key = |scope: &str| {
        let body = json!({"scopes": [scope], "workspaces": ["default"]});
        let made = admin.post("/v1/keys", body);
        text(&made.with(201)["api_key"]).to_owned()
    };
    // The first key ends the time without keys, so it is the one that makes the others.
    let root = key("admin");
    let admin = admin.with("authorization", &format!("Bearer {root}"));
    let with_key = |scope: &str| -> Client {
        let body = json!({"scopes": [scope], "workspaces": ["default"]});
        let made = admin.post("/v1/keys", body).with(201);
        house
            .agent(scope.trim_start_matches("agent:"))
            .with("authorization", &format!("Bearer {}", text(&made["api_key"])))
    };
    let (coder, tester) = (with_key("agent:coder"), with_key("agent:tester"));
    let forbidden = |client: &Client, method: &str, path: &str, body: Value| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        client.ask(method, path, &body).problem(403, "forbidden");
    };
    forbidden(&tester, "POST", "/v1/agents/coder/receive", json!({"wait_s": 0}));
    forbidden(&tester, "GET", "/v1/agents/coder/stream", Value::Null);
    forbidden(&tester, "PUT", "/v1/agents/coder", json!({}));
    forbidden(&tester, "POST", "/v1/agents/coder/pause", Value::Null);
    forbidden(&tester, "PUT", "/v1/agents/coder/breaker", json!({"state": "open"}));
    forbidden(&tester, "PUT", "/v1/channels/c/subscribers/coder", Value::Null);
    let received = coder.receive("coder", json!({}));
    assert_eq!(received["delivery"]["id"], sent["id"]);
    let at = |step: &str| format!("/v1/deliveries/{}/{step}", text(&sent["id"]));
    for step in ["accept", "extend", "progress", "ack"] {
        forbidden(&tester, "POST", &at(step), json!({"lease": received["lease"]}));
    }
    for step in ["nack", "reject"] {
        forbidden(&tester, "POST", &at(step), json!({"lease": received["lease"], "reason": "x"}));
    }
    forbidden(&tester, "POST", &at("recover"), Value::Null);
    forbidden(&tester, "POST", &at("cancel"), json!({"reason": "x"}));
    let follow = json!({"target_agent": "x", "task_summary": "y", "parent": sent["id"]});
    forbidden(&tester, "POST", "/v1/handoffs", follow);
    let acks = json!({"acks": [{"id": sent["id"], "lease": received["lease"]}]});
    let refused = tester.post("/v1/deliveries/ack", acks).with(200);
    assert_eq!(refused["acks"][0]["problem"]["type"], "/errors/forbidden");
    // It sends as itself, and calls off what it sent.
    let own = tester.hand_off("coder", json!({}));
    assert_eq!(own["sender"], "tester");
    let path = format!("/v1/deliveries/{}/cancel", text(&own["id"]));
    tester.post(&path, json!({"reason": "no"})).with(200);
    coder.settle(&received, "ack", json!({"result": 1})).with(200);
}

/// Handoffs a second of the workspace hold for sends, too.
#[test]
fn a_quota_holds_for_sends() {
    let house = House::start();
    let client = house.agent("maria");
    let sent = client.hand_off("coder", json!({}));
    client.put("/v1/workspaces/default", json!({"handoffs_per_s": 1})).with(200);
    let send = || client.post("/v1/deliveries", json!({"envelope_id": sent["envelope_id"]}));
    let answers: Vec<u16> = (0..3).map(|_| send().status).collect();
    assert!(answers.contains(&429), "{answers:?}");
}
