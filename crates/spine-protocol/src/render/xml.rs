//! XML-tagged text: well formed, so that any parser can take it apart again.

use super::inert::{attribute, escaped};
use super::view::*;
use super::{Part, Piece};

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
        pieces.push(Piece::new(Part::Frame, open("memories", &[("note", DATA_NOT_ORDERS)])));
        pieces.extend(view.memories.iter().map(|m| Piece::new(Part::Memory(m.id), memory(m))));
        pieces.push(Piece::new(Part::Frame, close("memories")));
    }
    pieces.push(Piece::new(Part::Missing, missing(&view.not_included)));
    pieces.push(Piece::new(Part::Frame, close("handoff")));
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

fn start(tag: &str, attributes: &[(&str, &str)]) -> String {
    let attributes: String = attributes
        .iter()
        .map(|(name, value)| format!(" {name}=\"{}\"", attribute(value)))
        .collect();
    format!("<{tag}{attributes}>")
}

fn open(tag: &str, attributes: &[(&str, &str)]) -> String {
    format!("{}\n", start(tag, attributes))
}

fn close(tag: &str) -> String {
    format!("</{tag}>\n")
}

fn element(tag: &str, attributes: &[(&str, &str)], text: &str) -> String {
    format!("{}{}</{tag}>\n", start(tag, attributes), escaped(text))
}

/// The elements inside a tag; nothing where there are none.
fn group(tag: &str, inner: String) -> String {
    if inner.is_empty() { inner } else { format!("<{tag}>\n{inner}</{tag}>\n") }
}

fn optional<'a>(name: &'a str, value: &'a Option<String>) -> Option<(&'a str, &'a str)> {
    value.as_deref().map(|value| (name, value))
}

fn header(header: &Header) -> String {
    let (hop, max_hops) = (header.hop.to_string(), header.max_hops.to_string());
    let mut attributes = vec![
        ("from", header.from.as_str()),
        ("to", &header.to),
        ("hop", &hop),
        ("max_hops", &max_hops),
        ("priority", header.priority.as_str()),
        ("made_at", &header.made_at),
    ];
    attributes.extend(optional("about", &header.about));
    attributes.extend(optional("overdue", &header.overdue));
    open("handoff", &attributes)
}

fn task(task: &TaskView) -> String {
    let remaining =
        task.remaining.iter().map(|item| element("remaining", &[], item)).collect::<String>();
    let questions = task.questions.iter().map(|q| match &q.answer {
        None => element("question", &[("state", "open")], &q.question),
        Some(answer) => element("question", &[("answer", answer)], &q.question),
    });
    element("task", &[], &task.summary)
        + &group("still_to_do", remaining)
        + &group("questions", questions.collect())
}

fn constraints(view: &View) -> String {
    let constraint = |c: &ConstraintView| {
        let scope = if c.for_you_alone { "hop" } else { "lineage" };
        element(
            "constraint",
            &[("name", &c.name), ("set_by", &c.set_by), ("scope", scope)],
            &c.value.to_string(),
        )
    };
    let waiver = |w: &WaiverView| {
        let hop = w.at_hop.to_string();
        let mut attributes =
            vec![("name", w.name.as_str()), ("by", &w.by), ("at_hop", &hop), ("reason", &w.reason)];
        attributes.extend(w.still_in_force.then_some(("still_in_force", "true")));
        element("waiver", &attributes, &w.value.to_string())
    };
    group("constraints", view.constraints.iter().map(constraint).collect())
        + &group("waived", view.waived.iter().map(waiver).collect())
}

fn intent(request: &UserRequest) -> String {
    let source: &[(&str, &str)] =
        if request.taken_from_first_summary { &[("source", "first summary")] } else { &[] };
    element("user_request", source, &request.words)
}

fn history(done: &Done) -> String {
    let step = |s: &StepView| {
        let (hop, memory) = (s.hop.to_string(), s.memory.map(|id| id.to_string()));
        let mut attributes = vec![("hop", hop.as_str()), ("agent", &s.agent)];
        attributes.extend(optional("memory", &memory));
        attributes.extend(optional("why", &s.why));
        element("step", &attributes, &s.action)
    };
    let decision = |d: &DecisionView| {
        let attributes: Vec<_> =
            optional("by", &d.by).into_iter().chain(optional("why", &d.why)).collect();
        element("decision", &attributes, &d.what)
    };
    group(
        "done",
        shown("steps", &done.steps, step)
            + &shown("progress", &done.progress, |note| element("note", &[], note))
            + &shown("decisions", &done.decisions, decision),
    )
}

/// A list with the number of entries that are only counted.
fn shown<T>(tag: &str, items: &Shown<T>, line: impl Fn(&T) -> String) -> String {
    if items.is_empty() {
        return String::new();
    }
    let count = items.not_shown.to_string();
    let attributes: &[(&str, &str)] =
        if items.not_shown == 0 { &[] } else { &[("not_shown", &count)] };
    open(tag, attributes) + &items.shown.iter().map(line).collect::<String>() + &close(tag)
}

fn expected(output: &ExpectedView) -> String {
    let one = |tag: &str, text: &Option<String>| {
        text.iter().map(|text| element(tag, &[], text)).collect::<String>()
    };
    let criteria: String = output.criteria.iter().map(|c| element("criterion", &[], c)).collect();
    let schema = output.schema.as_ref().map(ToString::to_string);
    group(
        "expected_output",
        one("format", &output.format)
            + &one("length", &output.length)
            + &criteria
            + &one("json_schema", &schema),
    )
}

pub(super) fn memory(memory: &MemoryView) -> String {
    let (id, version, erased) = (
        memory.id.to_string(),
        memory.version.to_string(),
        memory.erased.then(|| "true".to_owned()),
    );
    let mut attributes =
        vec![("id", id.as_str()), ("version", &version), ("detail", memory.detail.as_str())];
    attributes.push(("age", &memory.age));
    attributes.extend(optional("title", &memory.title));
    attributes.extend(optional("by", &memory.by));
    attributes.extend(optional("about", &memory.about));
    attributes.extend(optional("erased", &erased));
    element("memory", &attributes, memory.text.as_deref().unwrap_or_default())
}

fn missing(missing: &Missing) -> String {
    if missing.is_empty() {
        return String::new();
    }
    let gap = |gap: &GapView| element("gap", &[("ref", &gap.reference)], &gap.reason);
    let item = |item: &TrimmedView| {
        let id = item.id.to_string();
        element(
            "item",
            &[("id", &id), ("from", item.from.as_str()), ("to", item.to.as_str())],
            &item.reason,
        )
    };
    let redacted: String = missing
        .redacted
        .iter()
        .map(|r| element("redaction", &[("in", &r.place)], &r.kind))
        .collect();
    group(
        "not_included",
        shown("gaps", &missing.gaps, gap)
            + &shown("shortened", &missing.shortened, item)
            + &group("redacted", redacted)
            + &element("how_to_fetch", &[], missing.how_to_fetch),
    )
}
