//! `memory-spine export` and `memory-spine import`: JSON Lines, one record a line, memories first.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use spine_client::{Ask, Client, ClientError, MemoryFilter};

use super::Failure;
use super::body::{with, without_nulls};
use crate::cli::{Export, Import};
use crate::terminal::{Progress, Screen};

/// What the first line of a file says.
const FORMAT: &str = "memory-spine-export";
/// Memories that are sent at once.
const BATCH_MEMORIES_MAX: usize = 200;
/// Their texts together; a request takes 8 MiB.
const BATCH_BYTES_MAX: usize = 2 * 1024 * 1024;
/// What a memory keeps when it is stored elsewhere.
const KEPT: &[&str] = &[
    "content",
    "title",
    "summary",
    "kind",
    "tags",
    "priority",
    "pinned",
    "author",
    "thread",
    "subject",
    "occurred_at",
    "metadata",
];

/// Writes everything down.
pub async fn export(arguments: &Export) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let mut output = output(arguments.file.as_deref())?;
    let mut progress = Progress::new();
    line(&mut output, &json!({"type": FORMAT, "version": 1}))?;
    let memories = export_memories(&client, &mut output, &mut progress).await?;
    let envelopes = export_envelopes(&client, &mut output, &mut progress).await?;
    output.flush()?;
    progress.end();
    eprintln!("{memories} memories and {envelopes} envelopes written");
    Ok(())
}

async fn export_memories(
    client: &Client,
    output: &mut impl Write,
    progress: &mut Progress,
) -> Result<usize, Failure> {
    let mut count = 0;
    let mut pages = client.memories(&MemoryFilter::default(), "oldest");
    while let Some(page) = pages.next::<Value>().await? {
        for memory in page {
            line(output, &json!({"type": "memory", "memory": memory}))?;
            count += 1;
        }
        progress.at(None, &format!("{count} memories"));
    }
    Ok(count)
}

/// In the order in which they were made, so that parents come first. One that was pruned since is left out.
async fn export_envelopes(
    client: &Client,
    output: &mut impl Write,
    progress: &mut Progress,
) -> Result<usize, Failure> {
    let (mut seen, mut count) = (BTreeSet::new(), 0);
    let mut pages = client.pages(Ask::get(&["audit"]), "events");
    while let Some(page) = pages.next::<Value>().await? {
        for event in page {
            let Some(id) = event.get("envelope").and_then(Value::as_str) else { continue };
            if !seen.insert(id.to_owned()) {
                continue;
            }
            match client.envelope(id).await {
                Ok(envelope) => line(output, &json!({"type": "envelope", "envelope": envelope}))?,
                Err(error) if error.is_not_found() => continue,
                Err(error) => return Err(error.into()),
            }
            count += 1;
            progress.at(None, &format!("{count} envelopes"));
        }
    }
    Ok(count)
}

fn line(output: &mut impl Write, record: &Value) -> std::io::Result<()> {
    writeln!(output, "{record}")
}

fn output(file: Option<&Path>) -> Result<Box<dyn Write>, Failure> {
    Ok(match file.filter(|file| *file != Path::new("-")) {
        None => Box::new(BufWriter::new(std::io::stdout())),
        Some(file) => {
            let made = File::create_new(file);
            Box::new(BufWriter::new(made.map_err(|error| format!("{}: {error}", file.display()))?))
        }
    })
}

/// What became of an import.
#[derive(Debug, Default, serde::Serialize)]
struct Imported {
    memories: usize,
    duplicates: usize,
    envelopes: usize,
    /// The new id of each memory, by its old one.
    ids: std::collections::BTreeMap<String, String>,
    /// Envelopes that the server refused, with its reason.
    refused: Vec<Value>,
}

/// Takes everything in. Doing it again changes nothing: what is there already is not stored again.
pub async fn import(arguments: &Import) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let (input, bytes) = input(arguments.file.as_deref())?;
    let mut importer =
        Importer { client, done: Imported::default(), batch: Vec::new(), batch_bytes: 0 };
    let (mut progress, mut read) = (Progress::new(), 0_u64);
    for (index, text) in input.lines().enumerate() {
        let text = text?;
        read += text.len() as u64 + 1;
        importer.take(&text).await.map_err(|failure| failure.at(&format!("line {}", index + 1)))?;
        let part = bytes.map(|bytes| read as f64 / bytes.max(1) as f64);
        progress.at(
            part,
            &format!("{} memories, {} envelopes", importer.done.memories, importer.done.envelopes),
        );
    }
    importer.flush().await?;
    progress.end();
    report(arguments, &importer.done)
}

