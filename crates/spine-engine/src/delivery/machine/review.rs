//! What senders and people do from outside.

use serde_json::Value;
use spine_protocol::{AgentName, EnvelopeId};
use spine_store::DeliveryState;

use super::absence::parked;
use super::held::done;
use super::queue::enqueue;
use super::{By, Completion, Effect, Moment, Refusal, Step};
use crate::delivery::policy::later;
use crate::delivery::story::{Delivery, Ending, ParkCause};

pub(super) fn cancel(before: &Delivery, by: By, moment: &Moment<'_>) -> Result<Step, Refusal> {
    match before.state() {
        DeliveryState::Cancelled => Ok(Step::unchanged(before)),
        DeliveryState::Done | DeliveryState::Rejected => Err(Refusal::Over(before.state())),
        _ => Ok(cancelled(before, by, "delivery.cancelled", moment)),
    }
}

fn cancelled(before: &Delivery, by: By, log: &'static str, moment: &Moment<'_>) -> Step {
    let mut after = before.clone();
    after.row.state = DeliveryState::Cancelled;
    after.story.lease = None;
    after.story.take_by = None;
    let ending = Ending::new(moment.now, by.agent);
    after.story.ending = Some(Ending { reason: Some(by.reason), ..ending });
    Step { after, effects: vec![Effect::Log(log), Effect::Ended] }
}

pub(super) fn park(
    before: &Delivery,
    cause: ParkCause,
    by: By,
    refused: Option<Value>,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    let state = before.state();
    if !state.waits() {
        return Err(Refusal::Over(state));
    }
    let mut step = parked(before.clone(), cause, &by.reason, moment.now);
    let story = &mut step.after.story;
    if let Some(last) = story.parked.last_mut() {
        last.by = by.agent;
    }
    if refused.is_some() {
        story.refused = refused;
    }
    Ok(step)
}

fn check_parked(before: &Delivery) -> Result<(), Refusal> {
    let state = before.state();
    if state == DeliveryState::Parked { Ok(()) } else { Err(Refusal::NotParked(state)) }
}

/// Back into a queue with all attempts, also when it had expired: a person wants it tried. Nobody waits for it any
/// more, so it can wait for its agent.
pub(super) fn requeue(
    before: &Delivery,
    target: Option<AgentName>,
    after_ms: u64,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    check_parked(before)?;
    let mut after = before.clone();
    let agent = target.unwrap_or_else(|| after.row.agent.clone());
    after.story.spent = 0;
    after.story.absent = true;
    after.story.direct = false;
    after.story.expires_at = None;
    enqueue(&mut after, agent.clone(), later(moment.now, after_ms));
    let effects = vec![Effect::Log("delivery.requeued"), Effect::Offer(agent)];
    Ok(Step { after, effects })
}

pub(super) fn resolve(
    before: &Delivery,
    by: By,
    completion: Completion,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    check_parked(before)?;
    let mut after = before.clone();
    let reason = Some(by.reason).filter(|reason| !reason.is_empty());
    let ending = Ending { by_hand: true, reason, ..Ending::new(moment.now, by.agent) };
    done(&mut after, completion, ending);
    Ok(Step { after, effects: vec![Effect::Log("delivery.resolved"), Effect::Ended] })
}

pub(super) fn discard(before: &Delivery, by: By, moment: &Moment<'_>) -> Result<Step, Refusal> {
    check_parked(before)?;
    let mut step = cancelled(before, by, "delivery.discarded", moment);
    mark_by_hand(&mut step, None);
    Ok(step)
}

pub(super) fn replace(
    before: &Delivery,
    by: By,
    envelope: EnvelopeId,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    check_parked(before)?;
    let mut step = cancelled(before, by, "delivery.resent", moment);
    mark_by_hand(&mut step, Some(envelope));
    Ok(step)
}

fn mark_by_hand(step: &mut Step, next: Option<EnvelopeId>) {
    if let Some(ending) = &mut step.after.story.ending {
        ending.by_hand = true;
        ending.next = next;
    }
}
