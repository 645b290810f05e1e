//! `memory-spine trace` and `memory-spine verify`.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use spine_client::{Client, Delivery, Hop, State, Trace, Verification};

use super::Failure;
use crate::cli::OfEnvelope;
use crate::terminal::{Screen, Tone, foreign_line};

const LINE_CHARS_MAX: usize = 120;

/// The chain as a tree.
pub async fn trace(arguments: &OfEnvelope) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let trace = client.trace(&arguments.envelope).await?;
    Screen::new(arguments.connection.json).show(&trace, |screen| show_trace(screen, &trace));
    Ok(())
}

/// Whether nothing was altered.
pub async fn verify(arguments: &OfEnvelope) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let verified = client.verify(&arguments.envelope).await?;
    Screen::new(arguments.connection.json)
        .show(&verified, |screen| show_findings(screen, &verified));
    if verified.intact { Ok(()) } else { Err("the lineage is damaged".into()) }
}

fn show_findings(screen: &Screen, verified: &Verification) {
    let tone = if verified.intact { Tone::Good } else { Tone::Bad };
    let said = format!("{} envelopes: {}", verified.envelopes, verified.summary);
    screen.say(&screen.paint(tone, &said));
    for finding in &verified.findings {
        screen.say(&format!("  {}: {}", finding.id, foreign_line(&finding.detail, LINE_CHARS_MAX)));
    }
}

/// A task by its first envelope's id; for the demonstration as well.
pub async fn print_trace(
    client: &Client,
    screen: &Screen,
    envelope: &str,
) -> Result<Trace, Failure> {
    let trace = client.trace(envelope).await?;
    show_trace(screen, &trace);
    Ok(trace)
}

fn show_trace(screen: &Screen, trace: &Trace) {
    let head = format!(
        "{} · {} envelopes · {} deliveries",
        trace.root,
        trace.envelopes.len(),
        trace.deliveries.len()
    );
    screen.say(&screen.paint(Tone::Strong, &head));
    let roots: Vec<&Hop> = trace.envelopes.iter().filter(|hop| hop.parents.is_empty()).collect();
    for (index, hop) in roots.iter().enumerate() {
        show_hop(screen, trace, hop, "", index + 1 == roots.len());
    }
}

/// A join stands under its last parent, where everything that it joins is above it.
fn children<'a>(trace: &'a Trace, hop: &Hop) -> Vec<&'a Hop> {
    let is_child = |other: &&Hop| other.parents.last().is_some_and(|parent| parent.id == hop.id);
    trace.envelopes.iter().filter(is_child).collect()
}

fn show_hop(screen: &Screen, trace: &Trace, hop: &Hop, indent: &str, is_last: bool) {
    let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
    let below = format!("{indent}{below}");
    let head = format!("hop {}  {} → {}", hop.hop, hop.from, hop.target);
    let summary = foreign_line(&hop.task_summary, LINE_CHARS_MAX);
    screen.say(&format!("{indent}{branch}{}  {summary}", screen.paint(Tone::Strong, &head)));
    for line in facts(trace, hop) {
        screen.say(&format!("{below}{line}"));
    }
    for delivery in trace.deliveries.iter().filter(|delivery| delivery.envelope_id == hop.id) {
        show_delivery(screen, &below, delivery);
    }
    let children = children(trace, hop);
    for (index, child) in children.iter().enumerate() {
        show_hop(screen, trace, child, &below, index + 1 == children.len());
    }
}

fn facts(trace: &Trace, hop: &Hop) -> Vec<String> {
    let mut lines = vec![format!(
        "{}  {} of {} tokens, {} memories",
        hop.id,
        hop.token_count,
        hop.max_tokens,
        hop.memory_refs.len()
    )];
    let parents: Vec<&Hop> = trace
        .envelopes
        .iter()
        .filter(|other| hop.parents.iter().any(|parent| parent.id == other.id))
        .collect();
    if parents.len() > 1 {
        lines.push(format!("joins {} envelopes", parents.len()));
    }
    let mut list = |label: &str, items: Vec<String>| {
        if !items.is_empty() {
            lines.push(format!("{label} {}", items.join(", ")));
        }
    };
    list("adds memories", news(&parents, |hop| &hop.memory_refs, &hop.memory_refs));
    list("adds constraints", named(&news(&parents, |hop| &hop.constraints, &hop.constraints)));
    list("keeps constraints", kept(&parents, hop));
    list("waives", named(&news(&parents, |hop| &hop.waived, &hop.waived)));
    list("lacks", hop.gaps.iter().map(|gap| gap_line(&to_value(gap))).collect());
    if hop.trimmed_count > 0 {
        lines.push(format!("trimmed {}", hop.trimmed_count));
    }
    lines
}

