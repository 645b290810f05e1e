//! The smallest client: one connection for one request, so that a test says exactly what is sent.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test's own client"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    /// `status type`, which is what most tests are about.
    pub fn problem(&self) -> String {
        let body = self.json();
        format!("{} {}", self.status, body["type"].as_str().unwrap_or("-"))
    }
}

/// Sends one request to a server that must be there.
pub fn send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let received = exchange(address, method, path, headers, body).unwrap();
    parsed(&received)
        .unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(&received)))
}

/// Asks somebody who may not be there yet.
pub fn try_get(address: &str, path: &str) -> Option<Answer> {
    parsed(&exchange(address, "GET", path, &[], b"").ok()?)
}

/// Sends one request to a server that may be gone, or go at any moment.
pub fn try_post(address: &str, path: &str, agent: &str, body: &Value) -> Option<Answer> {
    let (headers, body) = ([("memory-spine-agent", agent)], body.to_string());
    let received = exchange(address, "POST", path, &headers, body.as_bytes()).ok()?;
    let answer = parsed(&received)?;
    // Half an answer is none.
    let length = answer.header("content-length").and_then(|length| length.parse::<usize>().ok());
    length.is_none_or(|length| length == answer.body.len()).then_some(answer)
}

fn exchange(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    let has = |name: &str| headers.iter().any(|(found, _)| found.eq_ignore_ascii_case(name));
    if !has("host") {
        head.push_str(&format!("host: {address}\r\n"));
    }
    if !has("content-type") && !body.is_empty() {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    // A server that refuses early closes while the rest is still being sent.
    let _ = stream.write_all(body);
    let mut received = Vec::new();
    let _ = stream.read_to_end(&mut received);
    Ok(received)
}

fn parsed(received: &[u8]) -> Option<Answer> {
    let end = received.windows(4).position(|part| part == b"\r\n\r\n")?;
    let headers = String::from_utf8(received[..end].to_vec()).unwrap();
    let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
    let mut answer = Answer { status, headers, body: received[end + 4..].to_vec() };
    if answer.header("transfer-encoding") == Some("chunked") {
        answer.body = unchunked(&answer.body);
    }
    Some(answer)
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|part| part == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
    body
}
