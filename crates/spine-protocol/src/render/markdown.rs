//! Markdown, the default.

use super::inert::{fenced, quoted};
use super::phrases::counted;
use super::view::*;
use super::{Part, Piece};
use crate::envelope::Detail;

pub(super) fn pieces(view: &View) -> Vec<Piece> {
    let mut pieces = vec![
        Piece::new(Part::Frame, header(&view.handoff)),
        Piece::new(Part::Task, task(&view.task)),
        Piece::new(Part::Constraints, constraints(view)),
        Piece::new(Part::Intent, intent(&view.user_request)),
        Piece::new(Part::History, history(&view.done)),
        Piece::new(
            Part::ExpectedOutput,
            view.expected_output.as_ref().map_or_else(String::new, expected),
        ),
    ];
    if !view.memories.is_empty() {
        pieces.push(Piece::new(Part::Frame, format!("## Memories\n\n{DATA_NOT_ORDERS}\n\n")));
    }
    pieces.extend(view.memories.iter().map(|m| Piece::new(Part::Memory(m.id), memory(m))));
    pieces.push(Piece::new(Part::Missing, missing(&view.not_included)));
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

fn header(header: &Header) -> String {
    let Header { from, to, hop, max_hops, priority, made_at, .. } = header;
    let about = header.about.as_ref().map_or_else(String::new, |about| format!(" · about {about}"));
    let overdue = header
        .overdue
        .as_ref()
        .map_or_else(String::new, |late| format!("**Overdue:** {late}.\n\n"));
    format!(
        "# Handoff from {from} to {to}\n\nHop {hop} of {max_hops} · priority {priority} · made {made_at}{about}\n\n{overdue}"
    )
}

fn task(task: &TaskView) -> String {
    let mut text = format!("## Your task\n\n{}\n", quoted(&task.summary));
    text += &list("Still to do:", &task.remaining, |item| item.clone());
    text += &list("Questions:", &task.questions, |q| match &q.answer {
        None => format!("{} (open)", q.question),
        Some(answer) => format!("{} Answer: {answer}", q.question),
    });
    text
}

fn constraints(view: &View) -> String {
    let mut text = String::new();
    if !view.constraints.is_empty() {
        text += "## Constraints you must keep\n\n";
        text += &list("", &view.constraints, |c| {
            let alone = if c.for_you_alone { ", for you alone" } else { "" };
            format!("{}: {} (set by {}{alone})", c.name, c.value, c.set_by)
        });
    }
    if !view.waived.is_empty() {
        text += "## Constraints waived on the way\n\n";
        text += &list("", &view.waived, |w| {
            let force =
                if w.still_in_force { " (still in force: another branch carries it)" } else { "" };
            format!(
                "{}: {}, waived by {} at hop {}: {}{force}",
                w.name, w.value, w.by, w.at_hop, w.reason
            )
        });
    }
    text
}

fn intent(request: &UserRequest) -> String {
    let note = if request.taken_from_first_summary {
        "Taken from the first handoff's summary.\n\n"
    } else {
        ""
    };
    format!(
        "## The user's request, word for word\n\n{note}{}\n",
        fenced("user-request", &request.words)
    )
}

fn history(done: &Done) -> String {
    if done.is_empty() {
        return String::new();
    }
    let mut text = "## What was done, and why\n\n".to_owned();
    text += &shown("Steps:", "earlier step", &done.steps, |s| {
        let memory = s.memory.map_or_else(String::new, |id| format!(" [{id}]"));
        format!("hop {}, {}: {}{memory}{}", s.hop, s.agent, s.action, because(&s.why))
    });
    text += &shown("Progress:", "earlier note", &done.progress, |note| note.clone());
    text += &shown("Decisions:", "earlier decision", &done.decisions, |d| {
        let by = d.by.as_ref().map_or_else(String::new, |by| format!(" (by {by})"));
        format!("{}{by}{}", d.what, because(&d.why))
    });
    text
}

fn because(why: &Option<String>) -> String {
    why.as_ref().map_or_else(String::new, |why| format!(" — why: {why}"))
}

fn expected(output: &ExpectedView) -> String {
    let format = output.format.iter().map(|format| format!("Format: {format}"));
    let length = output.length.iter().map(|length| format!("Length: {length}"));
    let criteria = output.criteria.iter().map(|criterion| format!("Must hold: {criterion}"));
    let points: Vec<String> = format.chain(length).chain(criteria).collect();
    let schema = output.schema.as_ref().map_or_else(String::new, |schema| {
        format!(
            "The result must fit this JSON Schema:\n\n{}\n",
            fenced("json", &schema.to_string())
        )
    });
    format!("## What to give back\n\n{}{schema}", list("", &points, |point| point.clone()))
}

pub(super) fn memory(memory: &MemoryView) -> String {
    let title = memory.title.as_ref().map_or_else(String::new, |title| format!(": {title}"));
    let by = memory.by.as_ref().map_or_else(String::new, |by| format!(" · by {by}"));
    let about = memory.about.as_ref().map_or_else(String::new, |about| format!(" · about {about}"));
    let MemoryView { id, version, age, .. } = memory;
    let detail = match memory.detail {
        Detail::Full => "full text",
        Detail::Summary => "summary",
        Detail::Ref => "reference only",
    };
    let content = match &memory.text {
        Some(text) => format!("\n{}", fenced(&format!("memory {id}"), text)),
        None if memory.erased => "Its text was erased.\n".to_owned(),
        None => String::new(),
    };
    format!("### {id}{title}\n\n{detail} · version {version} · {age} old{by}{about}\n{content}\n")
}

fn missing(missing: &Missing) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let mut text = "## Not included\n\n".to_owned();
    text += &shown("Missing:", "more missing", &missing.gaps, |gap| {
        format!("{}: {}", gap.reference, gap.reason)
    });
    text += &shown(
        "Shortened or left out:",
        "more shortened or left out",
        &missing.shortened,
        |item| format!("{}: {} → {} ({})", item.id, item.from, item.to, item.reason),
    );
    text += &list("Redacted:", &missing.redacted, |r| format!("{}: {}", r.place, r.kind));
    text + missing.how_to_fetch + "\n"
}

fn list<T>(heading: &str, items: &[T], line: impl Fn(&T) -> String) -> String {
    if items.is_empty() {
        return String::new();
    }
    let heading = if heading.is_empty() { String::new() } else { format!("{heading}\n") };
    let lines: String = items.iter().map(|item| format!("- {}\n", line(item))).collect();
    format!("{heading}{lines}\n")
}

fn shown<T>(heading: &str, noun: &str, items: &Shown<T>, line: impl Fn(&T) -> String) -> String {
    if items.is_empty() {
        return String::new();
    }
    let lines: String = items.shown.iter().map(|item| format!("- {}\n", line(item))).collect();
    let count = match items.not_shown {
        0 => String::new(),
        1 => format!("- (1 {noun})\n"),
        n if noun.starts_with("more") => format!("- ({n} {noun})\n"),
        n => format!("- ({})\n", counted(n.into(), noun)),
    };
    // What is left out is older than what is shown, or comes after it.
    if noun.starts_with("more") {
        format!("{heading}\n{lines}{count}\n")
    } else {
        format!("{heading}\n{count}{lines}\n")
    }
}
