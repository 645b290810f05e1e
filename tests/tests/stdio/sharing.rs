//! Two hosts on one folder, neither of which started a server by hand, with hosts and servers killed in the middle.
//! Whatever was answered is there at the end. (The reference memory server keeps a file for each process, and of two
//! processes silently discards one's writes.)

use serde_json::{Value, json};

use crate::folder::{Folder, PATIENCE, eventually};
use crate::host::{Host, STATELESS, WITH_SESSION, content};

/// Each is stored, answered, and remembered by the test.
fn store(host: &mut Host, stored: &mut Vec<String>, text: String) {
    let kept = host.call("memory_store", json!({"content": text}));
    assert!(kept["id"].is_string(), "{kept}");
    stored.push(text);
}

/// Everything that was stored, read by a host that comes afterwards.
fn contents(folder: &Folder) -> Vec<String> {
    let mut reader = Host::start(folder, "reader");
    let ids: Vec<String> = (1..=60).map(|n| format!("ms-{n}")).collect();
    let mut texts = Vec::new();
    for ids in ids.chunks(20) {
        let got = reader.call("memory_get", json!({"ids": ids}));
        let memories = got["memories"].as_array().unwrap();
        texts.extend(memories.iter().map(|one| one["content"].as_str().unwrap().to_owned()));
    }
    texts.sort();
    texts
}

fn check_nothing_is_lost(versions: [&'static str; 2]) {
    let folder = Folder::new();
    let mut stored = Vec::new();
    let mut one = Host::start_as(&folder, "one", versions[0]);
    let mut two = Host::start_as(&folder, "two", versions[1]);
    for n in 0..5 {
        store(&mut one, &mut stored, format!("one {n}"));
        store(&mut two, &mut stored, format!("two {n}"));
    }
    // A write of the first is under way when its program is killed: it may be there or not, and harms nobody.
    one.start_call("memory_store", json!({"content": "perhaps"}));
    one.kill();
    for n in 5..10 {
        store(&mut two, &mut stored, format!("two {n}"));
    }
    let mut three = Host::start_as(&folder, "three", versions[0]);
    for n in 0..3 {
        // Each is under way when the server is killed, and is answered by the next server: once.
        let id = two.start_call("memory_store", json!({"content": format!("across {n}")}));
        folder.kill_server();
        assert!(content(&two.answer(id))["id"].is_string());
        stored.push(format!("across {n}"));
        store(&mut three, &mut stored, format!("three {n}"));
    }
    let mut found = contents(&folder);
    found.retain(|text| text != "perhaps");
    stored.sort();
    assert_eq!(found, stored);
}

#[test]
fn nothing_is_lost_with_sessions() {
    check_nothing_is_lost([WITH_SESSION, WITH_SESSION]);
}

#[test]
fn nothing_is_lost_without_sessions() {
    check_nothing_is_lost([STATELESS, WITH_SESSION]);
}

fn hand_off(folder: &Folder, lead: &mut Host, target: &str) -> String {
    let sent = lead.call("handoff_send", json!({"target_agent": target, "task_summary": "Write the client.", "intent": "Build me a client.", "constraints": {"language": "rust"}}));
    assert!(folder.address().is_some());
    sent["delivery"]["delivery_id"].as_str().unwrap().to_owned()
}

/// The work was taken and the taker's program killed: its next session finds it in its hands and finishes it.
#[test]
fn work_in_the_hands_of_a_killed_host_is_finished_by_its_next_session() {
    for version in [WITH_SESSION, STATELESS] {
        let folder = Folder::new();
        let mut lead = Host::start_as(&folder, "lead", version);
        let id = hand_off(&folder, &mut lead, "coder");
        let mut coder = Host::start_as(&folder, "coder", version);
        let work = coder.call("handoff_receive", json!({"wait_s": 10}));
        assert_eq!(work["delivery_id"], json!(id), "{work}");
        coder.kill();
        folder.kill_server();
        let mut again = Host::start_as(&folder, "coder", version);
        let done = again.call(
            "handoff_complete",
            json!({"delivery_id": id, "lease": work["lease"], "result": {"lines": 7}}),
        );
        assert_eq!(done["state"], "done", "{done}");
        let status = lead.call("handoff_status", json!({"delivery_id": id}));
        assert!(status.to_string().contains("\"lines\":7"), "{status}");
    }
}

/// A receiver waits while the server is killed: it is told, asks again, and gets the work.
#[test]
fn waiting_goes_on_with_the_next_server() {
    for version in [WITH_SESSION, STATELESS] {
        let folder = Folder::new();
        let mut coder = Host::start_as(&folder, "coder", version);
        let mut lead = Host::start_as(&folder, "lead", version);
        let waiting = coder.start_call("handoff_receive", json!({"wait_s": 40}));
        // The call has reached the server when it tells how it goes.
        coder.ask("tools/list", json!({}));
        lead.call("memory_search", json!({}));
        folder.kill_server();
        let told = coder.answer(waiting);
        assert_eq!(told["error"]["code"], json!(-32011), "{told}");
        let waiting = coder.start_call("handoff_receive", json!({"wait_s": 40}));
        let id = hand_off(&folder, &mut lead, "coder");
        assert_eq!(content(&coder.answer(waiting))["delivery_id"], json!(id));
    }
}

/// Nobody reads the answer of a host that has gone: what would have been taken for it stays in the queue.
#[test]
fn a_host_that_goes_while_it_waits_takes_nothing() {
    for version in [WITH_SESSION, STATELESS] {
        let folder = Folder::new();
        let mut lead = Host::start_as(&folder, "lead", version);
        let mut gone = Host::start_as(&folder, "coder", version);
        gone.start_call("handoff_receive", json!({"wait_s": 40}));
        gone.ask("tools/list", json!({}));
        gone.close();
        let id = hand_off(&folder, &mut lead, "coder");
        let mut coder = Host::start_as(&folder, "coder", version);
        let work = coder.call("handoff_receive", json!({"wait_s": 10}));
        assert_eq!(work["delivery_id"], json!(id), "{version}: {work}");
    }
}

#[test]
fn a_call_is_cancelled_and_says_nothing_more() {
    for version in [WITH_SESSION, STATELESS] {
        let folder = Folder::new();
        let mut coder = Host::start_as(&folder, "coder", version);
        let waiting = coder.start_call("handoff_receive", json!({"wait_s": 40}));
        coder.ask("tools/list", json!({}));
        coder.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting}}).to_string());
        let mut lead = Host::start_as(&folder, "lead", version);
        let id = hand_off(&folder, &mut lead, "coder");
        let work = coder.call("handoff_receive", json!({"wait_s": 10}));
        assert_eq!(work["delivery_id"], json!(id), "{version}: {work}");
        let rest = coder.close();
        assert!(rest.iter().all(|message| message["id"] != json!(waiting)), "{rest:?}");
    }
}

