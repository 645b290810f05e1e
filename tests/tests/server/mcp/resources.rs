//! Resources, prompts, completion.

use serde_json::{Value, json};

use super::host::{Host, STATELESS, WITH_SESSIONS};
use super::in_both;
use crate::process::Server;

#[test]
fn resources_are_listed_completed_and_read() {
    in_both(|server, revision| {
        let (analyst, coder) =
            (Host::of(server, revision, "analyst"), Host::of(server, revision, "coder"));
        analyst
            .tool("memory_store", json!({"content": "At most 100 requests.", "title": "Limits"}));
        let task =
            json!({"target_agent": "coder", "task_summary": "See ms-1.", "intent": "Be quick."});
        let sent = analyst.tool("handoff_send", task);
        let listed = coder.ask("resources/list", json!({}));
        let uris: Vec<&Value> =
            listed["resources"].as_array().unwrap().iter().map(|one| &one["uri"]).collect();
        assert_eq!(uris, ["spine://agents/coder/inbox", "spine://memories/ms-1"]);
        let templates = coder.ask("resources/templates/list", json!({}));
        assert_eq!(templates["resourceTemplates"].as_array().unwrap().len(), 3);

        let read = |uri: &str| {
            let read = coder.ask("resources/read", json!({"uri": uri}));
            read["contents"][0]["text"].as_str().unwrap().to_owned()
        };
        assert!(read("spine://memories/ms-1").contains("100 requests"));
        assert!(read("spine://agents/coder/inbox").contains("\"pending\""));
        let envelope = sent["delivery"]["envelope_id"].as_str().unwrap();
        assert!(read(&format!("spine://envelopes/{envelope}")).contains("Be quick."));
        let none = coder.reply("resources/read", json!({"uri": "spine://memories/ms-77"}));
        assert!(none["error"]["code"] == -32002 || none["error"]["code"] == -32602, "{none}");

        let complete = |reference: Value, name: &str, value: &str| {
            let argument = json!({"name": name, "value": value});
            let found =
                coder.ask("completion/complete", json!({"ref": reference, "argument": argument}));
            found["completion"]["values"].clone()
        };
        let of = |uri: &str| json!({"type": "ref/resource", "uri": uri});
        assert_eq!(complete(of("spine://memories/{id}"), "id", "ms-"), json!(["ms-1"]));
        assert_eq!(complete(of("spine://envelopes/{id}"), "id", "env_"), json!([envelope]));
        assert_eq!(complete(of("spine://agents/{name}/inbox"), "name", "co"), json!(["coder"]));
    });
}

#[test]
fn prompts_lead_into_a_handoff_and_out_of_one() {
    in_both(|server, revision| {
        let (analyst, coder) =
            (Host::of(server, revision, "analyst"), Host::of(server, revision, "coder"));
        let prompt = |host: &Host, name: &str, arguments: Value| {
            let prompt = host.ask("prompts/get", json!({"name": name, "arguments": arguments}));
            prompt["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
        };
        assert!(prompt(&coder, "continue_handoff", json!({})).contains("handoff_receive"));
        let task =
            json!({"target_agent": "coder", "task_summary": "Write it.", "intent": "Be quick."});
        analyst.tool("handoff_send", task);
        let taken = coder.tool("handoff_receive", json!({}));
        let text = prompt(&coder, "continue_handoff", json!({}));
        assert!(
            text.contains("Be quick.") && text.contains(taken["delivery_id"].as_str().unwrap())
        );
        let text = prompt(&analyst, "hand_off", json!({"target_agent": "coder"}));
        assert!(text.contains("\"coder\"") && text.contains("word for word"), "{text}");
        let names = coder.ask("prompts/list", json!({}));
        assert_eq!(names["prompts"].as_array().unwrap().len(), 2);
        assert!(coder.reply("prompts/get", json!({"name": "sing"}))["error"].is_object());
    });
}

const INBOX: &str = "spine://agents/coder/inbox";

fn send(host: &Host) {
    host.tool("handoff_send", json!({"target_agent": "coder", "task_summary": "Write it."}));
}

#[test]
fn a_session_is_told_of_what_it_follows() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let (analyst, coder) =
        (Host::of(&server, STATELESS, "analyst"), Host::of(&server, WITH_SESSIONS, "coder"));
    let mut told = coder.listen();
    told.until("200 OK");
    coder.ask("resources/subscribe", json!({"uri": INBOX}));
    send(&analyst);
    assert!(told.until("notifications/resources/updated").contains(INBOX));
    coder.ask("resources/unsubscribe", json!({"uri": INBOX}));
    let unknown = coder.reply("resources/subscribe", json!({"uri": "file:///etc/passwd"}));
    assert!(unknown["error"].is_object(), "{unknown}");
}

#[test]
fn a_subscription_is_told_of_changes() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let (analyst, coder) =
        (Host::of(&server, STATELESS, "analyst"), Host::of(&server, STATELESS, "coder"));
    let wanted = json!({"resourcesListChanged": true, "resourceSubscriptions": [INBOX]});
    let mut told = coder.stream("subscriptions/listen", json!({"notifications": wanted}));
    told.until("notifications/subscriptions/acknowledged");
    send(&analyst);
    assert!(told.until("notifications/resources/updated").contains(INBOX));
    analyst.tool("memory_store", json!({"content": "something new"}));
    told.until("notifications/resources/list_changed");
}
