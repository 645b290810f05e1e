//! What makes an envelope consistent in itself, whatever its parents are.

use std::collections::HashSet;
use std::hash::Hash;

use crate::constraint;
use crate::envelope::{Body, Constraint, Detail, IntentSource, PackedMemory, Scope};
use crate::limits::*;
use crate::read::ReadError;

type Checked = Result<(), ReadError>;

/// Every check, each naming the field it found wrong.
pub(crate) fn check(body: &Body) -> Checked {
    check_header(body)?;
    check_place_in_lineage(body)?;
    check_task(body)?;
    check_memories(body)?;
    check_history(body)?;
    check_constraints(body)?;
    check_waivers(body)?;
    check_packing(body)
}

fn ensure(holds: bool, pointer: impl Into<String>, problem: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { Err(ReadError::at(pointer, problem)) }
}

fn ensure_length(length: usize, max: usize, pointer: &str) -> Checked {
    ensure(length <= max, pointer, format!("expected at most {max} entries, got {length}"))
}

fn ensure_text(text: &str, bytes_max: usize, pointer: &str) -> Checked {
    ensure(!text.trim().is_empty(), pointer, "expected a text, got an empty one")?;
    let bytes = text.len();
    ensure(bytes <= bytes_max, pointer, format!("expected at most {bytes_max} bytes, got {bytes}"))
}

fn ensure_unique<T: Eq + Hash + std::fmt::Display>(
    items: impl Iterator<Item = T>,
    pointer: impl Fn(usize) -> String,
) -> Checked {
    let mut seen = HashSet::new();
    for (index, item) in items.enumerate() {
        let problem = format!("expected each once, got {item} twice");
        ensure(seen.insert(item), pointer(index), problem)?;
    }
    Ok(())
}

fn check_header(body: &Body) -> Checked {
    let problem = "expected an agent; `broadcast` is reserved for targets";
    ensure(!body.from.is_broadcast(), "/from", problem)?;
    let problem = format!("expected 1 to {HOPS_MAX}, got {}", body.max_hops);
    ensure((1..=HOPS_MAX).contains(&body.max_hops), "/max_hops", problem)?;
    let problem = format!("expected 1 to max_hops ({}), got {}", body.max_hops, body.hop);
    ensure((1..=body.max_hops).contains(&body.hop), "/hop", problem)
}

fn check_place_in_lineage(body: &Body) -> Checked {
    ensure_length(body.parents.len(), PARENTS_MAX, "/parents")?;
    ensure_unique(body.parents.iter().map(|parent| parent.id), |i| format!("/parents/{i}/id"))?;
    let own_parent = body.parents.iter().position(|parent| parent.id == body.id);
    if let Some(index) = own_parent {
        return Err(ReadError::at(
            format!("/parents/{index}/id"),
            "expected another envelope, got its own id",
        ));
    }
    let is_root = body.parents.is_empty();
    ensure(
        is_root == (body.hop == 1),
        "/hop",
        "expected hop 1 for an envelope without parents, and only there",
    )?;
    ensure(
        is_root == (body.root == body.id),
        "/root",
        "expected its own id for an envelope without parents, and only there",
    )
}

fn check_task(body: &Body) -> Checked {
    let task = &body.task;
    ensure_text(&task.intent, INTENT_BYTES_MAX, "/task/intent")?;
    ensure_text(&task.summary, SUMMARY_BYTES_MAX, "/task/summary")?;
    let from_summary = body.hop == 1 && task.intent_source == IntentSource::Summary;
    let problem = "expected the summary, since `intent_source` says so";
    ensure(!from_summary || task.intent == task.summary, "/task/intent", problem)?;
    let state = &task.state;
    for (name, length) in [
        ("progress", state.progress.len()),
        ("decisions", state.decisions.len()),
        ("remaining", state.remaining.len()),
        ("open_questions", state.open_questions.len()),
    ] {
        ensure_length(length, LIST_ENTRIES_MAX, &format!("/task/state/{name}"))?;
    }
    Ok(())
}

fn check_memories(body: &Body) -> Checked {
    ensure_length(body.memories.len(), MEMORIES_MAX, "/memories")?;
    ensure_unique(body.memories.iter().map(|memory| memory.id), |i| format!("/memories/{i}/id"))?;
    body.memories
        .iter()
        .enumerate()
        .try_for_each(|(i, memory)| check_memory(memory, &format!("/memories/{i}")))
}

fn check_memory(memory: &PackedMemory, pointer: &str) -> Checked {
    ensure(memory.version >= 1, format!("{pointer}/version"), "expected 1 or more, got 0")?;
    let relevance = memory.relevance.unwrap_or(0.0);
    let problem = format!("expected 0 to 1, got {relevance}");
    ensure((0.0..=1.0).contains(&relevance), format!("{pointer}/relevance"), problem)?;
    let problem = format!(
        "expected `text_digest` for `full` and `summary`, and none for `ref`, got detail `{}`",
        memory.detail
    );
    ensure(
        (memory.detail == Detail::Ref) == memory.text_digest.is_none(),
        format!("{pointer}/text_digest"),
        problem,
    )?;
    let paired = memory.text.is_some() == memory.salt.is_some();
    ensure(paired, format!("{pointer}/salt"), "expected `text` and `salt` together, or neither")?;
    let problem = "expected no `text` without a `text_digest` that stands for it";
    ensure(
        memory.text.is_none() || memory.text_digest.is_some(),
        format!("{pointer}/text"),
        problem,
    )?;
    let bytes = memory.text.as_ref().map_or(0, String::len);
    let problem = format!("expected at most {MEMORY_TEXT_BYTES_MAX} bytes, got {bytes}");
    ensure(bytes <= MEMORY_TEXT_BYTES_MAX, format!("{pointer}/text"), problem)
}

