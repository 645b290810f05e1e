//! `memory-spine memories`.

use serde_json::{Value, json};
use spine_client::{Client, ClientError, Memory};

use super::Failure;
use super::body::{with, without_nulls};
use super::each::each;
use super::memory::{content, details, filter};
use crate::cli::{Details, Forgotten, Memories, MemoriesStep};
use crate::terminal::{Screen, Table, Tone, foreign, foreign_line};

const LINE_CHARS_MAX: usize = 80;
/// More than a memory ever has.
const VERSIONS_MAX: usize = 1_000_000;
/// What is said of a memory beside its id and its texts, in this order, where there is something to say.
const FIELDS: [&str; 12] = [
    "kind",
    "priority",
    "pinned",
    "tags",
    "author",
    "thread",
    "subject",
    "occurred_at",
    "created_at",
    "updated_at",
    "expires_at",
    "metadata",
];

/// Does what was asked.
pub async fn run(arguments: &Memories) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let screen = Screen::new(arguments.connection.json);
    match &arguments.step {
        MemoriesStep::List { filter: which, oldest, limit } => {
            let order = if *oldest { "oldest" } else { "newest" };
            let listed = client.memories(&filter(which), order).take(*limit as usize).await?;
            show_list(screen, &listed, "there are none");
            Ok(())
        }
        MemoriesStep::Show { id, version } => {
            let memory = client.memory(id, *version).await?;
            screen.show(&memory, |screen| show_one(screen, &memory));
            Ok(())
        }
        MemoriesStep::Versions { id } => {
            let versions = client.memory_versions(id).take(VERSIONS_MAX).await?;
            show_list(screen, &versions, "no version is left");
            Ok(())
        }
        MemoriesStep::Update { id, text, details, cleared, if_version } => {
            let changes = changes(text.as_deref(), details, cleared)?;
            let memory = client.update_memory(id, &changes, *if_version).await?;
            screen.show(&memory, |screen| screen.say(&state_line(&memory)));
            Ok(())
        }
        MemoriesStep::Pin { ids } => {
            set_pins(screen, ids, async |id| client.pin_memory(id).await).await
        }
        MemoriesStep::Unpin { ids } => {
            set_pins(screen, ids, async |id| client.unpin_memory(id).await).await
        }
        MemoriesStep::Delete { ids, purge } => delete(&client, screen, ids, *purge).await,
        MemoriesStep::Erase { what, why, dry_run } => {
            erase(&client, screen, what, why, *dry_run).await
        }
    }
}

fn show_list(screen: Screen, memories: &[Memory], otherwise: &str) {
    screen.show(&json!({"memories": memories}), |screen| {
        if memories.is_empty() {
            return screen.say(otherwise);
        }
        let mut table = Table::new(&["MEMORY", "VERSION", "KIND", "AUTHOR", "WRITTEN", "TEXT"]);
        for memory in memories {
            let field = |name| foreign_line(&said(memory, name), LINE_CHARS_MAX);
            let line = memory.title.as_deref().unwrap_or(&memory.content);
            let (id, version) = (memory.id.to_string(), memory.version.to_string());
            let line = foreign_line(line, LINE_CHARS_MAX);
            table.row([id, version, field("kind"), field("author"), field("updated_at"), line]);
        }
        screen.say(&table.text());
    });
}

fn show_one(screen: &Screen, memory: &Memory) {
    let title = foreign_line(memory.title.as_deref().unwrap_or_default(), LINE_CHARS_MAX);
    let head = format!("{}  version {}  {title}", memory.id, memory.version);
    screen.say(&screen.paint(Tone::Strong, head.trim_end()));
    for (name, value) in FIELDS.map(|name| (name, said(memory, name))) {
        if !value.is_empty() {
            screen.say(&format!("  {name:<11}  {}", foreign(&value)));
        }
    }
    screen.say("");
    screen.say(&foreign(&memory.content));
    let summary = said(memory, "summary");
    if !summary.is_empty() {
        screen.say(&format!("\nSummary: {}", foreign(&summary)));
    }
}

/// A field as one reads it; nothing where it says nothing.
fn said(memory: &Memory, name: &str) -> String {
    match memory.more.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(true)) => "yes".to_owned(),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        Some(Value::Object(members)) if !members.is_empty() => json!(members).to_string(),
        _ => String::new(),
    }
}

fn state_line(memory: &Memory) -> String {
    let pinned = if said(memory, "pinned").is_empty() { "" } else { ", pinned" };
    format!("{} is at version {}{pinned}", memory.id, memory.version)
}

fn changes(text: Option<&str>, given: &Details, cleared: &[String]) -> Result<Value, Failure> {
    let text = text.map(|text| content(Some(text))).transpose()?;
    let changes = details(given)?;
    let changes = if let Some(text) = text { with(changes, "content", text) } else { changes };
    Ok(cleared.iter().fold(changes, |changes, name| with(changes, name, emptied(name))))
}

fn emptied(name: &str) -> Value {
    match name {
        "tags" => json!([]),
        "metadata" => json!({}),
        _ => Value::Null,
    }
}

async fn set_pins(
    screen: Screen,
    ids: &[String],
    set: impl AsyncFn(&str) -> Result<Memory, ClientError>,
) -> Result<(), Failure> {
    let show = |set: &[Memory]| {
        screen.show(&json!({"memories": set}), |screen| {
            set.iter().for_each(|memory| screen.say(&state_line(memory)));
        });
    };
    each(ids, set, show).await
}

async fn delete(
    client: &Client,
    screen: Screen,
    ids: &[String],
    purge: bool,
) -> Result<(), Failure> {
    let delete = async |id: &str| match purge {
        true => client.purge_memory(id).await,
        false => client.delete_memory(id).await,
    };
    let show = |gone: &[Value]| {
        screen.show(&json!({"deleted": gone}), |screen| {
            for mark in gone {
                let text = |name| mark.get(name).and_then(Value::as_str).unwrap_or_default();
                screen.say(&format!("{} is {}", text("id"), text("reason")));
            }
        });
    };
    each(ids, delete, show).await
}

async fn erase(
    client: &Client,
    screen: Screen,
    what: &Forgotten,
    why: &str,
    dry_run: bool,
) -> Result<(), Failure> {
    let body = without_nulls(json!({
        "subject": what.subject, "memory": what.memory, "reason": why, "dry_run": dry_run,
    }));
    let erased = client.erase(&body).await?;
    screen.show(&erased, |screen| {
        let counts = ["memories", "envelopes", "lineages", "deliveries"]
            .map(|name| format!("{} {name}", erased.get(name).unwrap_or(&Value::Null)));
        let done = if dry_run { "would be erased" } else { "erased" };
        screen.say(&format!("{done}: {}", counts.join(" · ")));
    });
    Ok(())
}
