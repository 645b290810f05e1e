//! Who may do what. Every route is tried with every key that must not work; a route cannot be left out, since
//! the table of routes is the list that is walked.

use serde_json::{Value, json};
use spine_server::access::Need;
use spine_server::{Route, routes};

use crate::process::{Server, program};

/// Makes a key on the data, without a server.
pub fn key(data: &std::path::Path, arguments: &[&str]) -> String {
    let all: Vec<&str> = ["keys", "create"].into_iter().chain(arguments.iter().copied()).collect();
    let made = program(data, &all).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    made["api_key"].as_str().unwrap().to_owned()
}

/// An address that the route takes, whatever is there.
fn address(route: &Route) -> String {
    let ids = [
        ("envelopes", "env_01K00000000000000000000000"),
        ("deliveries", "dlv_01K00000000000000000000000"),
        ("parked", "dlv_01K00000000000000000000000"),
        ("publications", "pub_01K00000000000000000000000"),
        ("keys", "000000000000"),
    ];
    let known = ids.iter().find(|(part, _)| route.path.contains(part));
    let id = known.map_or("ms-1", |(_, id)| id);
    route.path.replace("{id}", id).replace("{name}", "default").replace("{agent}", "coder")
}

/// A body for which nobody waits.
fn body(route: &Route) -> &'static str {
    if route.path.ends_with("/receive") { "{\"wait_s\": 0}" } else { "{}" }
}

#[test]
fn every_route_refuses_what_its_line_does_not_allow() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let elsewhere = key(data, &["--scope", "write", "--workspace", "elsewhere"]);
    let reader = key(data, &["--scope", "read"]);
    let writer = key(data, &["--scope", "write"]);
    let expired = key(data, &["--scope", "admin", "--workspace", "*", "--expires-in", "0"]);
    let admin = key(data, &["--scope", "admin", "--workspace", "*"]);
    let server = Server::start(data);
    let mut tried = 0;
    for route in routes() {
        let path = address(&route);
        let status = |headers: &[(&str, &str)]| {
            // A stream that is let in has no end: only those that must be refused are tried on it.
            server.send(route.method.as_str(), &path, headers, body(&route)).status
        };
        let with = |key: &str, workspace: &str| {
            status(&[
                ("authorization", &format!("Bearer {key}")),
                ("memory-spine-workspace", workspace),
            ])
        };
        let line = format!("{} {}", route.method, route.path);
        if route.need == Need::Nothing {
            // There is no file of the name that is asked for here.
            let expected = if route.path.contains('{') { 404 } else { 200 };
            assert_eq!(status(&[]), expected, "{line} is open");
            continue;
        }
        tried += 1;
        assert_eq!(status(&[]), 401, "{line} without a key");
        assert_eq!(with("msk_000000000000_00", "default"), 401, "{line} with a key that is none");
        assert_eq!(with(&expired, "default"), 401, "{line} with an expired key");
        assert_eq!(with(&elsewhere, "default"), 403, "{line} from another workspace");
        if route.need > Need::Read {
            assert_eq!(with(&reader, "default"), 403, "{line} with `read`");
        }
        if route.need > Need::Write {
            assert_eq!(with(&writer, "default"), 403, "{line} with `write`");
        }
        if route.path != "/v1/events" && !route.path.ends_with("/stream") {
            let status = with(&admin, "default");
            assert!(status != 401 && status != 403, "{line} with `admin`: {status}");
        }
    }
    assert!(tried > 20, "only {tried} routes were tried");
}