fn check_history(body: &Body) -> Checked {
    ensure_length(body.history.len(), HISTORY_ENTRIES_MAX, "/history")?;
    for (index, entry) in body.history.iter().enumerate() {
        let problem =
            format!("expected 1 to this envelope's hop ({}), got {}", body.hop, entry.hop);
        ensure((1..=body.hop).contains(&entry.hop), format!("/history/{index}/hop"), problem)?;
        let pointer = format!("/history/{index}/action");
        ensure(
            !entry.action.trim().is_empty(),
            pointer,
            "expected what was done, got an empty text",
        )?;
    }
    Ok(())
}

fn check_constraints(body: &Body) -> Checked {
    ensure_length(body.constraints.len(), CONSTRAINTS_MAX, "/constraints")?;
    let names = body.constraints.iter().map(|c| format!("`{}` with scope {}", c.name, c.scope));
    ensure_unique(names, |i| format!("/constraints/{i}/name"))?;
    for (index, constraint) in body.constraints.iter().enumerate() {
        let pointer = format!("/constraints/{index}/value");
        constraint::check_value(constraint.name.as_str(), constraint.scope, &constraint.value)
            .map_err(|problem| ReadError::at(pointer.clone(), problem))?;
        check_hop_limit(constraint, body.max_hops)?;
        check_hop_scope(constraint, &body.constraints, &pointer)?;
    }
    Ok(())
}

fn check_hop_limit(constraint: &Constraint, max_hops: u32) -> Checked {
    let limit = constraint::hop_limit(constraint).unwrap_or(u32::MAX);
    let problem = format!(
        "expected at most {limit}, which the constraint `max_hops` asks for, got {max_hops}"
    );
    ensure(max_hops <= limit, "/max_hops", problem)
}

/// For one receiver a lineage's constraint can be tightened, not loosened.
fn check_hop_scope(constraint: &Constraint, all: &[Constraint], pointer: &str) -> Checked {
    let is_carried = |c: &&Constraint| c.scope == Scope::Lineage && c.name == constraint.name;
    let Some(carried) = all.iter().find(is_carried).filter(|_| constraint.scope == Scope::Hop)
    else {
        return Ok(());
    };
    let keeps = constraint::keeps(constraint.name.as_str(), &carried.value, &constraint.value);
    ensure(keeps, pointer, format!("expected {} or tighter, as the lineage has it", carried.value))
}

fn check_waivers(body: &Body) -> Checked {
    ensure_length(body.waived.len(), CONSTRAINTS_MAX, "/waived")?;
    for (index, waiver) in body.waived.iter().enumerate() {
        ensure_text(&waiver.reason, SHORT_TEXT_BYTES_MAX, &format!("/waived/{index}/reason"))?;
        let problem =
            format!("expected 1 to this envelope's hop ({}), got {}", body.hop, waiver.at_hop);
        ensure(
            (1..=body.hop).contains(&waiver.at_hop),
            format!("/waived/{index}/at_hop"),
            problem,
        )?;
    }
    Ok(())
}

fn check_packing(body: &Body) -> Checked {
    let assembly = &body.assembly;
    let problem = format!("expected 1 to {BUDGET_TOKENS_MAX}, got {}", assembly.max_tokens);
    ensure(
        (1..=BUDGET_TOKENS_MAX).contains(&assembly.max_tokens),
        "/assembly/max_tokens",
        problem,
    )?;
    let problem =
        format!("expected at most max_tokens ({}), got {}", assembly.max_tokens, assembly.tokens);
    ensure(assembly.tokens <= assembly.max_tokens, "/assembly/tokens", problem)?;
    let completeness = &body.completeness;
    let problem = format!(
        "expected at most the {} requested, got {}",
        completeness.requested, completeness.included
    );
    ensure(completeness.included <= completeness.requested, "/completeness/included", problem)?;
    ensure_length(completeness.gaps.len(), LIST_ENTRIES_MAX, "/completeness/gaps")?;
    ensure_length(body.trimmed.items.len(), LIST_ENTRIES_MAX, "/trimmed/items")?;
    ensure_length(body.redactions.len(), LIST_ENTRIES_MAX, "/redactions")?;
    let counted = body.trimmed.count as usize >= body.trimmed.items.len();
    ensure(
        counted,
        "/trimmed/count",
        format!("expected at least the {} items listed", body.trimmed.items.len()),
    )?;
    check_omitted(body)
}

fn check_omitted(body: &Body) -> Checked {
    let omitted = &body.assembly.omitted;
    for (name, count, length) in [
        ("history", omitted.history, body.history.len()),
        ("progress", omitted.progress, body.task.state.progress.len()),
        ("decisions", omitted.decisions, body.task.state.decisions.len()),
        ("gaps", omitted.gaps, body.completeness.gaps.len()),
        ("trimmed", omitted.trimmed, body.trimmed.items.len()),
    ] {
        let problem = format!("expected at most the {length} there are, got {count}");
        ensure(count as usize <= length, format!("/assembly/omitted/{name}"), problem)?;
    }
    Ok(())
}