/// A host that asked for it hears that its call goes on.
#[test]
fn progress_is_passed_on() {
    for version in [WITH_SESSION, STATELESS] {
        let folder = Folder::new();
        let mut coder = Host::start_as(&folder, "coder", version);
        let params = json!({"name": "handoff_receive", "arguments": {"wait_s": 40}, "_meta": {"progressToken": "p"}});
        let waiting = send_with_token(&mut coder, params);
        let mut lead = Host::start_as(&folder, "lead", version);
        eventually_notice(&mut coder, "notifications/progress");
        hand_off(&folder, &mut lead, "coder");
        assert_eq!(content(&coder.answer(waiting))["received"], json!(true));
    }
}

fn send_with_token(host: &mut Host, params: Value) -> u64 {
    host.send("tools/call", params)
}

fn eventually_notice(host: &mut Host, method: &str) {
    let started = std::time::Instant::now();
    eventually(method, || {
        assert!(started.elapsed() < PATIENCE);
        host.ask("tools/list", json!({}));
        host.notices.iter().any(|notice| notice["method"] == method)
    });
}

/// Each call has one key for all tries. A tool that takes several steps once used it for two different requests, and
/// the second was refused as a conflict.
#[test]
fn tools_of_several_steps_do_them_all_under_one_key() {
    let folder = Folder::new();
    let mut lead = Host::start(&folder, "lead");
    hand_off(&folder, &mut lead, "coder");
    let mut coder = Host::start(&folder, "coder");
    coder.call("handoff_receive", json!({"wait_s": 10}));
    // In its hands: the lease is renewed, then the work is handed on.
    let sent =
        coder.call("handoff_send", json!({"target_agent": "tester", "task_summary": "Test it."}));
    assert_eq!(sent["hop"], 2, "{sent}");
    // Made, then published.
    let task =
        json!({"channel": "reviews", "receivers": ["ann", "bob"], "task_summary": "Review it."});
    let published = coder.call("handoff_publish", task);
    assert!(published.to_string().contains("ann"), "{published}");
    let taken = Host::start(&folder, "bob").call("handoff_receive", json!({"wait_s": 10}));
    assert!(taken["text"].as_str().unwrap().contains("Build me a client."), "{taken}");
}
