//! What a collector gets: a chain of agents as one trace, the figures of `/metrics`, and never a text.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::metrics::v1::{metric, number_data_point};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::delivery::client::{Client, text};
use crate::process::{Server, program};

/// In a memory, a task, an intent and a result: nowhere else.
const CANARY: &str = "canary-7c1f";
const PATIENCE: Duration = Duration::from_secs(60);

/// A collector that takes everything.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Got>>);

#[derive(Default)]
struct Got {
    spans: Vec<Span>,
    /// The newest of each counter.
    counters: BTreeMap<String, f64>,
    bytes: Vec<u8>,
    headers: String,
}

impl Collector {
    fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let collector = Self::default();
        let serving = collector.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(stream.unwrap()));
            }
        });
        (collector, endpoint)
    }

    /// Requests of one connection, until it is closed.
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        while let Some((path, headers, body)) = request(&mut reader) {
            self.take(&path, headers, body);
            let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
            if (&stream).write_all(answer).is_err() {
                return;
            }
        }
    }

    fn take(&self, path: &str, headers: String, body: Vec<u8>) {
        let mut got = self.0.lock().unwrap();
        got.bytes.extend_from_slice(&body);
        got.headers.push_str(&headers);
        match path {
            "/v1/traces" => {
                let request = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
                let scopes = request.resource_spans.into_iter().flat_map(|one| one.scope_spans);
                got.spans.extend(scopes.flat_map(|scope| scope.spans));
            }
            "/v1/metrics" => {
                let request = ExportMetricsServiceRequest::decode(body.as_slice()).unwrap();
                got.note_counters(request);
            }
            other => panic!("{other}"),
        }
    }

    fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap().spans.clone()
    }

    fn until(&self, what: &str, is_there: impl Fn(&Got) -> bool) {
        let give_up = Instant::now() + PATIENCE;
        while !is_there(&self.0.lock().unwrap()) {
            assert!(Instant::now() < give_up, "not within {PATIENCE:?}: {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Got {
    fn note_counters(&mut self, request: ExportMetricsServiceRequest) {
        let scopes = request.resource_metrics.into_iter().flat_map(|one| one.scope_metrics);
        for metric in scopes.flat_map(|scope| scope.metrics) {
            let Some(metric::Data::Sum(sum)) = metric.data else { continue };
            if let Some(number_data_point::Value::AsDouble(value)) = sum.data_points[0].value {
                self.counters.insert(metric.name, value);
            }
        }
    }
}

fn request(reader: &mut impl BufRead) -> Option<(String, String, Vec<u8>)> {
    let (mut headers, mut line) = (String::new(), String::new());
    while reader.read_line(&mut line).ok()? > 2 {
        headers.push_str(&line.to_ascii_lowercase());
        line.clear();
    }
    let path = headers.split(' ').nth(1)?.to_owned();
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length?.trim().parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some((path, headers, body))
}

fn start(data: &Path, endpoint: &str, log: &Path) -> Server {
    let mut command = program(data, &["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=spine")
        .env("OTEL_BSP_SCHEDULE_DELAY", "100")
        .env("MEMORY_SPINE_TELEMETRY_METRICS_S", "1")
        .env("MEMORY_SPINE_LOG_LEVEL", "trace")
        .stderr(File::create(log).unwrap());
    Server::of(command)
}

fn attribute<'a>(span: &'a Span, name: &str) -> Option<&'a str> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    match found.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => Some(text),
        _ => None,
    }
}