fn report(arguments: &Import, done: &Imported) -> Result<(), Failure> {
    Screen::new(arguments.connection.json).show(done, |screen| {
        let Imported { memories, duplicates, envelopes, .. } = done;
        screen.say(&format!("{memories} memories ({duplicates} were there already) and {envelopes} envelopes taken in"));
    });
    match done.refused.len() {
        0 => Ok(()),
        count => {
            let first = done
                .refused
                .first()
                .and_then(|refused| refused.get("detail"))
                .and_then(Value::as_str);
            Err(format!("{count} envelopes were refused, the first one: {}", first.unwrap_or("?"))
                .into())
        }
    }
}

type Lines = Box<dyn BufRead>;

fn input(file: Option<&Path>) -> Result<(Lines, Option<u64>), Failure> {
    match file.filter(|file| *file != Path::new("-")) {
        None => Ok((Box::new(BufReader::new(std::io::stdin())), None)),
        Some(file) => {
            let said = |error: std::io::Error| format!("{}: {error}", file.display());
            let open = File::open(file).map_err(said)?;
            let bytes = open.metadata().map_err(said)?.len();
            Ok((Box::new(BufReader::new(open)), Some(bytes)))
        }
    }
}

struct Importer {
    client: Client,
    done: Imported,
    batch: Vec<(String, Value)>,
    batch_bytes: usize,
}

impl Importer {
    async fn take(&mut self, text: &str) -> Result<(), Failure> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let record: Value = serde_json::from_str(text)?;
        match record.get("type").and_then(Value::as_str) {
            Some(FORMAT) => Ok(()),
            Some("memory") => self.memory(record.get("memory").unwrap_or(&Value::Null), text.len()).await,
            Some("envelope") => self.envelope(record.get("envelope").unwrap_or(&Value::Null)).await,
            _ => Err("expected a record of type memory or envelope, as `memory-spine export` writes them".into()),
        }
    }

    async fn memory(&mut self, memory: &Value, bytes: usize) -> Result<(), Failure> {
        let Some(body) = stored_again(memory) else { return Ok(()) };
        let id = memory.get("id").and_then(Value::as_str).unwrap_or_default();
        self.batch.push((id.to_owned(), body));
        self.batch_bytes += bytes;
        if self.batch.len() >= BATCH_MEMORIES_MAX || self.batch_bytes >= BATCH_BYTES_MAX {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        let (ids, bodies): (Vec<String>, Vec<Value>) =
            std::mem::take(&mut self.batch).into_iter().unzip();
        self.batch_bytes = 0;
        if bodies.is_empty() {
            return Ok(());
        }
        let stored = self.client.store_many(&bodies).await?;
        self.done.memories += stored.len();
        self.done.duplicates +=
            stored.iter().filter(|memory| memory.duplicate == Some(true)).count();
        self.done
            .ids
            .extend(ids.into_iter().zip(stored.iter().map(|memory| memory.id.to_string())));
        Ok(())
    }

    async fn envelope(&mut self, envelope: &Value) -> Result<(), Failure> {
        self.flush().await?;
        let ask = Ask::post(&["envelopes"], &json!({"envelope": envelope}));
        match self.client.ask::<Value>(ask).await {
            Ok(_) => self.done.envelopes += 1,
            Err(ClientError::Refused(problem)) if problem.status < 500 => {
                let id = envelope.get("id").cloned().unwrap_or_default();
                self.done.refused.push(json!({"id": id, "detail": problem.detail}));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// What is sent for a memory; nothing for one that has expired since.
fn stored_again(memory: &Value) -> Option<Value> {
    let kept = |name: &&str| Some(((*name).to_owned(), memory.get(name)?.clone()));
    let mut body: Value = KEPT.iter().filter_map(kept).collect();
    if let Some(at) = memory.get("expires_at").and_then(Value::as_str) {
        let expires: spine_protocol::Timestamp = at.parse().ok()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_millis();
        let left = expires.unix_ms().checked_sub(i64::try_from(now).ok()?)?;
        if left <= 0 {
            return None;
        }
        body = with(body, "ttl", left as f64 / 1e3);
    }
    Some(without_nulls(body))
}
