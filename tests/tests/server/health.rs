//! `/v1/health` field by field: a script whose times, failures and gaps are known, and what must be told of it.

use serde_json::{Value, json};

use crate::clock::{advance, start};
use crate::delivery::client::Client;

/// Stands for a value that is there and is not foreseen.
const ANY: &str = "(any)";
/// The machine's own time goes on while the clock is moved.
const SLACK_S: f64 = 3.0;
/// Quantiles are of a sketch.
const SKETCH_ERROR: f64 = 0.01;

/// Both have the same fields; numbers with a fraction agree as far as they can be foreseen.
#[track_caller]
fn agree(place: &str, found: &Value, expected: &Value) {
    match (found, expected) {
        (found, Value::String(any)) if any == ANY => assert!(!found.is_null(), "{place}: {found}"),
        (Value::Object(found), Value::Object(expected)) => {
            let names =
                |map: &serde_json::Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(found), names(expected), "{place}");
            expected
                .iter()
                .for_each(|(name, part)| agree(&format!("{place}/{name}"), &found[name], part));
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{place}: {found:?}");
            let parts = found.iter().zip(expected).enumerate();
            parts.for_each(|(nth, (found, part))| agree(&format!("{place}/{nth}"), found, part));
        }
        (Value::Number(number), Value::Number(foreseen)) if foreseen.is_f64() => {
            let (number, foreseen) = (number.as_f64().unwrap(), foreseen.as_f64().unwrap());
            let slack = if place.contains("_s/") || place.ends_with("_s") { SLACK_S } else { 1e-9 };
            let is_near = (number - foreseen).abs() <= foreseen * SKETCH_ERROR + slack;
            assert!(is_near, "{place}: found {number}, expected {foreseen}");
        }
        (found, expected) => assert_eq!(found, expected, "{place}"),
    }
}

/// Hands work over that waits, is taken, and is done.
fn done(server: &str, queued_s: f64, work_s: f64) {
    let coder = Client::of(server, "coder");
    Client::of(server, "analyst").hand_off("coder", json!({}));
    advance(&coder, queued_s);
    let received = coder.receive("coder", json!({"accept": true, "lease_s": 3600}));
    advance(&coder, work_s);
    coder.settle(&received, "ack", json!({"result": {"ok": true}})).with(200);
}

fn latency(count: u64, p50: f64, high: f64) -> Value {
    json!({"count": count, "p50": p50, "p95": high, "p99": high, "max": high})
}

/// What is told of a number of handoffs that are all first hops and small.
struct Told {
    handoffs: u64,
    accepted: Value,
    done: Value,
    work: Value,
    finished: u64,
    /// One was parked, and one asked for a memory that is not there.
    has_trouble: bool,
}

impl Told {
    fn window(&self) -> Value {
        let (trouble, finished) = (u64::from(self.has_trouble), self.finished);
        let ended = finished + trouble;
        let classes = (1..=10).map(|tenth| {
            let count = if tenth == 1 { self.handoffs } else { 0 };
            json!({"upto": f64::from(tenth) / 10.0, "count": count})
        });
        let handover = if finished > 0 { latency(finished, 0.0, 0.0) } else { Value::Null };
        json!({
            "from": ANY, "until": ANY,
            "latency_accepted_s": self.accepted, "latency_done_s": self.done,
            "stages_s": {
                "assemble": {"count": self.handoffs, "p50": ANY, "p95": ANY, "p99": ANY, "max": ANY},
                "queued": self.accepted, "handover": handover, "work": self.work,
            },
            "completeness": {
                "value": self.has_trouble.then_some(0.0), "requested": trouble, "included": 0,
                "handoffs_partial": trouble,
            },
            "failure_rate": {
                "value": trouble as f64 / ended as f64, "failed": trouble, "ended": ended,
            },
            "hop_depth": {
                "limit": 10, "max": 1, "mean": 1.0, "at_limit": 0,
                "counts": [{"hop": 1, "count": self.handoffs}],
            },
            "token_utilisation": {
                "mean": ANY, "p50": ANY, "p95": ANY, "counts": classes.collect::<Vec<_>>(),
            },
            "counts": {
                "handoffs": self.handoffs, "accepted": finished, "done": finished, "retries": 0,
                "redeliveries": trouble, "parked": trouble, "rejected": 0, "cancelled": 0,
            },
        })
    }
}

fn coders() -> Told {
    Told {
        handoffs: 2,
        accepted: latency(2, 100.0, 200.0),
        done: latency(2, 400.0, 600.0),
        work: latency(2, 300.0, 400.0),
        finished: 2,
        has_trouble: false,
    }
}

fn reviewers() -> Told {
    let nothing = || Value::Null;
    Told {
        handoffs: 2,
        accepted: nothing(),
        done: nothing(),
        work: nothing(),
        finished: 0,
        has_trouble: true,
    }
}

fn play(server: &str) {
    let (analyst, reviewer) = (Client::of(server, "analyst"), Client::of(server, "reviewer"));
    done(server, 100.0, 300.0);
    done(server, 200.0, 400.0);
    advance(&analyst, 1000.0);
    analyst.hand_off("reviewer", json!({"policy": {"attempts": 1}}));
    reviewer.receive("reviewer", json!({"lease_s": 60}));
    advance(&reviewer, 61.0);
    let missing = json!({"target_agent": "reviewer", "task_summary": "do it", "intent": "have it done", "memory_refs": ["ms-999"]});
    analyst.post("/v1/handoffs", missing).with(201);
    advance(&analyst, 30.0);
}

#[test]
fn every_field_of_health_is_what_happened() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(&folder);
    play(&server.address);
    let health = Client::of(&server.address, "analyst").get("/v1/health").with(200);
    let all = Told { handoffs: 4, has_trouble: true, ..coders() };
    let windows =
        |long: &Told, short: Value| json!({"5m": short, "1h": long.window(), "24h": long.window()});
    agree("/windows", &health["windows"], &windows(&all, reviewers().window()));
    let queue = |pending: u64, parked: u64| {
        let (at, since) = if pending > 0 { (json!(ANY), json!(30.0)) } else { Default::default() };
        json!({"pending": pending, "leased": 0, "accepted": 0, "parked": parked, "oldest_pending_at": at, "oldest_pending_s": since})
    };
    agree("/queue", &health["queue"], &queue(1, 1));
    let targets = &health["targets"];
    assert_eq!((&targets[0]["agent"], &targets[1]["agent"]), (&json!("coder"), &json!("reviewer")));
    agree("/coder/1h", &targets[0]["windows"]["1h"], &coders().window());
    agree("/coder/queue", &targets[0]["queue"], &queue(0, 0));
    agree("/reviewer", &targets[1]["windows"], &windows(&reviewers(), reviewers().window()));
    agree("/reviewer/queue", &targets[1]["queue"], &queue(1, 1));
    assert_eq!((&health["verdict"], &health["targets_left_off"]), (&json!("critical"), &json!(0)));
    let reasons: Vec<String> = health["reasons"].as_array().unwrap().iter().map(reason).collect();
    expect_test::expect![[r#"
        critical completeness null 5m 0.0 0.8
        critical failure_rate null 1h 0.3333333333333333 0.02"#]]
    .assert_eq(&reasons.join("\n"));
}

/// Without what the machine's own time changes.
fn reason(reason: &Value) -> String {
    let part = |name: &str| match &reason[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    ["severity", "figure", "target", "window", "value", "threshold"].map(part).join(" ")
}
