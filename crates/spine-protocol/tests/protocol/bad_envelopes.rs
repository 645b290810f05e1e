//! Bad envelopes, each with the message its sender gets.

use std::fmt::Write as _;

use expect_test::expect_file;
use serde_json::{Value, json};
use spine_protocol::*;

use crate::story::story;

fn set(pointer: &str, new: Value) -> impl Fn(&mut Value) {
    move |value| {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match value.pointer_mut(parent).unwrap() {
            Value::Array(items) => items[name.parse::<usize>().unwrap()] = new.clone(),
            parent => parent[name] = new.clone(),
        }
    }
}

fn without(pointer: &str) -> impl Fn(&mut Value) {
    move |value| {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        value.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name);
    }
}

/// The second envelope of the story, changed and digested anew, as a careless implementation would send it.
fn message(change: &dyn Fn(&mut Value)) -> String {
    let mut value = story().analysis.to_value().unwrap();
    change(&mut value);
    if value.get("digest").and_then(Value::as_str).is_some_and(|d| d.len() == 71)
        && let Ok(digest) = digest_of(&value)
    {
        value["digest"] = json!(digest);
    }
    let error =
        Envelope::read(&serde_json::to_vec(&value).unwrap()).expect_err("it should be refused");
    format!("{} [{}]", error, error.code)
}