/// Five agents, each handing on in another way that there is: none of them knows of traces.
fn play_chain(address: &str) -> Value {
    let agent = |name: &str| Client::of(address, name);
    let task = |to: &str| json!({"target_agent": to, "task_summary": format!("go on {CANARY}"), "memory_refs": ["ms-1"]});
    let memory = json!({"content": format!("a memory with {CANARY} in it")});
    agent("one").post("/v1/memories", memory).with(201);
    let mut first = task("two");
    first["intent"] = json!(format!("the whole {CANARY} way"));
    let root = agent("one").post("/v1/handoffs", first).with(201)["handoff"].clone();

    // By the header that SDKs send while a delivery is at hand.
    let two = agent("two");
    let received = two.receive("two", json!({"accept": true}));
    let at_hand = two.with("memory-spine-delivery", text(&received["delivery"]["id"]));
    at_hand.post("/v1/handoffs", task("three")).with(201);
    two.settle(&received, "ack", json!({"result": CANARY})).with(200);

    // Together with its completion.
    let three = agent("three");
    let received = three.receive("three", json!({}));
    three.settle(&received, "accept", json!({})).with(200);
    three.settle(&received, "ack", json!({"next": task("four")})).with(200);

    // Assembled and sent in two steps, with the parent in the body.
    let four = agent("four");
    let received = four.receive("four", json!({"accept": true}));
    let mut last = task("five");
    last["parent"] = received["delivery"]["envelope_id"].clone();
    let made = four.post("/v1/envelopes", last).with(201);
    four.post("/v1/deliveries", json!({"envelope_id": made["id"]})).with(201);
    four.settle(&received, "ack", json!({})).with(200);

    let five = agent("five");
    let received = five.receive("five", json!({}));
    assert_eq!(received["envelope"]["hop"], 4);
    five.settle(&received, "ack", json!({"result": CANARY})).with(200);
    root
}

#[test]
fn a_chain_of_five_agents_is_one_trace() {
    let (folder, (collector, endpoint)) = (TempDir::new().unwrap(), Collector::start());
    let log = folder.path().join("log");
    let server = start(folder.path(), &endpoint, &log);
    let root = play_chain(&server.address);
    collector.until("the figures", |got| got.counters.get("memory_spine_done_total") == Some(&4.0));
    assert!(server.stop().success());
    let spans = collector.spans();
    check_tree(&spans, text(&root["envelope"]["root"]));
    check_stages(&spans);
    let got = collector.0.lock().unwrap();
    assert_eq!(got.counters["memory_spine_handoffs_total"], 4.0);
    assert!(got.headers.contains("x-team: spine"), "{}", got.headers);
    assert!(!holds_canary(&got.bytes), "a text was exported");
    let log = std::fs::read(log).unwrap();
    assert!(!log.is_empty() && !holds_canary(&log), "{}", String::from_utf8_lossy(&log));
}

fn holds_canary(bytes: &[u8]) -> bool {
    bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes())
}

/// Spans of the chain are one tree, and each hop is below the one before.
fn check_tree(spans: &[Span], root: &str) {
    let handoffs: Vec<&Span> =
        spans.iter().filter(|span| span.name.starts_with("invoke_agent ")).collect();
    let trace = &handoffs[0].trace_id;
    let in_trace: Vec<&Span> = spans.iter().filter(|span| span.trace_id == *trace).collect();
    let by_id: HashMap<&[u8], &Span> =
        in_trace.iter().map(|span| (span.span_id.as_slice(), *span)).collect();
    let roots: Vec<&str> = in_trace
        .iter()
        .filter(|span| span.parent_span_id.is_empty())
        .map(|span| span.name.as_str())
        .collect();
    assert_eq!(roots, ["invoke_agent two"]);
    let parent = |span: &Span| by_id.get(span.parent_span_id.as_slice()).copied();
    let path = |span: &Span| {
        let above =
            std::iter::successors(Some(by_id[span.span_id.as_slice()]), |span| parent(span));
        above.map(|span| span.name.as_str()).collect::<Vec<_>>().join(" < ")
    };
    for span in &in_trace {
        assert!(path(span).ends_with("invoke_agent two"), "{}", path(span));
    }
    let last = in_trace.iter().find(|span| span.name == "receive five").unwrap();
    assert_eq!(
        path(last),
        "receive five < invoke_agent five < ack three < invoke_agent three < invoke_agent two"
    );
    let receives = in_trace.iter().filter(|span| span.name.starts_with("receive "));
    for span in receives {
        assert_eq!(attribute(span, "gen_ai.conversation.id"), Some(root), "{}", path(span));
    }
}

