//! A handoff on Redis Streams: XADD of 4 KB, XREADGROUP, XACK.

use std::future::Future;
use std::pin::Pin;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::{Outcome, QUEUES};

const ENVELOPE_BYTES: usize = 4_096;
const GROUP: &str = "g";

/// What Redis answers, as far as this needs it.
#[derive(Debug)]
enum Reply {
    Text(String),
    List(Vec<Reply>),
    Nothing,
}

impl Reply {
    /// The first entry id in an answer to XREADGROUP.
    fn entry(&self) -> Option<&str> {
        match self {
            Self::Text(text)
                if text.contains('-') && text.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                Some(text)
            }
            Self::List(items) => items.iter().find_map(Self::entry),
            Self::Text(_) | Self::Nothing => None,
        }
    }
}

struct Connection(BufReader<TcpStream>);

impl Connection {
    async fn open(port: u16) -> Outcome<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    async fn ask(&mut self, words: &[&str]) -> Outcome<Reply> {
        let mut request = format!("*{}\r\n", words.len());
        words.iter().for_each(|word| request.push_str(&format!("${}\r\n{word}\r\n", word.len())));
        self.0.get_mut().write_all(request.as_bytes()).await?;
        self.reply().await
    }

    fn reply(&mut self) -> Pin<Box<dyn Future<Output = Outcome<Reply>> + Send + '_>> {
        Box::pin(async move {
            let mut line = String::new();
            self.0.read_line(&mut line).await?;
            let (kind, rest) =
                line.trim_end().split_at_checked(1).ok_or("Redis closed the connection")?;
            match (kind, rest) {
                ("-", said) => Err(said.to_owned().into()),
                ("$" | "*", "-1") => Ok(Reply::Nothing),
                ("$", bytes) => self.text(bytes.parse()?).await,
                ("*", count) => self.list(count.parse()?).await,
                (_, said) => Ok(Reply::Text(said.to_owned())),
            }
        })
    }

    async fn text(&mut self, bytes: usize) -> Outcome<Reply> {
        let mut text = vec![0; bytes + 2];
        self.0.read_exact(&mut text).await?;
        text.truncate(bytes);
        Ok(Reply::Text(String::from_utf8(text)?))
    }

    async fn list(&mut self, count: usize) -> Outcome<Reply> {
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.reply().await?);
        }
        Ok(Reply::List(items))
    }
}

/// Has a stream of which it reads its part.
pub struct Worker {
    redis: Connection,
    stream: String,
    name: String,
    envelope: String,
}

impl Worker {
    async fn connect(port: u16, number: usize) -> Outcome<Self> {
        let mut redis = Connection::open(port).await?;
        let stream = format!("bench-load-{}", number % QUEUES);
        if number < QUEUES {
            redis.ask(&["XGROUP", "CREATE", &stream, GROUP, "$", "MKSTREAM"]).await?;
        }
        let (name, envelope) = (format!("worker-{number}"), "e".repeat(ENVELOPE_BYTES));
        Ok(Self { redis, stream, name, envelope })
    }
}

impl crate::Worker for Worker {
    async fn prepare(port: u16, count: usize) -> Outcome<Vec<Self>> {
        let mut workers = Vec::new();
        for number in 0..count {
            workers.push(Self::connect(port, number).await?);
        }
        Ok(workers)
    }

    async fn cycle(&mut self) -> Outcome<()> {
        let Self { redis, stream, name, envelope } = self;
        redis.ask(&["XADD", stream, "*", "envelope", envelope]).await?;
        let read = [
            "XREADGROUP",
            "GROUP",
            GROUP,
            name,
            "COUNT",
            "1",
            "BLOCK",
            "10000",
            "STREAMS",
            stream,
            ">",
        ];
        let got = redis.ask(&read).await?;
        let id = got.entry().ok_or("nothing came though as many were sent as were taken")?;
        redis.ask(&["XACK", stream, GROUP, id]).await?;
        Ok(())
    }
}
