//! What is not taken, and what another workspace does not see.

use serde_json::{Value, json};

use super::client::{House, text};

#[test]
fn bad_input_is_named() {
    let house = House::start();
    let client = house.agent("analyst");
    let check = |method: &str, path: &str, body: Value, expect: &str| {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = client.ask(method, path, &body);
        let json = answer.json;
        let place = json.get("pointer").or(json.get("parameter")).and_then(Value::as_str);
        let slug = json["type"].as_str().unwrap_or("-").trim_start_matches("/errors/");
        let shown = format!("{} {slug} {}", answer.status, place.unwrap_or("-"));
        assert_eq!(shown, expect, "{method} {path} {body}: {json}");
    };
    let id = "dlv_01K00000000000000000000000";
    let env = "env_01K00000000000000000000000";
    let lease = "1-1-abc";
    let at = |step: &str| format!("/v1/deliveries/{id}/{step}");
    check("POST", "/v1/deliveries", json!({}), "422 invalid-body /envelope_id");
    check("POST", "/v1/deliveries", json!({"envelope_id": env}), "404 not-found -");
    let many = json!({"deliveries": [{"envelope_id": env, "wait": {}}]});
    check("POST", "/v1/deliveries", many, "422 invalid-body /deliveries/0/wait");
    let short = json!({"envelope_id": env, "policy": {"lease_s": 0.1}});
    check("POST", "/v1/deliveries", short, "422 invalid-body /policy/lease_s");
    check("POST", "/v1/handoffs", json!({"target_agent": "a"}), "422 invalid-body /task_summary");
    let sent = json!({"target_agent": "a", "task_summary": "b", "send": {}});
    check("POST", "/v1/envelopes", sent, "422 invalid-body /send");
    let parent = json!({"target_agent": "a", "task_summary": "b", "parent": id});
    check("POST", "/v1/handoffs", parent, "404 not-found -");
    check("GET", "/v1/deliveries?state=lost", Value::Null, "400 invalid-parameter state");
    check("GET", "/v1/deliveries?order=up", Value::Null, "400 invalid-parameter order");
    check("GET", "/v1/deliveries/dlv_x", Value::Null, "400 invalid-parameter id");
    check("GET", &format!("/v1/deliveries/{id}"), Value::Null, "404 not-found -");
    check("POST", &at("cancel"), json!({"reason": "x"}), "404 not-found -");
    check("POST", &at("accept"), json!({}), "422 invalid-body /lease");
    check("POST", &at("accept"), json!({"lease": "x"}), "422 invalid-body /lease");
    check("POST", &at("accept"), json!({"lease": lease}), "404 not-found -");
    check("POST", &at("nack"), json!({"lease": lease}), "422 invalid-body /reason");
    check("POST", &at("nack"), json!({"lease": lease, "reason": " "}), "422 invalid-body /reason");
    check(
        "POST",
        &at("progress"),
        json!({"lease": lease, "percent": 101}),
        "422 invalid-body /percent",
    );
    check("POST", &at("recover"), Value::Null, "404 not-found -");
    check(
        "POST",
        "/v1/deliveries/ack",
        json!({"acks": [{"id": id}]}),
        "422 invalid-body /acks/0/lease",
    );
    check("POST", "/v1/agents/coder/receive", json!({"max": 0}), "422 invalid-body /max");
    check("POST", "/v1/agents/coder/receive", json!({"wait_s": -1}), "422 invalid-body /wait_s");
    check("POST", "/v1/agents/broadcast/receive", json!({}), "400 invalid-parameter name");
    check(
        "GET",
        "/v1/agents/coder/stream?max_outstanding=0",
        Value::Null,
        "400 invalid-parameter max_outstanding",
    );
    check("GET", "/v1/agents/coder/stream?versions=9", Value::Null, "422 version-unsupported -");
    check(
        "PUT",
        "/v1/agents/coder",
        json!({"policy": {"attempts": 0}}),
        "422 invalid-body /policy/attempts",
    );
    check("PUT", "/v1/agents/coder/breaker", json!({"state": "ajar"}), "422 invalid-body /state");
    check("POST", "/v1/channels/x/publish", json!({"envelope_id": env}), "404 not-found -");
    check("GET", "/v1/publications/pub_x", Value::Null, "400 invalid-parameter id");
    check("PUT", "/v1/pipelines/x", json!({"steps": []}), "422 invalid-body /steps");
    check("GET", "/v1/pipelines/x", Value::Null, "404 not-found -");
    check("POST", "/v1/parked", json!({"envelope_id": env, "reason": "x"}), "404 not-found -");
    check(
        "POST",
        &format!("/v1/parked/{id}/discard"),
        json!({"reason": ""}),
        "422 invalid-body /reason",
    );
    check(
        "POST",
        "/v1/parked/requeue",
        json!({"reason": "x", "rate_per_s": 0}),
        "422 invalid-body /rate_per_s",
    );
    check("GET", &format!("/v1/envelopes/{env}/trace"), Value::Null, "404 not-found -");
}

/// Another workspace's ids answer as ids that never existed, word for word but for the id.
#[test]
fn another_workspace_sees_nothing() {
    let house = House::start();
    let own = house.agent("analyst");
    let sent = own.hand_off("coder", json!({}));
    let received = house.agent("coder").receive("coder", json!({}));
    own.ask("PUT", "/v1/channels/c/subscribers/coder", "").with(200);
    own.put("/v1/pipelines/p", json!({"steps": [{"agent": "coder"}]})).with(200);
    let other = own.with("memory-spine-workspace", "elsewhere");
    let (real, never) = (text(&sent["id"]), "dlv_01K00000000000000000000000");
    let check = |method: &str, path: &str, body: Value| {
        let shown = |id: &str| {
            let body = if body.is_null() { String::new() } else { body.to_string() };
            let answer = other.ask(method, &path.replace("{id}", id), &body);
            assert_eq!(answer.status, 404, "{method} {path}");
            answer.json["detail"].as_str().unwrap().replace(id, "{id}")
        };
        assert_eq!(shown(real), shown(never), "{method} {path}");
    };
    check("GET", "/v1/deliveries/{id}", Value::Null);
    check("POST", "/v1/deliveries/{id}/recover", Value::Null);
    check("POST", "/v1/deliveries/{id}/cancel", json!({"reason": "x"}));
    for step in ["accept", "extend", "progress", "ack"] {
        check(
            "POST",
            &format!("/v1/deliveries/{{id}}/{step}"),
            json!({"lease": received["lease"]}),
        );
    }
    for step in ["nack", "reject"] {
        let body = json!({"lease": received["lease"], "reason": "x"});
        check("POST", &format!("/v1/deliveries/{{id}}/{step}"), body);
    }
    check("POST", "/v1/parked/{id}/requeue", json!({}));
    for path in ["deliveries", "agents", "channels", "pipelines", "parked"] {
        let (list, key) = (
            other.get(&format!("/v1/{path}")).with(200),
            if path == "parked" { "deliveries" } else { path },
        );
        assert_eq!(list[key], json!([]), "{path}");
    }
    let of_root = format!("/v1/deliveries?root={}", text(&sent["root"]));
    assert_eq!(other.get(&of_root).with(200)["deliveries"], json!([]));
    assert_eq!(other.receive_many("coder", json!({"wait_s": 0})), Vec::<Value>::new());
}