fn to_value(item: &impl Serialize) -> Value {
    serde_json::to_value(item).unwrap_or_default()
}

/// What stands here and in no parent.
fn news<T: Serialize>(parents: &[&Hop], of: impl Fn(&Hop) -> &Vec<T>, here: &[T]) -> Vec<String> {
    let known: BTreeSet<String> = parents
        .iter()
        .flat_map(|hop| of(hop).iter().map(|item| to_value(item).to_string()))
        .collect();
    let shown = here.iter().map(|item| to_value(item).to_string());
    let fresh = shown.filter(|item| !known.contains(item));
    fresh.map(|item| item.trim_matches('"').to_owned()).collect()
}

/// Of documents with a name, the names and values.
fn named(items: &[String]) -> Vec<String> {
    let line = |item: &String| {
        let value: Value = serde_json::from_str(item).unwrap_or_default();
        let name = value.get("name").and_then(Value::as_str).unwrap_or("?").to_owned();
        let reason = value.get("reason").and_then(Value::as_str);
        let said = reason.map_or_else(
            || value.get("value").map(Value::to_string).unwrap_or_default(),
            |reason| format!("({reason})"),
        );
        foreign_line(&format!("{name} {said}"), LINE_CHARS_MAX)
    };
    items.iter().map(line).collect()
}

fn kept(parents: &[&Hop], hop: &Hop) -> Vec<String> {
    let was = |name: &str| {
        parents.iter().any(|parent| parent.constraints.iter().any(|c| c.name.as_str() == name))
    };
    let names = hop.constraints.iter().map(|constraint| constraint.name.as_str());
    names.filter(|name| was(name)).map(str::to_owned).collect()
}

fn gap_line(gap: &Value) -> String {
    let text = |name: &str| gap.get(name).and_then(Value::as_str).unwrap_or("?");
    foreign_line(&format!("{} ({})", text("ref"), text("reason")), LINE_CHARS_MAX)
}

fn show_delivery(screen: &Screen, indent: &str, delivery: &Delivery) {
    let tone = match delivery.state {
        State::Done => Tone::Good,
        State::Parked | State::Rejected | State::Cancelled => Tone::Bad,
        _ => Tone::Odd,
    };
    let state = screen.paint(tone, delivery.state.as_str());
    screen.say(&format!(
        "{indent}{} to {}: {state}{}",
        delivery.id,
        delivery.agent,
        times(delivery)
    ));
    for line in story(delivery) {
        screen.say(&format!("{indent}  {line}"));
    }
}

/// From sent to accepted, and on to the end.
fn times(delivery: &Delivery) -> String {
    let ms = |moment: &Option<spine_protocol::Timestamp>| {
        moment.as_ref().map(spine_protocol::Timestamp::unix_ms)
    };
    let Some(sent) = ms(&delivery.sent_at) else { return String::new() };
    let after = |label: &str, moment: Option<i64>| {
        moment.map(|at| format!(", {label} after {} ms", at - sent)).unwrap_or_default()
    };
    after("accepted", ms(&delivery.accepted_at)) + &after("ended", ms(&delivery.ended_at))
}

/// What happened on the way, as far as it was not as planned.
pub fn story(delivery: &Delivery) -> Vec<String> {
    let attempts = delivery.attempts.iter().map(|attempt| {
        let reason =
            attempt.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("attempt with {} ended {}{reason}", attempt.agent, attempt.outcome)
    });
    let parked = delivery.parked.iter().map(|parking| {
        format!(
            "parked, {}: {}",
            parking.cause,
            parking.reason.as_deref().unwrap_or("no reason given")
        )
    });
    let ending = delivery.ending.iter().filter_map(|ending| {
        let said =
            ending.question.as_ref().or(ending.reason.as_ref()).or(ending.action.as_ref())?;
        Some(format!("{}{said}", if ending.by_hand { "by hand: " } else { "" }))
    });
    attempts.chain(parked).chain(ending).map(|line| foreign_line(&line, LINE_CHARS_MAX)).collect()
}
