//! What is tried again, with which key, and what is not. The server is a script of answers, one for each request.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use spine_client::{Ask, Client, ClientError, ClientOptions};

/// One request's answer; nothing closes the connection without a word.
type Script = Vec<Option<(u16, Value)>>;

/// Serves the script, and gives the requests' heads back.
fn serve(script: Script) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        script.into_iter().map(|answer| answer_one(listener.accept().unwrap().0, answer)).collect()
    });
    (endpoint, serving)
}

fn answer_one(mut stream: TcpStream, answer: Option<(u16, Value)>) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    if let Some((status, body)) = answer {
        let body = body.to_string();
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
    }
    String::from_utf8(head).unwrap()
}

fn key(head: &str) -> Option<&str> {
    head.lines().find_map(|line| line.strip_prefix("idempotency-key: "))
}

fn problem(status: u16, kind: &str, retry_after_s: u64) -> Option<(u16, Value)> {
    let body = json!({"type": format!("/errors/{kind}"), "title": "t", "status": status, "detail": "what to do", "retry_after_s": retry_after_s});
    Some((status, body))
}

/// Asks once against a script; gives the answer and how many requests it took, all with one key.
async fn check(script: Script, ask: Ask) -> (Result<Value, ClientError>, usize) {
    let (endpoint, serving) = serve(script);
    let options =
        ClientOptions { endpoint, timeout: Duration::from_secs(10), ..ClientOptions::default() };
    let answer = Client::new(options).unwrap().ask::<Value>(ask).await;
    let heads = serving.join().unwrap();
    let keys: Vec<_> = heads.iter().map(|head| key(head)).collect();
    assert!(keys.windows(2).all(|pair| pair[0] == pair[1]), "{keys:?}");
    (answer, heads.len())
}

#[tokio::test]
async fn a_lost_answer_is_asked_for_again_with_the_same_key() {
    let ok = Some((201, json!({"id": 1})));
    let ask = Ask::post(&["memories"], &json!({}));
    let (answer, requests) = check(vec![None, problem(503, "unavailable", 0), ok], ask).await;
    assert_eq!((answer.unwrap(), requests), (json!({"id": 1}), 3));
}

#[tokio::test]
async fn an_open_circuit_is_the_senders_to_decide() {
    let ask = Ask::post(&["handoffs"], &json!({}));
    let (answer, requests) = check(vec![problem(503, "circuit-open", 1)], ask).await;
    let error = answer.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str(), requests),
        (Some("circuit-open"), "what to do", 1)
    );
}

#[tokio::test]
async fn work_is_asked_for_once() {
    let ask = Ask::post(&["agents", "coder", "receive"], &json!({})).once();
    let (answer, requests) = check(vec![None], ask).await;
    assert!(matches!(answer, Err(ClientError::Unreachable { .. })) && requests == 1, "{answer:?}");
}

#[tokio::test]
async fn a_refusal_is_typed_and_final() {
    let ask = Ask::get(&["memories", "ms-1"]);
    let (answer, requests) = check(vec![problem(404, "not-found", 0)], ask).await;
    assert!(answer.unwrap_err().is_not_found() && requests == 1);
}
