//! What is shipped under `ops/`, beside what the server says: a real Prometheus scrapes a real server and evaluates the
//! rules; no dashboard and no rule names a series that is not there.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::delivery::client::{House, text};
use crate::http::{Answer, try_get};

/// A Prometheus that starts on two busy cores, scrapes and evaluates has done it by then.
const PATIENCE: Duration = Duration::from_secs(120);

fn ops(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ops").join(file)
}

fn read(file: &str) -> String {
    std::fs::read_to_string(ops(file)).unwrap()
}

/// Every series of `/metrics`, by name.
fn series_of(metrics: &str) -> BTreeSet<String> {
    let lines = metrics.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(['{', ' ']).next().unwrap().to_owned()).collect()
}

/// Every name of ours in a text, recorded ones (`memory_spine:…`) and real ones.
fn names_in(text: &str) -> BTreeSet<String> {
    let name = Regex::new(r"memory_spine[_:][a-z0-9_:]*").unwrap();
    name.find_iter(text).map(|found| found.as_str().to_owned()).collect()
}

fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if ["expr", "query"].contains(&name.as_str()) => {
                        found.push(text.clone());
                    }
                    other => expressions(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| expressions(item, found)),
        _ => {}
    }
}

#[test]
fn every_series_that_is_watched_is_there() {
    let house = House::start_with("[telemetry]\nmetrics_targets_max = 2");
    let metrics = String::from_utf8(house.server.get("/metrics").body).unwrap();
    let rules = read("prometheus/rules.yml");
    let recorded: BTreeSet<String> = rules
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- record: ").map(str::to_owned))
        .collect();
    let known: BTreeSet<String> = series_of(&metrics).union(&recorded).cloned().collect();
    let mut in_dashboard = Vec::new();
    let dashboard: Value = serde_json::from_str(&read("grafana/dashboard.json")).unwrap();
    expressions(&dashboard, &mut in_dashboard);
    assert!(in_dashboard.len() > 30, "{in_dashboard:?}");
    for (where_from, asked) in [
        ("rules.yml", names_in(&rules)),
        ("rules_test.yml", names_in(&read("prometheus/rules_test.yml"))),
        ("dashboard.json", names_in(&in_dashboard.join("\n"))),
    ] {
        let missing: Vec<&String> = asked.difference(&known).collect();
        assert!(missing.is_empty(), "{where_from} asks for what is not there: {missing:?}");
    }
    let shown = names_in(&in_dashboard.join("\n"));
    let families = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for family in families.map(|line| line.split(' ').next().unwrap()) {
        let is_shown = shown.iter().any(|name| name.starts_with(family));
        let is_in_ratio = family.starts_with("memory_spine_references_");
        assert!(is_shown || is_in_ratio, "{family} is nowhere in the dashboard");
    }
}

/// Labels are words of ours: with ids, agents or workspaces in them the number of series would have no bound.
#[test]
fn nothing_that_somebody_chose_is_a_label() {
    let house = House::start();
    let sender = house.agent("agent-of-ours").with("memory-spine-workspace", "space-of-ours");
    let before = series_count(&house);
    sender.hand_off("target-of-ours", json!({}));
    let metrics = until("the handoff is counted", || {
        let metrics = String::from_utf8(house.server.get("/metrics").body).unwrap();
        metrics.contains("memory_spine_handoffs_total 1\n").then_some(metrics)
    });
    assert!(!metrics.contains("of-ours"), "{metrics}");
    assert_eq!(series_count(&house), before);
    assert!(before < 250, "{before} series");
}

/// With places for two, the two busiest have them and keep them; everybody else is one target, whatever happens later.
#[test]
fn targets_have_series_where_that_was_set() {
    let house = House::start_with("[telemetry]\nmetrics_targets_max = 2");
    let sender = house.agent("maria");
    let send = |target: &str, count: usize| {
        (0..count).for_each(|_| drop(sender.hand_off(target, json!({}))));
        // A report has read the log: the figures are as new as it.
        sender.get("/v1/health").with(200);
    };
    for target in ["busy", "busy", "busy", "some", "some", "rare"] {
        sender.hand_off(target, json!({}));
    }
    send("rare", 0);
    sender.put("/v1/agents/busy/breaker", json!({"state": "open"})).with(200);
    let figures = |name: &str| {
        let metrics = String::from_utf8(house.server.get("/metrics").body).unwrap();
        let lines =
            metrics.lines().filter(|line| line.starts_with(&format!("memory_spine_target_{name}")));
        lines.map(|line| line["memory_spine_target_".len()..].to_owned()).collect::<Vec<_>>()
    };
    let handoffs = |others: usize| {
        let of = |target: &str, count| format!("handoffs_total{{target=\"{target}\"}} {count}");
        [of("_other", others), of("busy", 3), of("some", 2)]
    };
    assert_eq!(figures("handoffs_total"), handoffs(1));
    let before = series_count(&house);
    ["a", "b", "c"].iter().for_each(|target| send(target, 1));
    send("rare", 5);
    assert_eq!(figures("handoffs_total"), handoffs(9));
    assert_eq!(series_count(&house), before, "the number of series is bounded");
    let coder = house.agent("some");
    let received = coder.receive("some", json!({"accept": true}));
    coder.settle(&received, "ack", json!({})).with(200);
    let received = coder.receive("some", json!({}));
    coder.settle(&received, "nack", json!({"reason": "cannot", "retry": false})).with(200);
    send("rare", 0);
    let some = |name: &str| -> Vec<String> {
        figures(name)
            .into_iter()
            .filter(|line| line.contains("\"some\"") && !line.contains("le="))
            .collect()
    };
    assert_eq!(some("failed_total"), ["failed_total{target=\"some\"} 1"]);
    let counts: Vec<String> = some("latency_seconds_count");
    assert!(counts.iter().all(|line| line.ends_with(" 1")) && counts.len() == 2, "{counts:?}");
    assert!(
        some("queue").contains(&"queue_deliveries{target=\"some\",state=\"parked\"} 1".to_owned())
    );
    let breakers = figures("breakers_open");
    assert!(breakers.contains(&"breakers_open{target=\"busy\"} 1".to_owned()), "{breakers:?}");
}