fn check_stages(spans: &[Span]) {
    let names: BTreeSet<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    for stage in
        ["create_memory one", "assemble", "search", "send", "store", "accept three", "ack five"]
    {
        assert!(names.contains(stage), "{stage} is not in {names:?}");
    }
    let agents: BTreeSet<&str> =
        spans.iter().filter_map(|span| attribute(span, "gen_ai.agent.name")).collect();
    assert_eq!(agents, BTreeSet::from(["one", "two", "three", "four", "five"]));
    let operations: BTreeSet<&str> =
        spans.iter().filter_map(|span| attribute(span, "gen_ai.operation.name")).collect();
    assert_eq!(operations, BTreeSet::from(["create_memory", "invoke_agent", "search_memory"]));
}

/// An agent that has a trace of its own is a part of it, and an envelope names the server's span in it.
#[test]
fn a_trace_that_was_brought_is_gone_on_with() {
    let (folder, (collector, endpoint)) = (TempDir::new().unwrap(), Collector::start());
    let server = start(folder.path(), &endpoint, &folder.path().join("log"));
    let brought = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let sender = Client::of(&server.address, "one").with("traceparent", brought);
    let body = json!({"target_agent": "two", "task_summary": "a", "intent": "b"});
    let made = sender.post("/v1/handoffs", body).with(201);
    let carried = text(&made["handoff"]["envelope"]["traceparent"]).to_owned();
    assert!(carried.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && carried != brought);
    assert!(server.stop().success());
    let spans = collector.spans();
    let handoff = spans.iter().find(|span| span.name == "invoke_agent two").unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(&handoff.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(carried.split('-').nth(2).unwrap(), hex(&handoff.span_id));
}

/// As many spans as the exporter holds, and no more.
const SPANS_WAITING_MAX: &str = "64";
const CYCLES: usize = 40;
/// An export is given up after 10 s: whatever waited for one would take at least as long.
const EXPORT: Duration = Duration::from_secs(10);

/// A collector that takes nothing costs its own spans and a line in the log. Every handoff goes its way at its pace, every
/// figure is counted, and the server stops when it is told to.
#[track_caller]
fn check_unharmed(endpoint: &str) {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("log");
    let mut command = program(folder.path(), &["serve", "--listen", "127.0.0.1:0"]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
        .env("OTEL_BSP_SCHEDULE_DELAY", "100")
        .env("OTEL_BSP_MAX_QUEUE_SIZE", SPANS_WAITING_MAX)
        .env("MEMORY_SPINE_TELEMETRY_METRICS_S", "1")
        .stderr(File::create(&log).unwrap());
    let server = Server::of(command);
    let (sender, coder) =
        (Client::of(&server.address, "one"), Client::of(&server.address, "coder"));
    for _ in 0..CYCLES {
        let began = Instant::now();
        sender.hand_off("coder", json!({}));
        let received = coder.receive("coder", json!({"accept": true}));
        coder.settle(&received, "ack", json!({"result": 1})).with(200);
        assert!(began.elapsed() < EXPORT, "a handoff waited for the collector");
    }
    let health = coder.get("/v1/health").with(200);
    let counts = |name: &str| health["windows"]["5m"]["counts"][name].as_u64();
    assert_eq!(
        (counts("handoffs"), counts("done")),
        (Some(CYCLES as u64), Some(CYCLES as u64)),
        "{health:#}"
    );
    let warnings = || {
        let said = std::fs::read_to_string(&log).unwrap();
        said.lines().filter(|line| line.contains("the collector takes nothing")).count()
    };
    let give_up = Instant::now() + PATIENCE;
    while warnings() == 0 {
        assert!(Instant::now() < give_up, "nobody said that the collector is away");
        std::thread::sleep(Duration::from_millis(50));
    }
    let began = Instant::now();
    assert!(server.stop().success());
    assert!(began.elapsed() < EXPORT * 2, "stopping took {:?}", began.elapsed());
    assert_eq!(warnings(), 1, "{}", std::fs::read_to_string(&log).unwrap());
}

#[test]
fn a_collector_that_is_not_there_harms_nothing() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check_unharmed(&format!("http://{gone}"));
}

#[test]
fn a_collector_that_never_answers_harms_nothing() {
    let stuck = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", stuck.local_addr().unwrap());
    std::thread::spawn(move || stuck.incoming().collect::<Vec<_>>());
    check_unharmed(&endpoint);
}
