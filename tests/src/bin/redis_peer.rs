//! The load of `memory-spine bench load` on Redis Streams: XADD of 4 KB, XREADGROUP, XACK, by as many at once.
//! Arguments: the port, how many at once, seconds. Prints one line of JSON.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const STREAMS: usize = 16;
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

async fn work(port: u16, number: usize, until: Instant) -> Outcome<u64> {
    let mut redis = Connection::open(port).await?;
    let (stream, me) = (format!("bench-load-{}", number % STREAMS), format!("worker-{number}"));
    let envelope = "e".repeat(ENVELOPE_BYTES);
    let mut cycles = 0;
    while Instant::now() < until {
        redis.ask(&["XADD", &stream, "*", "envelope", &envelope]).await?;
        let read = [
            "XREADGROUP",
            "GROUP",
            GROUP,
            &me,
            "COUNT",
            "1",
            "BLOCK",
            "10000",
            "STREAMS",
            &stream,
            ">",
        ];
        let got = redis.ask(&read).await?;
        let id = got.entry().ok_or("nothing came though as many were sent as were taken")?;
        redis.ask(&["XACK", &stream, GROUP, id]).await?;
        cycles += 1;
    }
    Ok(cycles)
}

async fn measure(port: u16, concurrency: usize, seconds: f64) -> Outcome<()> {
    let mut redis = Connection::open(port).await?;
    for number in 0..STREAMS {
        redis
            .ask(&["XGROUP", "CREATE", &format!("bench-load-{number}"), GROUP, "$", "MKSTREAM"])
            .await?;
    }
    let started = Instant::now();
    let until = started + Duration::from_secs_f64(seconds);
    let workers: Vec<_> =
        (0..concurrency).map(|number| tokio::spawn(work(port, number, until))).collect();
    let mut cycles = 0;
    for worker in workers {
        cycles += worker.await??;
    }
    let per_s = cycles as f64 / started.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({"handoffs": cycles, "handoffs_per_s": per_s, "concurrency": concurrency})
    );
    Ok(())
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("expected: PORT CONCURRENCY SECONDS");
    let (port, concurrency, seconds) = (next()?.parse()?, next()?.parse()?, next()?.parse()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(port, concurrency, seconds))
}
