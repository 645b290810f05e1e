//! A server that answers as a test wants, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use spine_outbound::{Outbound, OutboundErrorKind, OutboundOptions};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// What the stand-in does with a request.
pub enum Reply {
    /// These bytes, and the connection stays open.
    Bytes(Vec<u8>),
    /// These bytes again and again, until the other side has enough.
    Endless { head: Vec<u8>, piece: Vec<u8> },
    /// These bytes and the end of the connection.
    Broken(Vec<u8>),
}

/// A complete answer.
pub fn answer(status: &str, headers: &[&str], body: &str) -> Reply {
    let mut text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    headers.iter().for_each(|header| text.push_str(&format!("{header}\r\n")));
    Reply::Bytes(format!("{text}\r\n{body}").into_bytes())
}

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub struct Asked {
    pub head: String,
    pub body: Vec<u8>,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = self.head.lines().filter_map(|line| line.split_once(": "));
        named.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub struct StandIn {
    pub port: u16,
    pub connections: Arc<Mutex<usize>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

type Answering = dyn Fn(&Asked, usize) -> Reply + Send + Sync;

impl StandIn {
    /// Answers by the request and its number, from 0.
    pub async fn start(reply: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> StandIn {
        Self::listen(None, reply).await
    }

    pub async fn listen(
        tls: Option<TlsAcceptor>,
        reply: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static,
    ) -> StandIn {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let stand_in = Self { port, connections: Arc::default(), asked: Arc::default() };
        let (connections, asked) = (Arc::clone(&stand_in.connections), Arc::clone(&stand_in.asked));
        let reply: Arc<Answering> = Arc::new(reply);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *connections.lock().unwrap() += 1;
                let (tls, asked, reply) = (tls.clone(), Arc::clone(&asked), Arc::clone(&reply));
                tokio::spawn(async move {
                    match tls {
                        None => converse(stream, &asked, &*reply).await,
                        // A client that does not trust us leaves during the handshake.
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => converse(stream, &asked, &*reply).await,
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        stand_in
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    asked: &Mutex<Vec<Asked>>,
    reply: &Answering,
) -> Option<()> {
    loop {
        let request = read_request(&mut stream).await?;
        let number = {
            let mut asked = asked.lock().unwrap();
            asked.push(request.clone());
            asked.len() - 1
        };
        match reply(&request, number) {
            Reply::Bytes(bytes) => stream.write_all(&bytes).await.ok()?,
            Reply::Endless { head, piece } => {
                stream.write_all(&head).await.ok()?;
                loop {
                    stream.write_all(&piece).await.ok()?;
                }
            }
            Reply::Broken(bytes) => {
                stream.write_all(&bytes).await.ok()?;
                return stream.shutdown().await.ok();
            }
        }
    }
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<Asked> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let mut asked = Asked { head: String::from_utf8(head).ok()?, body: Vec::new() };
    let length = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
    asked.body = vec![0; length];
    stream.read_exact(&mut asked.body).await.ok()?;
    Some(asked)
}

/// One that may reach this machine.
pub fn local() -> OutboundOptions {
    OutboundOptions { allow_private: true, ..OutboundOptions::default() }
}

pub fn outbound(options: OutboundOptions) -> Outbound {
    Outbound::new(options).unwrap()
}

/// How a post of `{}` ends: a status, or a kind of failure.
pub async fn post(outbound: &Outbound, url: &str) -> Result<u16, OutboundErrorKind> {
    let answer = outbound.post_json(url, &serde_json::json!({}), &[]).await;
    answer.map(|answer| answer.status).map_err(|error| error.kind())
}
