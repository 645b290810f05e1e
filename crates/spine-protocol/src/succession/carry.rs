//! What accumulates along a lineage: the intent, the state and the history.

use super::RuleError;
use super::request::{NewHistory, Request, Stamp};
use crate::envelope::{
    Decision, Envelope, HistoryEntry, IntentSource, Question, State, Task, Unknown,
};

/// R1: the root's intent, byte for byte; the state with what is new.
pub(super) fn task(parents: &[Envelope], request: &Request) -> Result<Task, RuleError> {
    let (intent, intent_source) = intent(parents, request)?;
    let state = state(parents, request);
    Ok(Task {
        intent,
        intent_source,
        summary: request.summary.clone(),
        state,
        unknown: Unknown::new(),
    })
}

fn intent(parents: &[Envelope], request: &Request) -> Result<(String, IntentSource), RuleError> {
    let Some(first) = parents.first() else {
        return Ok(match &request.intent {
            Some(given) => (given.clone(), IntentSource::Given),
            None => (request.summary.clone(), IntentSource::Summary),
        });
    };
    let carried = &first.task.intent;
    let changed = |intent: &String| intent != carried;
    if request.intent.as_ref().is_some_and(changed)
        || parents.iter().any(|p| changed(&p.task.intent))
    {
        return Err(RuleError::IntentChanged { root: first.root });
    }
    Ok((carried.clone(), first.task.intent_source))
}

fn state(parents: &[Envelope], request: &Request) -> State {
    let update = &request.state;
    let of = |pick: fn(&State) -> &Vec<String>| {
        union(parents.iter().map(|p| pick(&p.task.state).as_slice()))
    };
    let mut progress = of(|state| &state.progress);
    progress.extend(update.progress.iter().cloned());
    let mut decisions: Vec<Decision> =
        union(parents.iter().map(|p| p.task.state.decisions.as_slice()));
    decisions.extend(update.decisions.iter().cloned());
    let mut open_questions = Vec::new();
    let asked = parents.iter().flat_map(|p| &p.task.state.open_questions);
    for question in asked.chain(&update.open_questions) {
        ask_or_answer(&mut open_questions, question);
    }
    let remaining = update.remaining.clone().unwrap_or_else(|| of(|state| &state.remaining));
    State { progress, decisions, remaining, open_questions, unknown: Unknown::new() }
}

/// An answer fills its question; a second, different answer stands beside the first: nothing is dropped.
fn ask_or_answer(questions: &mut Vec<Question>, new: &Question) {
    let known = |q: &Question| {
        q.question == new.question && (new.answer.is_none() || q.answer == new.answer)
    };
    if questions.iter().any(known) {
        return;
    }
    let unanswered = |q: &&mut Question| q.question == new.question && q.answer.is_none();
    match questions.iter_mut().find(unanswered) {
        Some(question) => question.answer.clone_from(&new.answer),
        None => questions.push(new.clone()),
    }
}

/// The parents' steps, each once, in the order of their hops, then the new ones.
pub(super) fn history(
    parents: &[Envelope],
    request: &Request,
    stamp: &Stamp,
    hop: u32,
) -> Vec<HistoryEntry> {
    let mut history = union(parents.iter().map(|parent| parent.history.as_slice()));
    history.sort_by_key(|entry: &HistoryEntry| entry.hop);
    history.extend(request.history.iter().map(|step| on_record(step, stamp, hop)));
    history
}

fn on_record(step: &NewHistory, stamp: &Stamp, hop: u32) -> HistoryEntry {
    HistoryEntry {
        agent: step.agent.clone(),
        action: step.action.clone(),
        why: step.why.clone(),
        memory_id: step.memory_id,
        result_digest: step.result_digest,
        hop,
        at: step.at.clone().unwrap_or_else(|| stamp.created_at.clone()),
        unknown: Unknown::new(),
    }
}

/// Lists that share a common past as one: an entry as often as the list that has it most often, so that the
/// same step done twice stays two steps, and a shared one is not doubled by a join.
fn union<'a, T: Clone + PartialEq + 'a>(lists: impl Iterator<Item = &'a [T]>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for list in lists {
        let missing = missing_from(&all, list);
        all.extend(missing.into_iter().cloned());
    }
    all
}

/// The entries of `list` that `all` lacks, counting repeats.
pub(super) fn missing_from<'a, T: PartialEq>(all: &[T], list: &'a [T]) -> Vec<&'a T> {
    let shared = all.iter().zip(list).take_while(|(a, b)| a == b).count();
    let mut taken: Vec<bool> = (0..all.len()).map(|index| index < shared).collect();
    let mut missing = Vec::new();
    for entry in list.iter().skip(shared) {
        let free =
            all.iter().zip(&mut taken).find(|(present, taken)| !**taken && *present == entry);
        match free {
            Some((_, taken)) => *taken = true,
            None => missing.push(entry),
        }
    }
    missing
}
