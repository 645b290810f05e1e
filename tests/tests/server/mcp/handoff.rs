//! Work between two agents, each in a host of its own.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::host::{Host, STATELESS, WITH_SESSIONS};
use super::in_both;
use crate::process::Server;

const INTENT: &str = "Integrate the payment gateway, and never log a card number.";

fn send(host: &Host) -> Value {
    host.tool(
        "handoff_send",
        json!({
            "target_agent": "coder", "task_summary": "Write the client; ms-1 has the limits.",
            "intent": INTENT, "constraints": {"language": "rust"},
            "state": {"decisions": [{"what": "retry twice", "why": "the gateway is flaky"}],
                      "open_questions": ["which sandbox?"]},
        }),
    )
}

#[test]
fn a_task_goes_from_one_to_the_other_and_on() {
    in_both(|server, revision| {
        let (analyst, coder) =
            (Host::of(server, revision, "analyst"), Host::of(server, revision, "coder"));
        analyst.tool("memory_store", json!({"content": "At most 100 requests a second."}));
        let sent = send(&analyst);
        assert_eq!(sent["delivery"]["state"], "pending");
        assert_eq!((&sent["hop"], &sent["completeness"]), (&json!(1), &json!(1.0)));

        let taken = coder.tool("handoff_receive", json!({"wait_s": 10}));
        let (id, text) = (&taken["delivery_id"], taken["text"].as_str().unwrap());
        for part in [INTENT, "100 requests", "retry twice", "which sandbox?", "language"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let progress = json!({"delivery_id": id, "note": "half of it", "percent": 50});
        assert_eq!(coder.tool("handoff_progress", progress)["state"], "accepted");
        let seen = analyst.tool("handoff_status", json!({"delivery_id": id}));
        assert_eq!(seen["deliveries"][0]["progress"], "half of it");

        let done = coder.tool(
            "handoff_complete",
            json!({"delivery_id": id, "result": {"files": ["client.rs"]}, "action": "wrote the client",
                   "next": {"target_agent": "tester", "task_summary": "Test it."}}),
        );
        assert_eq!((&done["state"], &done["next"]["agent"]), (&json!("done"), &json!("tester")));
        let seen = analyst.tool("handoff_status", json!({"delivery_id": id, "wait_s": 5}));
        assert_eq!(seen["deliveries"][0]["result"], json!({"files": ["client.rs"]}));

        let tester = Host::of(server, revision, "tester");
        let taken = tester.tool("handoff_receive", json!({}));
        assert!(taken["text"].as_str().unwrap().contains(INTENT), "the intent, word for word");
        let trace = tester.tool("handoff_trace", json!({"delivery_id": taken["delivery_id"]}));
        assert_eq!(trace["intent"], INTENT);
        assert_eq!(trace["hops"].as_array().unwrap().len(), 2);
        assert_eq!(trace["integrity"], "intact");
    });
}

#[test]
fn what_is_held_is_the_parent_of_what_is_sent() {
    in_both(|server, revision| {
        let (analyst, coder) =
            (Host::of(server, revision, "analyst"), Host::of(server, revision, "coder"));
        let first = send(&analyst);
        coder.tool("handoff_receive", json!({}));
        let next = json!({"target_agent": "tester", "task_summary": "Test it."});
        let sent = coder.tool("handoff_send", next.clone());
        assert_eq!(sent["parents"], json!([first["delivery"]["envelope_id"]]));
        assert_eq!(sent["hop"], 2);
        let mut own = next.clone();
        own["new_task"] = true.into();
        assert!(coder.tool("handoff_send", own).get("parents").is_none(), "a task of its own");

        send(&analyst);
        let second = coder.tool("handoff_receive", json!({}));
        assert_eq!(second["also_held"].as_array().unwrap().len(), 1);
        let told = coder.refusal("handoff_send", next.clone());
        assert!(told.contains("several deliveries") && told.contains("parent"), "{told}");
        let mut said = next;
        said["parent"] = second["delivery_id"].clone();
        assert_eq!(coder.tool("handoff_send", said)["parents"][0], second["envelope_id"]);
    });
}

/// Two terminals of one agent: neither ends the other's work, or hands it on.
#[test]
fn sessions_of_one_agent_do_not_share_hands() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let one = Host::of(&server, WITH_SESSIONS, "coder");
    let other = Host::of(&server, WITH_SESSIONS, "coder");
    let sent = send(&Host::of(&server, STATELESS, "analyst"));
    let id = &sent["delivery"]["delivery_id"];
    let taken = one.tool("handoff_receive", json!({}));
    assert_eq!(&taken["delivery_id"], id);
    let told = other.refusal("handoff_complete", json!({"delivery_id": id, "result": 1}));
    assert!(told.contains("lease-lost"), "{told}");
    let next = json!({"target_agent": "tester", "task_summary": "Something else."});
    assert!(other.tool("handoff_send", next).get("parents").is_none());
    one.tool("handoff_complete", json!({"delivery_id": id, "lease": taken["lease"], "result": 1}));
    let again = json!({"delivery_id": id, "lease": taken["lease"], "result": 1});
    assert_eq!(
        one.tool("handoff_complete", again)["state"],
        "done",
        "the same twice succeeds twice"
    );
}

