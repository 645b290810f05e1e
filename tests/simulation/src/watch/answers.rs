//! What may be answered: only what is on disk.

use serde_json::Value;
use spine_engine::delivery::{Delivery, DeliveryError, Done, Fence, ParkCause, Received};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, WorkspaceName};
use spine_store::{DeliveryState, ErrorKind};

use super::{Rule, Watch, is_held};
use crate::calls::line;

/// Whether an error leaves open what was written.
fn leaves_open(error: &DeliveryError) -> bool {
    let store = match error {
        DeliveryError::Store(error) => Some(error.kind()),
        DeliveryError::Assembly(spine_engine::assembly::AssemblyError::Store(error)) => {
            Some(error.kind())
        }
        _ => None,
    };
    store == Some(ErrorKind::OutcomeUnknown)
}

impl Watch {
    fn is_gone(&self, workspace: &WorkspaceName, id: DeliveryId) -> bool {
        self.gone.contains(&(workspace.clone(), id))
    }

    fn seen(&self, workspace: &WorkspaceName, id: DeliveryId) -> Option<&Delivery> {
        self.rows.get(&(workspace.clone(), id)).map(|seen| &seen.delivery)
    }

    /// A sender was told that this is sent.
    pub fn sent(&mut self, at: &WorkspaceName, envelope: EnvelopeId, delivery: &Delivery) {
        let id = delivery.row.id;
        if self.is_gone(at, id) {
            return;
        }
        let stored = self.seen(at, id).is_some_and(|seen| seen.row.envelope == envelope);
        let there = stored && self.envelopes.contains_key(&envelope);
        self.check(there, Rule::AnsweredIsStored, || {
            format!("{id} was sent as {envelope}, and is not on disk so")
        });
        self.promised.insert((at.clone(), id));
    }

    /// A sender that asked for the first time was told why not.
    pub fn not_sent(&mut self, summary: &str, error: &DeliveryError) {
        let true_word = leaves_open(error) || !self.is_made(summary);
        self.check(true_word, Rule::NothingWritten, || format!("{summary:?}: {}", error.code()));
    }

    /// A receiver was given this.
    pub fn received(&mut self, at: &WorkspaceName, agent: &AgentName, received: &Received) {
        let (id, token) = (received.delivery.row.id, received.fence.to_string());
        let there = self.seen(at, id).is_some() || self.is_gone(at, id);
        let own = there && received.delivery.row.agent == *agent;
        self.check(own, Rule::Isolation, || format!("{id} is not for {agent} in {at}"));
        let given = self.given.contains(&(id, token.clone()));
        self.check(given, Rule::AnsweredIsStored, || format!("{id} with {token} is not leased"));
        self.handed.insert((id, token));
    }

    /// A receiver is about to say that this is its result.
    pub fn offers(&mut self, id: DeliveryId, fence: &Fence, result: &str) {
        self.offered.entry((id, fence.to_string())).or_default().push(result.to_owned());
    }

    /// A receiver was told that its work counts.
    pub fn completed(&mut self, at: &WorkspaceName, id: DeliveryId, fence: &Fence, done: &Done) {
        let token = fence.to_string();
        if self.is_gone(at, id) {
            return;
        }
        let Some(seen) = self.seen(at, id).cloned() else {
            return self.fail(Rule::AnsweredIsStored, format!("{id} is not there"));
        };
        let stored = seen.state() == DeliveryState::Done;
        self.check(stored, Rule::AnsweredIsStored, || {
            format!("{id} is {:?} on disk, answered as done", seen.state())
        });
        let won = self.token(&seen) == token;
        let result = seen.row.result.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let offers = self.offered.get(&(id, token.clone())).cloned().unwrap_or_default();
        let own = offers.iter().any(|offer| result.contains(offer.as_str()));
        self.check(won && own, Rule::WinnersResult, || {
            format!("{id} with {token} has the result {result}, offered were {offers:?}")
        });
        let next = done.next.as_ref().map(|next| next.row.envelope);
        let linked = next == seen.story.next();
        self.check(linked, Rule::NextIsAtomic, || format!("{id} answered with {next:?}"));
    }

    /// A receiver that named no successor was told that its work counts.
    pub fn followed(&mut self, at: &WorkspaceName, id: DeliveryId, done: &Done) {
        let Some(seen) = self.seen(at, id).cloned() else { return };
        let result = seen.row.result.as_deref().map(serde_json::from_slice::<Value>);
        let result = result.and_then(Result::ok).unwrap_or_default();
        // It may have been completed before, by the same lease, with a successor.
        let chosen = |next: &Delivery| next.story.pipeline.is_none();
        if done.next.as_ref().is_some_and(chosen) {
            return;
        }
        let line = seen.story.pipeline.as_ref().map(|_| line());
        let expected = line.as_ref().and_then(|line| line.after(&seen.row.agent, &result));
        let expected = expected.map(|(agent, _)| agent);
        let found = done.next.as_ref().map(|next| &next.story.target);
        self.check(found == expected, Rule::PipelineFollowed, || {
            format!("{id} of {} went on to {found:?}, not {expected:?}", seen.row.agent)
        });
    }

    /// A receiver was told that its work does not count.
    pub fn not_completed(
        &mut self,
        at: &WorkspaceName,
        id: DeliveryId,
        result: &str,
        error: &DeliveryError,
    ) {
        let Some(seen) = self.seen(at, id).cloned() else { return };
        let stored = seen.row.result.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        let true_word = leaves_open(error) || !stored.contains(result);
        self.check(true_word, Rule::NothingWritten, || format!("{id}: {}", error.code()));
        if let DeliveryError::HopLimit { .. } = error {
            // The answer may come late: a person may have requeued it by then.
            let parked = seen.story.parked.iter().any(|one| one.cause == ParkCause::HopLimit);
            let kept = seen.story.refused.is_some();
            self.check(parked && kept, Rule::LimitParks, || format!("{id} is {:?}", seen.state()));
        }
    }

    /// A receiver was told that its lease is lost.
    pub fn told_lost(&mut self, at: &WorkspaceName, id: DeliveryId, fence: &Fence) {
        let Some(seen) = self.seen(at, id).cloned() else { return };
        let holds = is_held(&seen) && self.token(&seen) == fence.to_string();
        self.check(!holds, Rule::HolderIsBelieved, || format!("{id} with {fence}"));
    }

    /// A foreign id was asked for.
    pub fn foreign<T>(&mut self, id: DeliveryId, outcome: &Result<T, DeliveryError>) {
        let hidden = match outcome {
            Ok(_) => false,
            Err(DeliveryError::Unknown { .. } | DeliveryError::Store(_)) => true,
            Err(_) => false,
        };
        self.check(hidden, Rule::Isolation, || format!("{id} was seen from elsewhere"));
    }
}
