//! What a server meets in the open: half a header, a bomb, too much at once.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::http::send;
use crate::process::Server;

const GROWTH_KIB_MAX: u64 = 50 * 1024;

const HALF_HEADER_TIME_MAX: Duration = Duration::from_secs(10);

fn half_headers() -> usize {
    if std::env::var_os("SPINE_SOAK").is_some() { 1_000 } else { 50 }
}

#[test]
fn half_sent_headers_are_closed_while_others_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let half: Vec<(Instant, TcpStream)> = (0..half_headers())
        .map(|_| {
            let (began, mut stream) =
                (Instant::now(), TcpStream::connect(&server.address).unwrap());
            stream.write_all(b"GET /v1/memories HTTP/1.1\r\nhost: loc").unwrap();
            (began, stream)
        })
        .collect();
    assert_eq!(server.post("/v1/memories", &json!({"content": "served"})).status, 201);
    for (began, mut stream) in half {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(began.elapsed() < HALF_HEADER_TIME_MAX, "closed after {:?}", began.elapsed());
    }
    assert_eq!(server.get("/healthz").status, 200);
}

/// Zeros, packed again and again: so many bytes of them in few.
fn bomb(gigabytes: usize) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..gigabytes * 1024 {
        packed.write_all(&zeros).unwrap();
    }
    packed.finish().unwrap()
}

#[test]
fn bombs_and_depth_are_refused_before_memory_grows() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.post("/v1/memories", &json!({"content": "warm"}));
    let before = server.resident_kib();
    let gigabytes = if std::env::var_os("SPINE_SOAK").is_some() { 10 } else { 1 };
    let headers = [("content-encoding", "gzip")];
    let answer = send(&server.address, "POST", "/v1/memories", &headers, &bomb(gigabytes));
    assert_eq!(answer.problem(), "413 /errors/too-large");
    let deep = format!("{{\"content\": {}", "[".repeat(10_000));
    assert_eq!(
        server.send("POST", "/v1/memories", &[], &deep).problem(),
        "400 /errors/malformed-json"
    );
    let grown = server.resident_kib().saturating_sub(before);
    assert!(grown < GROWTH_KIB_MAX, "grown by {grown} KiB");
}

#[test]
fn a_packed_body_is_unpacked_and_a_long_answer_is_packed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(format!("{{\"content\": {:?}}}", "word ".repeat(1_000)).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let stored =
        send(&server.address, "POST", "/v1/memories", &[("content-encoding", "gzip")], &packed);
    assert_eq!(stored.status, 201, "{stored:?}");
    let asked = |encodings: &str| {
        server.send("GET", "/v1/memories/ms-1", &[("accept-encoding", encodings)], "")
    };
    for packed in ["gzip", "br, GZIP;q=0.5", "*", "deflate;q=0, *;q=0.1", "gzip, identity;q=0"] {
        let answer = asked(packed);
        assert_eq!(answer.header("content-encoding"), Some("gzip"), "{packed}");
        assert!(answer.body.len() < 1_000);
    }
    for plain in ["", "br", "identity", "gzip;q=0", "gzip; q=0, *", "gzip;q=loud"] {
        let answer = asked(plain);
        assert_eq!((answer.status, answer.header("content-encoding")), (200, None), "{plain}");
        assert_eq!(answer.header("vary"), Some("accept-encoding"), "{plain}");
    }
}

/// A memory was stored, and the answer was 406: whoever tried again had it twice.
#[test]
fn who_takes_no_encoding_at_all_is_answered_plainly() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    for refused in ["identity;q=0", "*;q=0", "gzip;q=0, identity;q=0, *;q=1"] {
        let headers = [("accept-encoding", refused), ("content-type", "application/json")];
        let body = format!("{{\"content\": \"refuses {refused}\"}}");
        let stored = server.send("POST", "/v1/memories", &headers, &body);
        assert_eq!((stored.status, stored.header("content-encoding")), (201, None), "{refused}");
    }
}

#[test]
fn a_full_server_says_when_to_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with(folder.path(), &[("MEMORY_SPINE_LIMITS_REQUESTS_MAX", "1")]);
    // One request that does not end: half of its body is never sent. It may come while another has the only place, and is
    // refused itself: then the next one gets it.
    let mut slow = Vec::new();
    let refused = loop {
        slow.push(TcpStream::connect(&server.address).unwrap());
        write!(slow.last().unwrap(), "POST /v1/memories HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{{").unwrap();
        let answer = server.get("/v1/memories");
        if answer.status != 200 {
            break answer;
        }
    };
    assert_eq!(refused.problem(), "429 /errors/overloaded");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(server.get("/healthz").status, 200);
}
