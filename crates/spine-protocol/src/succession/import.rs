//! Whether a foreign envelope was made from its parents as the rules demand.

use super::RuleError;
use super::carry::missing_from;
use super::constraints::{hop_limit_raised, lineage_constraints};
use crate::constraint::{MAX_HOPS, keeps};
use crate::envelope::{Body, Envelope, HistoryEntry, Question, Scope, Waiver};
use crate::name::ConstraintName;

impl Envelope {
    /// Reads an envelope that was made elsewhere and checks the rules between it and its parents, all of which
    /// must be given.
    pub fn import(bytes: &[u8], parents: &[Envelope]) -> Result<Self, RuleError> {
        let envelope = Self::read(bytes)?;
        check(&envelope, parents)?;
        Ok(envelope)
    }
}

/// R1, R2 and R7 between an envelope and its parents.
pub(crate) fn check(child: &Body, known: &[Envelope]) -> Result<(), RuleError> {
    let parents = parents_of(child, known)?;
    let Some(first) = parents.first() else { return Ok(()) };
    check_lineage(child, &parents)?;
    let same_intent = |p: &Envelope| {
        p.task.intent == child.task.intent && p.task.intent_source == child.task.intent_source
    };
    if !parents.iter().all(same_intent) {
        return Err(RuleError::IntentChanged { root: first.root });
    }
    check_hops(child, &parents)?;
    check_constraints(child, &parents)?;
    parents.iter().try_for_each(|parent| check_carried(child, parent))
}

fn parents_of(child: &Body, known: &[Envelope]) -> Result<Vec<Envelope>, RuleError> {
    let resolve = |named: &crate::envelope::ParentRef| {
        let parent = known.iter().find(|envelope| envelope.id == named.id);
        let parent = parent.ok_or(RuleError::ParentUnknown { parent: named.id })?;
        if parent.digest == named.digest {
            Ok(parent.clone())
        } else {
            Err(RuleError::ParentReplaced { parent: named.id })
        }
    };
    child.parents.iter().map(resolve).collect()
}

fn check_lineage(child: &Body, parents: &[Envelope]) -> Result<(), RuleError> {
    for parent in parents {
        if parent.root != child.root {
            return Err(RuleError::LineagesDiffer { first: child.id, second: parent.id });
        }
        if parent.workspace != child.workspace {
            return Err(RuleError::WorkspaceDiffers { parent: parent.id });
        }
        if parent.subject != child.subject {
            return Err(RuleError::SubjectDiffers { parent: parent.id });
        }
    }
    Ok(())
}

fn check_hops(child: &Body, parents: &[Envelope]) -> Result<(), RuleError> {
    let expected = parents.iter().map(|parent| parent.hop).max().unwrap_or(0) + 1;
    if child.hop != expected {
        return Err(RuleError::HopWrong { expected, found: child.hop });
    }
    let inherited = super::inherited_max_hops(parents).unwrap_or(child.max_hops);
    let waived = child.waived.iter().any(|w| w.name.as_str() == MAX_HOPS && w.at_hop == child.hop);
    if child.max_hops > inherited && !waived {
        return Err(hop_limit_raised(inherited, child.max_hops));
    }
    Ok(())
}

fn check_constraints(child: &Body, parents: &[Envelope]) -> Result<(), RuleError> {
    for (parent, carried) in lineage_constraints(parents) {
        if is_waived(child, &carried.name, &carried.value) {
            continue;
        }
        let lasting =
            child.constraints.iter().find(|c| c.name == carried.name && c.scope == Scope::Lineage);
        match lasting {
            None => {
                return Err(RuleError::ConstraintDropped { name: carried.name.clone(), parent });
            }
            Some(kept) if !keeps(kept.name.as_str(), &carried.value, &kept.value) => {
                let (name, carried, given) =
                    (kept.name.clone(), carried.value.clone(), kept.value.clone());
                return Err(RuleError::ConstraintChanged { name, carried, given });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn is_waived(child: &Body, name: &ConstraintName, value: &serde_json::Value) -> bool {
    let covers =
        |w: &Waiver| w.at_hop == child.hop && w.name == *name && crate::json::same(&w.value, value);
    child.waived.iter().any(covers)
}

/// What accumulates must still be there.
fn check_carried(child: &Body, parent: &Envelope) -> Result<(), RuleError> {
    if let Some(waiver) = parent.waived.iter().find(|waiver| !child.waived.contains(waiver)) {
        return Err(RuleError::WaiverDropped { name: waiver.name.clone(), parent: parent.id });
    }
    let dropped = |what| Err(RuleError::Dropped { what, parent: parent.id });
    if !history_is_kept(child, parent) {
        return dropped("a step of the history");
    }
    let (state, carried) = (&child.task.state, &parent.task.state);
    if !missing_from(&state.progress, &carried.progress).is_empty() {
        return dropped("a progress note");
    }
    if !missing_from(&state.decisions, &carried.decisions).is_empty() {
        return dropped("a decision");
    }
    let kept = |q: &Question| state.open_questions.iter().any(|k| is_kept(q, k));
    if carried.open_questions.iter().all(kept) { Ok(()) } else { dropped("a question") }
}

fn is_kept(asked: &Question, kept: &Question) -> bool {
    asked.question == kept.question && (asked.answer.is_none() || asked.answer == kept.answer)
}

/// Words of a step may have been blacked out, openly; the step itself stays.
fn history_is_kept(child: &Body, parent: &Envelope) -> bool {
    let redacted = child.redactions.iter().any(|redaction| redaction.place == "history");
    if !redacted {
        return missing_from(&child.history, &parent.history).is_empty();
    }
    let bare = |entries: &[HistoryEntry]| -> Vec<_> {
        entries
            .iter()
            .map(|e| (e.agent.clone(), e.hop, e.at.clone(), e.memory_id, e.result_digest))
            .collect()
    };
    missing_from(&bare(&child.history), &bare(&parent.history)).is_empty()
}
