//! What the holder of a lease can do. Whoever comes with an older one is told so (R9).

use spine_store::{DeliveryState, UnixMs};

use super::absence::{Retry, spent};
use super::queue::{enqueue, mark_accepted};
use super::review::park;
use super::{By, Completion, Effect, Moment, Note, Refusal, Step};
use crate::delivery::fence::Fence;
use crate::delivery::limits::{LEASE_MS_MAX, LEASE_MS_MIN};
use crate::delivery::policy::later;
use crate::delivery::story::{AttemptOutcome, Delivery, Ending, ParkCause, Progress};

/// Whether this is the lease that counts.
fn check(before: &Delivery, fence: &Fence, moment: &Moment<'_>) -> Result<(), Refusal> {
    if *fence != Fence::of_row(&before.row, moment.identity) {
        return Err(Refusal::LeaseLost);
    }
    match before.state() {
        DeliveryState::Leased | DeliveryState::Accepted => Ok(()),
        DeliveryState::Cancelled => {
            let reason = before.story.ending.as_ref().and_then(|ending| ending.reason.clone());
            Err(Refusal::Cancelled(reason))
        }
        DeliveryState::Done | DeliveryState::Rejected => Err(Refusal::Over(before.state())),
        DeliveryState::Pending | DeliveryState::Parked => Err(Refusal::LeaseLost),
    }
}

/// Whether this very lease has ended it already: the same one twice succeeds twice.
fn ended_by(before: &Delivery, fence: &Fence, moment: &Moment<'_>, state: DeliveryState) -> bool {
    let by_lease = |ending: &Ending| ending.epoch == Some(fence.epoch);
    before.state() == state
        && before.story.ending.as_ref().is_some_and(by_lease)
        && *fence == Fence::of_row(&before.row, moment.identity)
}

pub(super) fn release(
    before: &Delivery,
    fence: &Fence,
    ticket: u64,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    check(before, fence, moment)?;
    if before.story.lease.as_ref().is_none_or(|lease| lease.ticket != ticket) {
        return Err(Refusal::LeaseLost);
    }
    let mut after = before.clone();
    let agent = after.row.agent.clone();
    enqueue(&mut after, agent.clone(), moment.now);
    let effects = vec![Effect::Log("delivery.released"), Effect::Offer(agent)];
    Ok(Step { after, effects })
}

pub(super) fn accept(
    before: &Delivery,
    fence: &Fence,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    check(before, fence, moment)?;
    let mut after = before.clone();
    renew(&mut after, None, moment.now);
    if before.state() == DeliveryState::Accepted {
        return Ok(Step { after, effects: Vec::new() });
    }
    let effects = mark_accepted(&mut after, moment.now);
    Ok(Step { after, effects })
}

pub(super) fn extend(
    before: &Delivery,
    fence: &Fence,
    lease_ms: Option<u64>,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    check(before, fence, moment)?;
    let mut after = before.clone();
    renew(&mut after, lease_ms, moment.now);
    Ok(Step { after, effects: Vec::new() })
}

/// Every word of a receiver is a sign of life.
fn renew(delivery: &mut Delivery, lease_ms: Option<u64>, now: UnixMs) {
    if let Some(lease) = &mut delivery.story.lease {
        let lease_ms = lease_ms.unwrap_or(lease.lease_ms).clamp(LEASE_MS_MIN, LEASE_MS_MAX);
        lease.until = lease.until.max(later(now, lease_ms));
    }
}

pub(super) fn progress(
    before: &Delivery,
    fence: &Fence,
    note: Note,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    check(before, fence, moment)?;
    let mut after = before.clone();
    renew(&mut after, None, moment.now);
    let said = !note.text.is_empty() || note.percent.is_some();
    if said {
        let (note, percent) = (note.text, note.percent);
        after.story.add_progress(Progress { at: moment.now, note, percent });
    }
    if note.checkpoint.is_some() {
        after.story.checkpoint = note.checkpoint;
    }
    Ok(Step { after, effects: vec![Effect::Log("delivery.progress")] })
}

pub(super) fn complete(
    before: &Delivery,
    fence: &Fence,
    completion: Completion,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    if ended_by(before, fence, moment, DeliveryState::Done) {
        return Ok(Step::unchanged(before));
    }
    check(before, fence, moment)?;
    let mut after = before.clone();
    let mut effects = Vec::new();
    if before.state() == DeliveryState::Leased {
        effects = mark_accepted(&mut after, moment.now);
    }
    let by = Some(after.row.agent.clone());
    let ending = Ending { epoch: Some(fence.epoch), ..Ending::new(moment.now, by) };
    done(&mut after, completion, ending);
    effects.extend([Effect::Log("delivery.done"), Effect::Ended]);
    Ok(Step { after, effects })
}

/// Done, with the result.
pub(super) fn done(delivery: &mut Delivery, completion: Completion, ending: Ending) {
    let Completion { result, digest, action, why, next } = completion;
    delivery.row.state = DeliveryState::Done;
    delivery.row.result = result;
    delivery.story.lease = None;
    delivery.story.ending = Some(Ending { result_digest: digest, action, why, next, ..ending });
}

pub(super) fn nack(
    before: &Delivery,
    fence: &Fence,
    reason: String,
    retry: Retry,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    if nacked_by(before, fence, moment) {
        return Ok(Step::unchanged(before));
    }
    check(before, fence, moment)?;
    Ok(spent(before.clone(), AttemptOutcome::Nacked, Some(reason), retry, moment))
}

pub(super) fn unreached(
    before: &Delivery,
    fence: &Fence,
    reason: String,
    again: bool,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    check(before, fence, moment)?;
    let retry = Retry { again, after_ms: None };
    Ok(spent(before.clone(), AttemptOutcome::NotTaken, Some(reason), retry, moment))
}

fn nacked_by(before: &Delivery, fence: &Fence, moment: &Moment<'_>) -> bool {
    let last = before.story.attempts.last();
    let nacked = last.is_some_and(|attempt| {
        attempt.epoch == Some(fence.epoch) && attempt.outcome == AttemptOutcome::Nacked
    });
    nacked && *fence == Fence::of_row(&before.row, moment.identity)
}

/// R7: only who holds the work can end the chain with it.
pub(super) fn hop_limit(
    before: &Delivery,
    fence: &Fence,
    reason: String,
    refused: Option<serde_json::Value>,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    check(before, fence, moment)?;
    let by = By { agent: Some(before.row.agent.clone()), reason };
    park(before, ParkCause::HopLimit, by, refused, moment)
}

pub(super) fn reject(
    before: &Delivery,
    fence: &Fence,
    reason: String,
    question: Option<String>,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    if ended_by(before, fence, moment, DeliveryState::Rejected) {
        return Ok(Step::unchanged(before));
    }
    check(before, fence, moment)?;
    let mut after = before.clone();
    after.row.state = DeliveryState::Rejected;
    after.story.lease = None;
    let ending = Ending::new(moment.now, Some(after.row.agent.clone()));
    let (epoch, reason) = (Some(fence.epoch), Some(reason));
    after.story.ending = Some(Ending { epoch, reason, question, ..ending });
    let alive = Effect::Alive(after.row.agent.clone());
    Ok(Step { after, effects: vec![Effect::Log("delivery.rejected"), alive, Effect::Ended] })
}
