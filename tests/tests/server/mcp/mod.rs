//! The Model Context Protocol at `/mcp`, in both kinds of revision.

mod access;
mod handoff;
mod host;
mod resources;

use serde_json::{Value, json};
use spine_protocol::{TokenizerName, count};

use crate::process::Server;
use host::{Host, STATELESS, WITH_SESSIONS};

/// A test in both kinds of revision, each on a fresh server.
fn in_both(test: impl Fn(&Server, &'static str)) {
    for revision in [STATELESS, WITH_SESSIONS] {
        let folder = tempfile::tempdir().unwrap();
        test(&Server::start(folder.path()), revision);
    }
}

#[test]
fn a_server_says_what_it_is() {
    in_both(|server, revision| {
        let host = Host::of(server, revision, "coder");
        let tools = host.ask("tools/list", json!({}));
        let names: Vec<&str> = tools["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        for name in ["memory_store", "handoff_send", "handoff_receive", "handoff_complete"] {
            assert!(names.contains(&name), "{names:?}");
        }
        assert_eq!(tools.get("resultType").is_some(), revision == STATELESS, "{revision}");
    });
}

/// What every conversation pays for.
const TOOLS_TOKENS_MAX: u32 = 6_000;

#[test]
fn tools_are_cheap_to_have() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let tools = Host::of(&server, STATELESS, "coder").ask("tools/list", json!({}));
    let tokens = |value: &Value| count(&TokenizerName::O200kBase, &value.to_string()).unwrap();
    let of = |tool: &Value| format!("{:>5} {}\n", tokens(tool), tool["name"]);
    let each: String = tools["tools"].as_array().unwrap().iter().map(of).collect();
    let all = tokens(&tools["tools"]);
    println!("{each}{all:>5} in all");
    assert!(all < TOOLS_TOKENS_MAX, "{all} tokens are too many\n{each}");
}

#[test]
fn tools_are_strict_and_say_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let tools = Host::of(&server, STATELESS, "coder").ask("tools/list", json!({}));
    let reading: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|tool| tool["annotations"]["readOnlyHint"] == true)
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let expected = [
        "memory_search",
        "memory_get",
        "handoff_status",
        "handoff_trace",
        "handoff_health",
        "handoff_parked",
    ];
    assert_eq!(reading, expected);
    for tool in tools["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(name.starts_with("memory_") || name.starts_with("handoff_"), "{name}");
        assert!(tool["description"].as_str().unwrap().len() > 10, "{name}");
        for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
            assert_eq!(schema["type"], "object", "{name}");
            assert_eq!(schema["additionalProperties"], false, "{name} is strict");
            assert!(!schema.to_string().contains("$ref"), "{name} is read in one piece");
            // A field that takes anything was once described as `true`, and clients of the revisions with
            // sessions refused every tool for it.
            let fields = schema["properties"].as_object().unwrap();
            assert!(fields.values().all(Value::is_object), "{name}: {schema}");
        }
    }
}

#[test]
fn memories_are_kept_and_found() {
    in_both(|server, revision| {
        let host = Host::of(server, revision, "coder");
        let stored = host.tool(
            "memory_store",
            json!({"content": "The gateway takes 100 requests a second.", "tags": ["api"]}),
        );
        assert_eq!(stored, json!({"id": "ms-1", "version": 1, "duplicate": false}));
        let found = host.tool("memory_search", json!({"query": "how many requests a second"}));
        assert_eq!(found["memories"][0]["id"], "ms-1");
        assert_eq!(found["memories"][0]["author"], "coder", "the header names the agent");
        assert_eq!(host.tool("memory_search", json!({}))["memories"].as_array().unwrap().len(), 1);
        let updated = host.tool("memory_update", json!({"id": "ms-1", "title": "Limits"}));
        assert_eq!(updated["version"], 2);
        host.tool("memory_pin", json!({"id": "ms-1"}));
        let first = host.tool("memory_get", json!({"ids": ["ms-1"], "version": 1}));
        assert!(first["memories"][0].get("title").is_none(), "{first}");
        host.tool("memory_delete", json!({"id": "ms-1"}));
        let gone = host.tool("memory_get", json!({"ids": ["ms-1", "ms-9"]}));
        assert_eq!(gone["missing"], json!(["ms-1: deleted", "ms-9: not_found"]));
    });
}

#[test]
fn a_long_text_is_cut_and_read_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let host = Host::of(&server, STATELESS, "coder");
    let text: String = (0..30_000).map(|n| format!("{n} ")).collect();
    host.tool("memory_store", json!({"content": text}));
    let cut = host.tool("memory_get", json!({"ids": ["ms-1"]}));
    let shown = cut["memories"][0]["content"].as_str().unwrap();
    let (kept, rest) = shown.rsplit_once("… [").expect("a mark where it was cut");
    assert!(rest.ends_with(" characters left out]") && text.starts_with(kept), "{rest}");
    let offset = kept.chars().count();
    let on = host.tool("memory_get", json!({"ids": ["ms-1"], "offset": offset}));
    let on =
        on["memories"][0]["content"].as_str().unwrap().rsplit_once("… [").unwrap().0.to_owned();
    assert!(text[offset..].starts_with(&on), "the text goes on where it was cut");
}
