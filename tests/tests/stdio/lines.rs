//! What is no message is answered as such, and what comes after it is as good as ever.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::host::{Host, STATELESS, WITH_SESSION};

fn check(host: &mut Host, line: &str, id: Value, expect: Expect) {
    host.say(line);
    let answer = host.answer_to(&id);
    expect.assert_eq(&format!("{} {}", answer["error"]["code"], answer["error"]["message"]));
    let listed = host.ask("tools/list", json!({}));
    assert!(!listed["result"]["tools"].as_array().unwrap().is_empty(), "{listed}");
}

#[test]
fn lines_that_are_no_messages() {
    let folder = Folder::new();
    let mut host = Host::start(&folder, "coder");
    let null = Value::Null;
    check(
        &mut host,
        "{\"jsonrpc\": ",
        null.clone(),
        expect![[
            r#"-32700 "this line is no JSON (EOF while parsing a value at line 1 column 12): send one message on each line""#
        ]],
    );
    check(
        &mut host,
        "\u{0}\u{1b}[2J",
        null.clone(),
        expect![[
            r#"-32700 "this line is no JSON (expected value at line 1 column 1): send one message on each line""#
        ]],
    );
    check(
        &mut host,
        "[]",
        null.clone(),
        expect![[
            r#"-32600 "this is no JSON-RPC message: send one object with a method, or an answer to one""#
        ]],
    );
    check(
        &mut host,
        r#"{"jsonrpc": "2.0", "id": "x"}"#,
        json!("x"),
        expect![[
            r#"-32600 "this is no JSON-RPC message: send one object with a method, or an answer to one""#
        ]],
    );
    let long = format!(
        "{{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"{}\"}}",
        "a".repeat(8 * 1024 * 1024)
    );
    check(
        &mut host,
        &long,
        null,
        expect![[r#"-32600 "this line is longer than 8388608 bytes: send less at once""#]],
    );
}

#[test]
fn names_that_no_header_can_hold_arrive() {
    let folder = Folder::new();
    for version in [WITH_SESSION, STATELESS] {
        let mut host = Host::start_as(&folder, "coder", version);
        let answer = host.ask("tools/call", json!({"name": "größer\n", "arguments": {}}));
        let said = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(said.contains("größer"), "{said}");
    }
}

#[test]
fn answers_that_are_under_way_are_written_before_the_end() {
    let folder = Folder::new();
    let mut host = Host::start(&folder, "coder");
    let id = host.start_call("memory_store", json!({"content": "The last word."}));
    let rest = host.close();
    assert!(
        rest.iter().any(|message| message["id"] == json!(id) && message["result"].is_object()),
        "{rest:?}"
    );
}
