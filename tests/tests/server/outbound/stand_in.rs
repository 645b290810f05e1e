//! Somebody who is called: answers as a test wants, and tells the test what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use spine_outbound::{Message, WebhookSecret, verify};

use super::SECRET;

/// Longer than anything takes that is not broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Asked {
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or_else(|| panic!("no {name} in {:?}", self.headers), |(_, value)| value)
    }

    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// As a receiver checks it: by this secret, and of this moment. Gives the message's id.
    #[track_caller]
    pub fn checked_id(&self) -> String {
        let id = self.header("webhook-id");
        let timestamp_s = self.header("webhook-timestamp").parse().unwrap();
        let message = Message { id, timestamp_s, body: &self.body };
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let secret = WebhookSecret::parse(SECRET).unwrap();
        verify(&secret, message, self.header("webhook-signature"), now_s).unwrap();
        id.to_owned()
    }
}

/// What it answers: a status line's end, and a body.
pub struct Reply(pub &'static str, pub String);

impl Reply {
    pub fn empty(status: &'static str) -> Self {
        Self(status, String::new())
    }

    pub fn json(status: &'static str, body: Value) -> Self {
        Self(status, body.to_string())
    }
}

type Answering = dyn Fn(&Asked, usize) -> Reply + Send + Sync;

pub struct StandIn {
    pub port: u16,
    asked: Receiver<Asked>,
}

impl StandIn {
    /// Answers by the request and its number, from 0. Each connection has a thread: an answer may wait.
    pub fn start(reply: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (told, asked) = channel();
        let (reply, number): (Arc<Answering>, _) = (Arc::new(reply), Arc::new(AtomicUsize::new(0)));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (reply, told, number) = (reply.clone(), told.clone(), number.clone());
                std::thread::spawn(move || converse(stream, &*reply, &told, &number));
            }
        });
        Self { port, asked }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The next request, which must come within a while.
    #[track_caller]
    pub fn next(&self) -> Asked {
        self.asked.recv_timeout(PATIENCE).expect("nobody called")
    }

    /// What came and was not looked at.
    pub fn rest(&self) -> Vec<Asked> {
        self.asked.try_iter().collect()
    }
}

fn converse(
    stream: TcpStream,
    reply: &Answering,
    told: &Sender<Asked>,
    number: &AtomicUsize,
) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let asked = read_request(&mut reader)?;
        let number = number.fetch_add(1, Ordering::SeqCst);
        let _ = told.send(asked.clone());
        let Reply(status, body) = reply(&asked, number);
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        reader.get_mut().write_all(answer.as_bytes()).ok()?;
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let named = lines.iter().skip(1).filter_map(|line| line.split_once(": "));
    let headers = named.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut asked = Asked { path, headers, body: Vec::new() };
    let length =
        if asked.has_header("content-length") { asked.header("content-length") } else { "0" };
    asked.body = vec![0; length.parse().ok()?];
    reader.read_exact(&mut asked.body).ok()?;
    Some(asked)
}