#[test]
fn a_model_is_told_what_to_do_next() {
    in_both(|server, revision| {
        let (analyst, coder) =
            (Host::of(server, revision, "analyst"), Host::of(server, revision, "coder"));
        let check = |told: String, parts: &[&str]| {
            parts.iter().for_each(|part| assert!(told.contains(part), "{part:?} in {told:?}"));
        };
        check(
            analyst.refusal("handoff_send", json!({"target_agent": "coder"})),
            &["task_summary", "Next:"],
        );
        check(analyst.refusal("memory_get", json!({"ids": ["7"]})), &["/ids/0", "Next:"]);
        check(analyst.refusal("handoff_receive", json!({"wait_s": 60})), &["wait_s", "45"]);
        check(analyst.refusal("handoff_receive", json!({"lease": 1})), &["lease"]);
        let unknown = json!({"delivery_id": "dlv_01K00000000000000000000000"});
        check(analyst.refusal("handoff_status", unknown), &["Next:", "not-found"]);
        let nameless = Host::new(server, revision, &[]);
        check(
            nameless.refusal("handoff_receive", json!({})),
            &["which agent you are", "sender-unknown"],
        );
        let sent = send(&analyst);
        let id = &sent["delivery"]["delivery_id"];
        check(
            coder.refusal("handoff_complete", json!({"delivery_id": id})),
            &["not in your hands"],
        );
        coder.tool("handoff_receive", json!({}));
        analyst.tool("handoff_cancel", json!({"delivery_id": id, "reason": "changed my mind"}));
        check(
            coder.refusal("handoff_progress", json!({"delivery_id": id})),
            &["cancelled", "stop this work"],
        );
        let unknown = coder.reply("tools/call", json!({"name": "handoff_fly", "arguments": {}}));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    });
}

#[test]
fn what_failed_is_reviewed() {
    in_both(|server, revision| {
        let (analyst, coder) =
            (Host::of(server, revision, "analyst"), Host::of(server, revision, "coder"));
        for _ in 0..2 {
            send(&analyst);
            let taken = coder.tool("handoff_receive", json!({}));
            let nack = json!({"delivery_id": taken["delivery_id"], "reason": "no compiler", "retry": false});
            assert_eq!(coder.tool("handoff_nack", nack)["state"], "parked");
        }
        let parked = analyst.tool("handoff_parked", json!({"target": "coder"}));
        let parked = parked["deliveries"].as_array().unwrap();
        assert!(parked[0]["reason"].as_str().unwrap().contains("no compiler"), "{parked:?}");
        let review = |id: &Value, action: &str, more: Value| {
            let mut input = json!({"delivery_id": id, "action": action});
            input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            analyst.tool("handoff_review", input)["state"].clone()
        };
        let [one, two] = [&parked[0]["delivery_id"], &parked[1]["delivery_id"]];
        assert_eq!(review(one, "requeue", json!({"target": "tester"})), "pending");
        let next = json!({"next": {"target_agent": "tester", "task_summary": "Only the tests."}});
        assert_eq!(review(two, "resend", next), "pending");
        let health = analyst.tool("handoff_health", json!({}));
        assert_eq!(health["pending"], 2, "{health}");
    });
}

#[test]
fn many_are_asked_and_joined() {
    in_both(|server, revision| {
        let lead = Host::of(server, revision, "lead");
        let published = lead.tool(
            "handoff_publish",
            json!({"channel": "reviews", "receivers": ["ann", "bob"], "task_summary": "Review the plan.",
                   "intent": "Is the plan sound?",
                   "join": {"target_agent": "lead", "task_summary": "Weigh the reviews."}}),
        );
        assert_eq!(published["deliveries"].as_array().unwrap().len(), 2);
        for name in ["ann", "bob"] {
            let host = Host::of(server, revision, name);
            let taken = host.tool("handoff_receive", json!({}));
            let done =
                json!({"delivery_id": taken["delivery_id"], "result": format!("{name} says yes")});
            host.tool("handoff_complete", done);
        }
        let joined = lead.tool("handoff_receive", json!({"wait_s": 20}));
        assert!(joined["text"].as_str().unwrap().contains("Is the plan sound?"), "{joined}");
        let id = &published["publication_id"];
        let status = lead.tool("handoff_status", json!({"publication_id": id}));
        assert_eq!(status["deliveries"][1]["result"], "bob says yes", "{status}");
    });
}

/// A host that calls a waiting call off has taken nothing, then or later.
#[test]
fn a_call_that_is_cancelled_takes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let coder = Host::of(&server, WITH_SESSIONS, "coder");
    let (session, first_id) = (coder.session().to_owned(), 1_000);
    let started = Instant::now();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let waiter = Host::in_session(&server, "coder", &session, first_id);
            let wait = json!({"name": "handoff_receive", "arguments": {"wait_s": 45}});
            waiter.post("tools/call", wait, true)
        });
        // A call that is not there yet cannot be called off: it is said until it is heard.
        while !waiting.is_finished() {
            let cancel = json!({"requestId": first_id, "reason": "the user pressed escape"});
            coder.post("notifications/cancelled", cancel, false);
        }
    });
    assert!(started.elapsed() < Duration::from_secs(40), "the call went on to its end");
    let sent = send(&Host::of(&server, STATELESS, "analyst"));
    let seen = json!({"delivery_id": sent["delivery"]["delivery_id"]});
    let seen = coder.tool("handoff_status", seen);
    assert_eq!(seen["deliveries"][0]["state"], "pending", "nobody waits any more");
}

/// A call that waits says so, and gives what comes.
#[test]
fn a_call_that_waits_says_so() {
    in_both(|server, revision| {
        let (analyst, coder) =
            (Host::of(server, revision, "analyst"), Host::of(server, revision, "coder"));
        let wait = json!({
            "name": "handoff_receive", "arguments": {"wait_s": 45}, "_meta": {"progressToken": "p-1"},
        });
        let mut waiting = coder.stream("tools/call", wait);
        assert!(waiting.until("notifications/progress").contains("p-1"));
        let sent = send(&analyst);
        let id = sent["delivery"]["delivery_id"].as_str().unwrap();
        assert!(waiting.until("\"result\"").contains(id));
    });
}
