//! `memory-spine store` and `memory-spine search`.

use std::io::Read;

use serde_json::{Value, json};
use spine_client::{Memory, MemoryFilter};

use super::Failure;
use super::body::{json_or_text, pairs, with, without_nulls};
use crate::cli::{Details, Search, Store, WhichMemories};
use crate::terminal::{Screen, Tone, foreign_line};

const LINE_CHARS_MAX: usize = 160;
const STANDARD: &str = "-";

/// Stores one.
pub async fn store(arguments: &Store) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let body = with(details(&arguments.details)?, "content", content(arguments.text.as_deref())?);
    let body = with(body, "pinned", arguments.pin);
    let stored = client.store(&with(body, "author", arguments.author.clone())).await?;
    Screen::new(arguments.connection.json)
        .show(&stored, |screen| screen.say(&stored_line(&stored)));
    Ok(())
}

/// What was said of a memory beside its text, for storing or changing it.
pub fn details(details: &Details) -> Result<Value, Failure> {
    let metadata = pairs(&details.metadata, "--meta NAME=VALUE", json_or_text)?;
    let metadata = (!metadata.is_empty()).then_some(metadata);
    let tags = (!details.tags.is_empty()).then_some(&details.tags);
    Ok(without_nulls(json!({
        "title": details.title, "summary": details.summary, "kind": details.kind, "tags": tags,
        "priority": details.priority, "thread": details.thread, "subject": details.subject,
        "occurred_at": details.occurred_at, "metadata": metadata, "ttl": details.ttl,
    })))
}

fn stored_line(stored: &Memory) -> String {
    match stored.duplicate {
        Some(true) => format!("{} was there already: nothing new was stored", stored.id),
        _ => format!("{} stored", stored.id),
    }
}

/// A text as it was typed, else standard input.
pub fn content(text: Option<&str>) -> Result<String, Failure> {
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
    let body = with(serde_json::to_value(filter(&arguments.filter))?, "query", &*arguments.query);
    let body = with(with(body, "limit", arguments.limit), "explain", arguments.explain);
    let found = client.search(&body).await?;
    Screen::new(arguments.connection.json).show(&found, |screen| show_found(screen, &found));
    Ok(())
}

/// Which memories are meant.
pub fn filter(which: &WhichMemories) -> MemoryFilter {
    let WhichMemories { tags, kinds, author, thread, subject, since, until, pinned } =
        which.clone();
    let (about_from, about_before, pinned) = (since, until, pinned.then_some(true));
    MemoryFilter { thread, subject, kinds, tags, author, about_from, about_before, pinned }
}

fn show_found(screen: &Screen, found: &Value) {
    let hits = members(found, "hits");
    if hits.is_empty() {
        screen.say("nothing was found");
    }
    hits.iter().for_each(|hit| show_hit(screen, hit));
    for lack in members(found, "degraded").iter().filter_map(Value::as_str) {
        let said = format!("searched without {}", foreign_line(lack, LINE_CHARS_MAX));
        screen.say(&screen.paint(Tone::Odd, &said));
    }
}

fn members<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn show_hit(screen: &Screen, hit: &Value) {
    let text = |pointer: &str| hit.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let title = foreign_line(text("/memory/title"), LINE_CHARS_MAX);
    let head = format!("{}  {:.2}  {title}", text("/memory/id"), figure(hit, "score"));
    screen.say(&screen.paint(Tone::Strong, head.trim_end()));
    screen.say(&format!("    {}", foreign_line(text("/memory/content"), LINE_CHARS_MAX)));
    let part = |part: &Value| {
        let name = part.get("name").and_then(Value::as_str)?;
        let adds = figure(part, "adds");
        (adds != 0.0).then(|| format!("{} {adds:+.2}", foreign_line(name, LINE_CHARS_MAX)))
    };
    let parts: Vec<String> = members(hit, "parts").iter().filter_map(part).collect();
    if !parts.is_empty() {
        screen.say(&format!("    {}", parts.join(" · ")));
    }
}

fn figure(of: &Value, name: &str) -> f64 {
    of.get(name).and_then(Value::as_f64).unwrap_or(0.0)
}
