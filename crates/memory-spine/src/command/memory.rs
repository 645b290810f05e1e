//! `memory-spine store` and `memory-spine search`.

use std::io::Read;

use serde_json::{Value, json};
use spine_client::Memory;

use super::Failure;
use super::body::without_nulls;
use crate::cli::{Search, Store};
use crate::terminal::{Screen, Tone, foreign_line};

const LINE_CHARS_MAX: usize = 160;
const STANDARD: &str = "-";

/// Stores one.
pub async fn store(arguments: &Store) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let content = text_or_input(arguments.text.as_deref())?;
    let stored = client.store(&body(arguments, &content)).await?;
    Screen::new(arguments.connection.json)
        .show(&stored, |screen| screen.say(&stored_line(&stored)));
    Ok(())
}

fn body(arguments: &Store, content: &str) -> Value {
    without_nulls(json!({
        "content": content, "title": arguments.title, "summary": arguments.summary, "kind": arguments.kind,
        "tags": arguments.tags, "priority": arguments.priority, "pinned": arguments.pin,
        "thread": arguments.thread, "subject": arguments.subject, "ttl": arguments.ttl,
    }))
}

fn stored_line(stored: &Memory) -> String {
    match stored.duplicate {
        Some(true) => format!("{} was there already: nothing new was stored", stored.id),
        _ => format!("{} stored", stored.id),
    }
}

fn text_or_input(text: Option<&str>) -> Result<String, Failure> {
    match text {
        Some(text) if text != STANDARD => Ok(text.to_owned()),
        _ => {
            let mut read = String::new();
            std::io::stdin().read_to_string(&mut read)?;
            Ok(read)
        }
    }
}

/// Finds some.
pub async fn search(arguments: &Search) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let body = without_nulls(json!({
        "query": arguments.query, "limit": arguments.limit, "tags": arguments.tags,
        "thread": arguments.thread, "subject": arguments.subject, "explain": arguments.explain,
    }));
    let found = client.search(&body).await?;
    Screen::new(arguments.connection.json).show(&found, |screen| show_hits(screen, &found));
    Ok(())
}

fn show_hits(screen: &Screen, found: &Value) {
    let hits = found.get("hits").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if hits.is_empty() {
        screen.say("nothing was found");
    }
    for hit in hits {
        let text = |pointer: &str| hit.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let score = hit.get("score").and_then(Value::as_f64).unwrap_or(0.0);
        let title = foreign_line(text("/memory/title"), LINE_CHARS_MAX);
        let head = format!("{}  {score:.2}  {title}", text("/memory/id"));
        screen.say(&screen.paint(Tone::Strong, head.trim_end()));
        screen.say(&format!("    {}", foreign_line(text("/memory/content"), LINE_CHARS_MAX)));
    }
}
