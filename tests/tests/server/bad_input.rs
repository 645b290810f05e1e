//! Whatever is sent, the answer is a problem that names what is wrong.

use serde_json::Value;

use crate::process::Server;

#[test]
fn every_bad_input_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let check = |method: &str, path: &str, headers: &[(&str, &str)], body: &str, expect: &str| {
        let answer = server.send(method, path, headers, body);
        let json = answer.json();
        let place = json.get("pointer").or(json.get("parameter")).and_then(Value::as_str);
        let shown = format!("{} {}", answer.problem(), place.unwrap_or("-"));
        assert_eq!(shown, expect, "{method} {path} {body:.200}: {json}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        assert!(json["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        assert_eq!(json["request_id"].as_str(), answer.header("x-request-id"));
    };
    let post = |body: &str, expect: &str| check("POST", "/v1/memories", &[], body, expect);
    post("{", "400 /errors/malformed-json ");
    post("{\"content\": \"a\", \"content\": \"b\"}", "400 /errors/malformed-json ");
    let inmost = format!("400 /errors/malformed-json {}", "/0".repeat(64));
    post(&"[".repeat(10_000), &inmost);
    post("[]", "422 /errors/invalid-body ");
    post("{}", "422 /errors/invalid-body /content");
    post("{\"content\": 5}", "422 /errors/invalid-body /content");
    post("{\"content\": \" \"}", "422 /errors/invalid-body /content");
    post("{\"content\": \"a\", \"colour\": 1}", "422 /errors/invalid-body /colour");
    post("{\"content\": \"a\", \"ttl\": -1}", "422 /errors/invalid-body /ttl");
    post(
        "{\"memories\": [{\"content\": \"a\"}, {}]}",
        "422 /errors/invalid-body /memories/1/content",
    );
    post(&format!("{{\"content\": {:?}}}", "x".repeat(300_000)), "413 /errors/too-large /content");
    check(
        "POST",
        "/v1/memories",
        &[("content-type", "text/plain")],
        "{}",
        "415 /errors/unsupported-media-type Content-Type",
    );
    check(
        "POST",
        "/v1/memories/search",
        &[],
        "{\"query\": \"a\", \"limits\": 1}",
        "422 /errors/invalid-body /limits",
    );
    check("GET", "/v1/memories/4821", &[], "", "400 /errors/invalid-parameter id");
    check("GET", "/v1/memories/ms-0", &[], "", "400 /errors/invalid-parameter id");
    check("GET", "/v1/memories/ms-1", &[], "", "404 /errors/not-found -");
    check("GET", "/v1/envelopes/env_x", &[], "", "400 /errors/invalid-parameter id");
    check("GET", "/v1/memories?cursor=x", &[], "", "400 /errors/invalid-parameter cursor");
    check("GET", "/v1/memories?limit=0", &[], "", "400 /errors/invalid-parameter limit");
    check("GET", "/v1/memories?limit=ten", &[], "", "400 /errors/invalid-parameter limit");
    check("GET", "/v1/memories?lmit=1", &[], "", "400 /errors/invalid-parameter lmit");
    check("GET", "/v1/nothing", &[], "", "404 /errors/route-unknown -");
    check("PUT", "/v1/memories", &[], "", "405 /errors/method-not-allowed -");
    check(
        "GET",
        "/v1/memories",
        &[("memory-spine-workspace", "a b")],
        "",
        "400 /errors/invalid-parameter memory-spine-workspace",
    );
    check(
        "GET",
        "/v1/memories",
        &[("memory-spine-workspace", "memory-spine:server")],
        "",
        "400 /errors/invalid-parameter memory-spine-workspace",
    );
    check(
        "PATCH",
        "/v1/memories/ms-1",
        &[("if-match", "1")],
        "{}",
        "400 /errors/invalid-parameter If-Match",
    );
    check(
        "POST",
        "/v1/envelopes",
        &[],
        "{\"target_agent\": \"a\", \"task_summary\": \"b\"}",
        "422 /errors/sender-unknown memory-spine-agent",
    );
    check(
        "GET",
        "/v1/memories",
        &[("host", "evil.example.com")],
        "",
        "421 /errors/host-refused Host",
    );
    check(
        "GET",
        "/v1/memories",
        &[("origin", "http://evil.example.com")],
        "",
        "403 /errors/origin-refused Origin",
    );
    check("GET", "/healthz", &[("origin", "null")], "", "403 /errors/origin-refused Origin");
}
