//! Starting fast, and stopping without losing anything.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::process::{Server, program};

#[test]
fn a_stop_ends_streams_and_lets_requests_finish() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path());
    server.post("/v1/memories", &json!({"content": "kept"}));
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(stream, "GET /v1/events HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    // Half of a body is on its way when the signal comes.
    let mut slow = TcpStream::connect(&server.address).unwrap();
    let body = r#"{"content": "sent while it stops"}"#;
    write!(slow, "POST /v1/memories HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{}", body.len(), &body[..10]).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    // The server has taken both: it answers a third one that came after them.
    assert_eq!(server.get("/healthz").status, 200);
    let started = Instant::now();
    server.signal("TERM");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    write!(slow, "{}", &body[10..]).unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(server.wait().success());
    assert!(started.elapsed() < Duration::from_secs(10));
    let server = Server::start(folder.path());
    assert_eq!(server.get("/v1/memories").json()["memories"].as_array().unwrap().len(), 2);
}

#[test]
fn it_listens_beyond_this_machine_only_with_keys() {
    let folder = tempfile::tempdir().unwrap();
    let refused = program(folder.path(), &["serve", "--listen", "0.0.0.0:0"]).output().unwrap();
    assert!(!refused.status.success());
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("memory-spine keys create"), "{said}");
}

#[test]
fn settings_are_shown_with_their_sources() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("memory-spine.toml"), "limits.requests_max = 7").unwrap();
    let shown = program(folder.path(), &["config"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("limits.requests_max = 7  # in memory-spine.toml"), "{shown}");
    assert!(shown.contains("log.level = \"warn\"  # from MEMORY_SPINE_LOG_LEVEL"), "{shown}");
}
