//! What works: memories, handoffs, and what can be asked of them.

use serde_json::json;

use crate::process::Server;

#[test]
fn a_memory_is_stored_found_changed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let stored = server.post(
        "/v1/memories",
        &json!({"content": "The gateway takes 100 requests a second.", "tags": ["api"]}),
    );
    assert_eq!((stored.status, stored.header("etag")), (201, Some("\"1\"")), "{stored:?}");
    assert_eq!(stored.json()["id"], "ms-1");
    assert_eq!(stored.header("cache-control"), Some("no-store"));

    let again = server
        .post("/v1/memories", &json!({"content": "The gateway takes 100 requests a second."}));
    assert_eq!(again.json()["duplicate"], true);
    let many =
        server.post("/v1/memories", &json!({"memories": [{"content": "one"}, {"content": "two"}]}));
    assert_eq!(many.json()["memories"][1]["id"], "ms-3");

    let found =
        server.post("/v1/memories/search", &json!({"query": "requests a second", "limit": 1}));
    assert_eq!(found.json()["hits"][0]["memory"]["id"], "ms-1", "{found:?}");
    assert_eq!(
        server.get("/v1/memories/search?q=gateway&limit=1&explain=true").json()["hits"][0]["memory"]
            ["id"],
        "ms-1"
    );

    let changed = server.send(
        "PATCH",
        "/v1/memories/ms-1",
        &[("if-match", "\"1\"")],
        r#"{"title": "Limit"}"#,
    );
    assert_eq!((changed.status, changed.json()["version"].as_u64()), (200, Some(2)), "{changed:?}");
    let stale =
        server.send("PATCH", "/v1/memories/ms-1", &[("if-match", "\"1\"")], r#"{"title": "x"}"#);
    assert_eq!(stale.problem(), "412 /errors/version-conflict");
    assert_eq!(
        server.get("/v1/memories/ms-1/versions").json()["memories"].as_array().unwrap().len(),
        2
    );
    assert_eq!(server.get("/v1/memories/ms-1?version=1").json()["title"], json!(null));

    assert_eq!(server.send("PUT", "/v1/memories/ms-2/pin", &[], "").json()["pinned"], true);
    assert_eq!(server.get("/v1/memories?pinned=true").json()["memories"][0]["id"], "ms-2");
    assert_eq!(server.send("DELETE", "/v1/memories/ms-3", &[], "").json()["reason"], "deleted");
    assert_eq!(server.get("/v1/memories/ms-3").problem(), "410 /errors/gone");
    let some = server.get("/v1/memories?ids=ms-1&ids=ms-3&ids=ms-99").json();
    assert_eq!(
        some["missing"],
        json!([{"id": "ms-3", "reason": "deleted"}, {"id": "ms-99", "reason": "not_found"}])
    );
}

#[test]
fn a_list_is_read_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let memories: Vec<_> = (1..=7).map(|n| json!({"content": format!("number {n}")})).collect();
    assert_eq!(server.post("/v1/memories", &json!({"memories": memories})).status, 201);
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/memories?limit=3&order=oldest{cursor}")).json();
        ids.extend(
            page["memories"]
                .as_array()
                .unwrap()
                .iter()
                .map(|m| m["id"].as_str().unwrap().to_owned()),
        );
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(ids, ["ms-1", "ms-2", "ms-3", "ms-4", "ms-5", "ms-6", "ms-7"]);
}

#[test]
fn a_handoff_is_assembled_followed_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.post("/v1/memories", &json!({"content": "The gateway takes 100 requests a second."}));
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let analyst = [("memory-spine-agent", "analyst"), ("traceparent", trace)];
    let body = json!({"target_agent": "coder", "task_summary": "Write the client from ms-1.", "constraints": {"language": "python"}});
    let made = server.send("POST", "/v1/envelopes", &analyst, &body.to_string());
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    assert_eq!(made["envelope"]["from"], "analyst");
    assert_eq!(made["envelope"]["traceparent"], trace);
    assert_eq!(made["memory_refs"], json!(["ms-1"]));
    let id = made["id"].as_str().unwrap();

    let next = json!({"target_agent": "reviewer", "task_summary": "Review it.", "parent": id});
    let next = server
        .send("POST", "/v1/envelopes", &[("memory-spine-agent", "coder")], &next.to_string())
        .json();
    assert_eq!(next["envelope"]["constraints"][0]["name"], "language");
    let lineage = server.get(&format!("/v1/envelopes/{id}/lineage")).json();
    assert_eq!(lineage["envelopes"].as_array().unwrap().len(), 2);
    let verified = server.get(&format!("/v1/envelopes/{id}/verify")).json();
    assert_eq!((&verified["intact"], &verified["envelopes"]), (&json!(true), &json!(2)));
    let text = server.get(&format!("/v1/envelopes/{id}/render"));
    assert!(String::from_utf8(text.body).unwrap().contains("100 requests a second"));
    assert_eq!(
        server.get(&format!("/v1/envelopes/{id}")).json()["digest"],
        made["envelope"]["digest"]
    );
    assert_eq!(
        server.get(&format!("/v1/envelopes/{id}/explain")).json()["memories"][0]["id"],
        "ms-1"
    );
    assert_eq!(server.get(&format!("/v1/envelopes/{id}/trimmed")).json()["trimmed"]["count"], 0);

    let import = json!({"envelope": made["envelope"]});
    assert_eq!(
        server.post("/v1/envelopes", &import).status,
        201,
        "the same envelope again is the same"
    );
    let mut altered = made["envelope"].clone();
    altered["priority"] = json!("high");
    let altered = server.post("/v1/envelopes", &json!({"envelope": altered}));
    assert_eq!(altered.problem(), "422 /errors/envelope-altered");
    let small =
        json!({"target_agent": "coder", "task_summary": "Write the client.", "max_tokens": 5});
    let small = server.send("POST", "/v1/envelopes", &analyst, &small.to_string());
    assert_eq!(small.problem(), "422 /errors/budget");
    assert!(small.json()["needed_tokens"].as_u64().unwrap() > 5);
}

#[test]
fn the_description_that_is_checked_in_is_the_one_that_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
    let checked_in: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(server.get("/openapi.json").json(), checked_in);
}