#[test]
fn a_key_is_rotated_and_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let admin = key(folder.path(), &["--scope", "admin", "--workspace", "*"]);
    let server = Server::start(folder.path());
    let with = |key: &str, method: &str, path: &str, body: &str| {
        server.send(method, path, &[("authorization", &format!("Bearer {key}"))], body)
    };
    let made =
        with(&admin, "POST", "/v1/keys", r#"{"scopes": ["agent:coder"], "workspaces": ["team"]}"#);
    assert_eq!(made.status, 201, "{made:?}");
    let (id, coder) = (
        made.json()["id"].as_str().unwrap().to_owned(),
        made.json()["api_key"].as_str().unwrap().to_owned(),
    );
    let listed = with(&admin, "GET", "/v1/keys", "");
    assert!(!String::from_utf8(listed.body).unwrap().contains(&coder), "a key is shown once");

    let stored = with(&coder, "POST", "/v1/memories", r#"{"content": "by whom"}"#).json();
    assert_eq!(
        stored["author"], "coder",
        "the key names the agent, and its only workspace is taken"
    );
    let headers =
        [("authorization", format!("Bearer {coder}")), ("memory-spine-agent", "boss".to_owned())];
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(server.send("GET", "/v1/memories", &headers, "").problem(), "403 /errors/forbidden");

    let rotated =
        with(&admin, "POST", &format!("/v1/keys/{id}/rotate"), r#"{"grace": 3600}"#).json();
    let fresh = rotated["api_key"].as_str().unwrap();
    assert_eq!(with(&coder, "GET", "/v1/memories", "").status, 200, "the old secret has its grace");
    assert_eq!(with(fresh, "GET", "/v1/memories", "").status, 200);
    assert_eq!(with(&admin, "DELETE", &format!("/v1/keys/{id}"), "").status, 200);
    assert_eq!(with(&coder, "GET", "/v1/memories", "").status, 401);
    assert_eq!(with(fresh, "GET", "/v1/memories", "").status, 401);
}

#[test]
fn another_workspace_is_as_one_that_never_was() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let inside = [("memory-spine-workspace", "a"), ("memory-spine-agent", "x")];
    let outside = [("memory-spine-workspace", "b"), ("memory-spine-agent", "x")];
    server.send("POST", "/v1/memories", &inside, r#"{"content": "of a alone"}"#);
    let body = json!({"target_agent": "y", "task_summary": "of a alone"}).to_string();
    let id = server.send("POST", "/v1/envelopes", &inside, &body).json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let never = "env_01K00000000000000000000000";
    for below in ["", "/render", "/lineage", "/verify", "/trimmed", "/explain"] {
        let foreign =
            server.send("GET", &format!("/v1/envelopes/{id}{below}"), &outside, "").json();
        let unknown =
            server.send("GET", &format!("/v1/envelopes/{never}{below}"), &outside, "").json();
        let bare = |mut answer: Value, id: &str| {
            answer["request_id"] = Value::Null;
            answer.to_string().replace(id, "ID")
        };
        assert_eq!(bare(foreign, &id), bare(unknown, never), "{below}");
    }
    assert_eq!(
        server.send("GET", "/v1/memories/ms-1", &outside, "").problem(),
        "404 /errors/not-found"
    );
    let found = server.send("GET", "/v1/memories/search?q=alone", &outside, "").json();
    assert_eq!(found["hits"], json!([]));
    assert_eq!(server.send("GET", "/v1/audit", &outside, "").json()["events"], json!([]));
}

/// A page of another origin reads answers only if its origin is set, and then that page alone. A preflight needs no key and
/// says nothing else.
#[test]
fn pages_of_other_origins_read_what_they_may() {
    let page = "https://console.example.com";
    let folder = tempfile::tempdir().unwrap();
    let admin = key(folder.path(), &["--scope", "admin", "--workspace", "*"]);
    let server = Server::start_with(folder.path(), &[("MEMORY_SPINE_ORIGINS", page)]);
    let asking = |origin, method| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", method),
            ("access-control-request-headers", "authorization,memory-spine-workspace"),
        ];
        server.send("OPTIONS", "/v1/memories", &headers, "")
    };
    let may = asking(page, "PATCH");
    assert_eq!((may.status, may.header("access-control-allow-origin")), (204, Some(page)));
    let header = |name: &str| may.header(name).unwrap_or_default().to_owned();
    assert!(header("access-control-allow-methods").contains("PATCH"));
    for name in ["authorization", "idempotency-key", "if-match", "memory-spine-delivery"] {
        assert!(header("access-control-allow-headers").split(", ").any(|known| known == name));
    }
    assert_eq!(may.header("access-control-allow-credentials"), None);
    let may_not = asking("https://evil.example.com", "GET");
    assert_eq!(may_not.problem(), "403 /errors/origin-refused");
    assert_eq!(may_not.header("access-control-allow-origin"), None);

    let bearer = format!("Bearer {admin}");
    let with_key = [("origin", page), ("authorization", bearer.as_str())];
    let read = server.send("GET", "/v1/memories", &with_key, "");
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, Some(page)));
    assert!(read.headers.to_lowercase().contains("vary: origin"), "{}", read.headers);
    let refused = server.send("GET", "/v1/memories", &[("origin", page)], "");
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, Some(page)));
    let own = server.send("GET", "/v1/memories", &[("authorization", &bearer)], "");
    assert_eq!(own.header("access-control-allow-origin"), None);
}

#[test]
fn a_quota_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.post("/v1/memories", &json!({"content": "one"}));
    let set = server.send(
        "PUT",
        "/v1/workspaces/default",
        &[],
        r#"{"memories_max": 2, "handoffs_per_s": 1}"#,
    );
    assert_eq!(set.json()["usage"], json!({"memories": 1, "bytes": 3}), "{set:?}");
    assert_eq!(server.post("/v1/memories", &json!({"content": "two"})).status, 201);
    let full = server.post("/v1/memories", &json!({"content": "three"}));
    assert_eq!(
        (full.problem().as_str(), full.header("retry-after").is_some()),
        ("429 /errors/quota-exceeded", true)
    );
    let hand = || {
        server
            .send(
                "POST",
                "/v1/envelopes",
                &[("memory-spine-agent", "x")],
                r#"{"target_agent": "y", "task_summary": "z"}"#,
            )
            .status
    };
    let statuses: Vec<u16> = (0..5).map(|_| hand()).collect();
    assert!(statuses.contains(&201) && statuses.contains(&429), "{statuses:?}");
}
