//! The event stream, and how it goes on after a break.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::process::Server;

/// The kinds and ids of the next events of a stream.
fn follow(server: &Server, after: &str, count: usize) -> Vec<(String, String)> {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "GET /v1/events HTTP/1.1\r\nhost: {}\r\nlast-event-id: {after}\r\n\r\n",
        server.address
    )
    .unwrap();
    let (mut id, mut kind, mut events) = (String::new(), String::new(), Vec::new());
    for line in BufReader::new(stream).lines() {
        let line = line.unwrap();
        if let Some(value) = line.strip_prefix("id: ") {
            id = value.to_owned();
        }
        if let Some(value) = line.strip_prefix("event: ") {
            kind = value.to_owned();
        }
        if line.is_empty() && !kind.is_empty() {
            events.push((std::mem::take(&mut id), std::mem::take(&mut kind)));
            if events.len() == count {
                return events;
            }
        }
    }
    panic!("the stream ended after {events:?}");
}

#[test]
fn a_stream_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for n in 0..3 {
        server.post("/v1/memories", &json!({"content": format!("number {n}")}));
    }
    let all = follow(&server, "0", 3);
    assert!(all.iter().all(|(_, kind)| kind == "memory.stored"), "{all:?}");
    assert_eq!(follow(&server, &all[0].0, 2), all[1..]);
    let fresh = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| follow(&server, &all[2].0, 1));
        server.post("/v1/memories", &json!({"content": "while it waits"}));
        waiting.join().unwrap()
    });
    assert_eq!(fresh[0].1, "memory.stored");
    let audit = server.get("/v1/audit?limit=2").json();
    assert_eq!(audit["events"][0]["kind"], "memory.stored");
    let rest =
        server.get(&format!("/v1/audit?cursor={}", audit["next_cursor"].as_str().unwrap())).json();
    assert_eq!(rest["events"].as_array().unwrap().len(), 2);
}