#[test]
fn each_names_the_field_and_what_was_expected() {
    let mut table = String::new();
    let mut add = |what: &str, change: &dyn Fn(&mut Value)| {
        writeln!(table, "{what}\n    {}", message(change)).unwrap()
    };

    add("a list instead of an object", &|value| *value = json!([]));
    add("no protocol", &without("/protocol"));
    add("a number as protocol", &set("/protocol", json!(2)));
    add("an unknown major", &set("/protocol", json!("3.0")));
    add("a protocol with a third part", &set("/protocol", json!("2.0.1")));
    add("no id", &without("/id"));
    add("an id in lower case", &set("/id", json!("env_01jhx5c3q8v6yqj2zd0m4t7n9r")));
    add("a delivery's id", &set("/id", json!("dlv_01JHX5C3Q8V6YQJ2ZD0M4T7N9R")));
    add("no digest", &without("/digest"));
    add("a short digest", &set("/digest", json!("sha256:abc")));
    add("parents as an object", &set("/parents", json!({})));
    add("a parent without its digest", &without("/parents/0/digest"));
    add("a parent twice", &|v| {
        let p = v["parents"][0].clone();
        v["parents"].as_array_mut().unwrap().push(p)
    });
    add("itself as parent", &|v| v["parents"][0]["id"] = v["id"].clone());
    add("no parents at hop 2", &set("/parents", json!([])));
    add("another root than its own, without parents", &|v| {
        v["parents"] = json!([]);
        v["hop"] = json!(1)
    });
    add("hop 0", &set("/hop", json!(0)));
    add("a hop beyond the limit", &set("/hop", json!(11)));
    add("half a hop", &set("/hop", json!(1.5)));
    add("a negative hop limit", &set("/max_hops", json!(-1)));
    add("a hop limit beyond all limits", &set("/max_hops", json!(100_000)));
    add("an empty workspace", &set("/workspace", json!("")));
    add("a sender with a space", &set("/from", json!("the analyst")));
    add("broadcast as sender", &set("/from", json!("broadcast")));
    add("a target that is no text", &set("/target", json!(["a", "b"])));
    add("a subject over two lines", &set("/subject", json!("a\nb")));
    add("a date without a time", &set("/created_at", json!("2026-01-15")));
    add("a moment without its offset", &set("/created_at", json!("2026-01-15T09:30:00")));
    add("an unknown priority", &set("/priority", json!("urgent")));
    add("a broken traceparent", &set("/traceparent", json!("00-xyz")));
    add("no task", &without("/task"));
    add("no intent", &without("/task/intent"));
    add("a blank intent", &set("/task/intent", json!(" \n")));
    add("an unknown source of the intent", &set("/task/intent_source", json!("guessed")));
    add(
        "a question without its text",
        &set("/task/state/open_questions/0", json!({"answer": "yes"})),
    );
    add("a memory's id as a number", &set("/memories/0/id", json!(4821)));
    add("a memory's id with a zero in front", &set("/memories/0/id", json!("ms-04821")));
    add("a memory twice", &|v| v["memories"][1]["id"] = v["memories"][0]["id"].clone());
    add("version 0 of a memory", &set("/memories/0/version", json!(0)));
    add("an unknown detail", &set("/memories/0/detail", json!("half")));
    add("a reference with a text", &set("/memories/2/text", json!("sneaked in")));
    add("a reference with text and salt", &|v| {
        v["memories"][2]["text"] = json!("sneaked in");
        v["memories"][2]["salt"] = json!("0".repeat(32))
    });
    add("a full memory without its digest", &without("/memories/0/text_digest"));
    add("a text without its salt", &without("/memories/0/salt"));
    add("an altered text", &set("/memories/0/text", json!("POST /charges needs no key.")));
    add("a salt of other length", &set("/memories/0/salt", json!("abc")));
    add("relevance beyond 1", &set("/memories/0/relevance", json!(1.2)));
    add("a step by nobody", &without("/history/0/agent"));
    add("a step of a later hop", &set("/history/0/hop", json!(3)));
    add("a step that says nothing", &set("/history/0/action", json!("")));
    add("a constraint without a value", &set("/constraints/0/value", json!(null)));
    add("a constraint twice", &|v| {
        let c = v["constraints"][0].clone();
        v["constraints"].as_array_mut().unwrap().push(c)
    });
    add("an unknown scope", &set("/constraints/0/scope", json!("forever")));
    add("a deadline in words", &set("/constraints/2/value", json!("next Friday")));
    add("the budget as a constraint", &set("/constraints/0/name", json!("max_tokens")));
    add("a hop limit that is no number", &|v| {
        v["constraints"][0]["name"] = json!("max_hops");
        v["constraints"][0]["value"] = json!("five")
    });
    add("a hop limit below the envelope's", &|v| {
        v["constraints"][0]["name"] = json!("max_hops");
        v["constraints"][0]["value"] = json!(5)
    });
    add("a looser value for one receiver", &|v| {
        v["constraints"][0]["scope"] = json!("hop");
        v["constraints"][0]["name"] = json!("forbid");
        v["constraints"][0]["value"] = json!([])
    });
    add(
        "a waiver without a reason",
        &set(
            "/waived",
            json!([{"name": "style", "value": 1, "reason": "", "by": "analyst", "at_hop": 2}]),
        ),
    );
    add("no assembly", &without("/assembly"));
    add("more tokens than the budget", &set("/assembly/tokens", json!(4001)));
    add("a budget of nothing", &set("/assembly/max_tokens", json!(0)));
    add("more left out than there is", &set("/assembly/omitted", json!({"history": 3})));
    add("more included than requested", &set("/completeness/included", json!(4)));
    add("a gap without a reason", &without("/completeness/gaps/0/reason"));
    add("fewer trimmed than listed", &set("/trimmed/count", json!(0)));
    add(
        "a number that readers round",
        &set("/x_unknown", json!({"big": [9_007_199_254_740_993_u64]})),
    );

    assert!(table.lines().count() >= 2 * 40);
    expect_file!["bad_envelopes.txt"].assert_eq(&table);
}

#[test]
fn bytes_that_are_no_json_are_refused_with_their_place() {
    let mut table = String::new();
    for bytes in [&b""[..], b"{", b"{\"id\":1,}", b"{\"a\":1,\"a\":2}", b"{} x", b"\xff", b"nul"] {
        let error = Envelope::read(bytes).unwrap_err();
        writeln!(table, "{:?}\n    {error}", String::from_utf8_lossy(bytes)).unwrap();
    }
    expect_file!["bad_json.txt"].assert_eq(&table);
}
