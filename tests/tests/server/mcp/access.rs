//! Keys, origins and workspaces: the same as everywhere.

use serde_json::json;

use super::host::{Host, STATELESS, WITH_SESSIONS, reply_of};
use crate::access::key;
use crate::process::Server;

#[test]
fn a_key_decides_who_asks_and_what_for() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let reader = key(data, &["--scope", "read"]);
    let coder = key(data, &["--scope", "agent:coder", "--workspace", "team"]);
    let server = Server::start(data);
    for revision in [STATELESS, WITH_SESSIONS] {
        let bearer = format!("Bearer {reader}");
        let host = Host::new(&server, revision, &[("authorization", &bearer)]);
        host.tool("memory_search", json!({}));
        let told = host.refusal("memory_store", json!({"content": "x"}));
        assert!(told.contains("scope `write`") && told.contains("tell the user"), "{told}");

        let bearer = format!("Bearer {coder}");
        let host = Host::new(&server, revision, &[("authorization", &bearer)]);
        host.tool("memory_store", json!({"content": format!("by whom {revision}")}));
        let found = host.tool("memory_search", json!({}));
        assert_eq!(found["memories"][0]["author"], "coder", "the key names agent and workspace");
    }
    let nobody = server.send("POST", "/mcp", &[], "{}");
    assert_eq!(nobody.problem(), "401 /errors/unauthenticated");
}

#[test]
fn pages_of_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let post = |headers: &[(&str, &str)]| server.send("POST", "/mcp", headers, "{}").problem();
    assert_eq!(post(&[("origin", "https://evil.example.com")]), "403 /errors/origin-refused");
    assert_eq!(post(&[("host", "evil.example.com")]), "421 /errors/host-refused");
}

/// To others, a session does not exist.
#[test]
fn a_session_is_its_owners() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let one = format!("Bearer {}", key(data, &["--scope", "write"]));
    let other = format!("Bearer {}", key(data, &["--scope", "write"]));
    let server = Server::start(data);
    let host = Host::new(&server, WITH_SESSIONS, &[("authorization", &one)]);
    let status = |key: &str, workspace: &str, session: &str| {
        let headers = [
            ("authorization", key),
            ("memory-spine-workspace", workspace),
            ("mcp-session-id", session),
            ("accept", "application/json, text/event-stream"),
        ];
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
        server.send("POST", "/mcp", &headers, &ping).status
    };
    assert_eq!(status(&one, "default", host.session()), 200);
    assert_eq!(status(&other, "default", host.session()), 404, "another key");
    assert_eq!(status(&one, "default", "00000000-0000-0000-0000-000000000000"), 404, "no session");
}

#[test]
fn ids_of_another_workspace_lead_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for revision in [STATELESS, WITH_SESSIONS] {
        let home = Host::of(&server, revision, "analyst");
        let stored = home.tool("memory_store", json!({"content": format!("a secret {revision}")}));
        let sent =
            home.tool("handoff_send", json!({"target_agent": "coder", "task_summary": "Keep it."}));
        let headers = [("memory-spine-agent", "coder"), ("memory-spine-workspace", "elsewhere")];
        let away = Host::new(&server, revision, &headers);
        let missing = away.tool("memory_get", json!({"ids": [stored["id"]]}));
        assert_eq!(missing["memories"], json!([]));
        let delivery = json!({"delivery_id": sent["delivery"]["delivery_id"]});
        assert!(away.refusal("handoff_status", delivery.clone()).contains("not-found"));
        assert!(away.refusal("handoff_complete", delivery).contains("not-found"));
        assert_eq!(away.tool("handoff_receive", json!({}))["received"], false);
        for uri in [
            format!("spine://memories/{}", stored["id"].as_str().unwrap()),
            format!("spine://envelopes/{}", sent["delivery"]["envelope_id"].as_str().unwrap()),
        ] {
            let reply = away.reply("resources/read", json!({"uri": uri}));
            let problem = &reply["error"]["data"]["problem"]["type"];
            assert_eq!(problem, "/errors/not-found", "{reply}");
        }
    }
}

#[test]
fn the_agent_can_stand_in_the_address() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "memory_store", "arguments": {"content": "by whom"},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", STATELESS),
        ("mcp-method", "tools/call"),
        ("mcp-name", "memory_store"),
    ];
    let answer = server.send("POST", "/mcp?agent=coder", &headers, &call.to_string());
    assert_eq!(reply_of(&answer)["result"]["isError"], false, "{answer:?}");
    assert_eq!(server.get("/v1/memories/ms-1").json()["author"], "coder");
    let mut twice = headers.to_vec();
    twice.push(("memory-spine-agent", "boss"));
    let answer = server.send("POST", "/mcp?agent=coder", &twice, &call.to_string());
    assert_eq!(answer.problem(), "403 /errors/forbidden");
}