fn series_count(house: &House) -> usize {
    let metrics = String::from_utf8(house.server.get("/metrics").body).unwrap();
    metrics.lines().filter(|line| !line.starts_with('#')).count()
}

#[test]
#[ignore = "needs Debian's prometheus: cargo xtask test prometheus"]
fn a_real_prometheus_evaluates_the_shipped_rules() {
    let house = House::start();
    let prometheus = Prometheus::watching(&house.server.address);
    until("the target is up", || {
        let targets = prometheus.ask("/api/v1/targets")?;
        (targets["activeTargets"][0]["health"] == "up").then_some(())
    });
    let person = house.agent("maria");
    let sent = person.hand_off("coder", json!({}));
    let body = json!({"envelope_id": sent["envelope_id"], "reason": "look at this"});
    person.post("/v1/parked", body).with(200);
    person.put("/v1/agents/coder/breaker", json!({"state": "open"})).with(200);
    let firing = until("what was provoked fires", || {
        let firing = prometheus.firing()?;
        (firing.len() >= 2).then_some(firing)
    });
    let expected = ["MemorySpineBreakerOpen critical", "MemorySpineDeadLetters info"];
    assert_eq!(firing.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    prometheus.check_rules();
    let id = text(&sent["id"]);
    person.post(&format!("/v1/parked/{id}/discard"), json!({"reason": "seen"})).with(200);
    person.put("/v1/agents/coder/breaker", json!({"state": "closed"})).with(200);
    until("it is over", || prometheus.firing()?.is_empty().then_some(()));
}

/// Asks again and again until there is an answer; the pause is between questions, nothing counts on its length.
fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < give_up, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A Prometheus of one's own, with its data in a folder that goes with it.
struct Prometheus {
    process: Child,
    address: String,
    folder: TempDir,
}

impl Prometheus {
    fn watching(target: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let config = json!({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [ops("prometheus/rules.yml")],
            "scrape_configs": [{"job_name": "memory-spine", "static_configs": [{"targets": [target]}]}],
        });
        // JSON is YAML.
        std::fs::write(folder.path().join("prometheus.yml"), config.to_string()).unwrap();
        let address = free_address();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let process = Command::new("prometheus")
            .current_dir(folder.path())
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .args(["--storage.tsdb.retention.time=10m", "--storage.tsdb.retention.size=64MB"])
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("prometheus: {error}: apt-get install prometheus"));
        Self { process, address, folder }
    }

    fn ask(&self, path: &str) -> Option<Value> {
        let answer: Answer = try_get(&self.address, path)?;
        let body = answer.json();
        (answer.status == 200).then(|| body["data"].clone())
    }

    /// The names and severities of what fires, in order.
    fn firing(&self) -> Option<BTreeSet<String>> {
        let data = self.ask("/api/v1/alerts")?;
        let firing = data["alerts"].as_array()?.iter().filter(|alert| alert["state"] == "firing");
        let shown = |alert: &Value| {
            let labels = &alert["labels"];
            format!("{} {}", text(&labels["alertname"]), text(&labels["severity"]))
        };
        Some(firing.map(shown).collect())
    }

    /// All rules of the file are there, and each was evaluated without an error.
    fn check_rules(&self) {
        let data = self.ask("/api/v1/rules").unwrap();
        let groups = data["groups"].as_array().unwrap();
        let rules: Vec<&Value> =
            groups.iter().flat_map(|group| group["rules"].as_array().unwrap()).collect();
        let in_file = read("prometheus/rules.yml");
        let written = in_file.lines().filter(|line| line.trim().starts_with("- ")).count();
        let names = groups.len();
        assert_eq!(rules.len(), written - names, "{rules:#?}");
        for rule in rules {
            assert_eq!(rule["health"], "ok", "{rule:#}");
        }
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.folder.path().join("log"));
            eprintln!("{}", log.unwrap_or_default());
        }
    }
}

/// An address that was free a moment ago: Prometheus does not tell which one it takes.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}
