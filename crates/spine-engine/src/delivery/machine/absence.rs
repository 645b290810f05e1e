//! An attempt that gave nothing: again after a while, then the next agent, then a person.

use spine_store::{DeliveryState, UnixMs};

use super::queue::enqueue;
use super::{Effect, Moment, Refusal, Step};
use crate::delivery::limits::BREAKER_OPEN_MS;
use crate::delivery::policy::later;
use crate::delivery::story::{Attempt, AttemptOutcome, Delivery, ParkCause, ParkedReason};

/// Whether the same agent is to be asked again, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retry {
    pub(super) again: bool,
    pub(super) after_ms: Option<u64>,
}

const BY_POLICY: Retry = Retry { again: true, after_ms: None };

pub(super) fn due(before: &Delivery, moment: &Moment<'_>) -> Result<Step, Refusal> {
    match before.state() {
        DeliveryState::Pending => Ok(due_in_queue(before, moment)),
        DeliveryState::Leased | DeliveryState::Accepted => Ok(due_with_lease(before, moment)),
        _ => Ok(Step::unchanged(before)),
    }
}

fn due_in_queue(before: &Delivery, moment: &Moment<'_>) -> Step {
    let (story, now) = (&before.story, moment.now);
    let passed = |at: Option<UnixMs>| at.is_some_and(|at| at <= now);
    if passed(story.expires_at) {
        return parked(before.clone(), ParkCause::Expired, "its expires_at has passed", now);
    }
    if story.pending_until <= now {
        let reason = format!("nobody took it in {} s", story.policy.pending_ms_max / 1000);
        return parked(before.clone(), ParkCause::NobodyTookIt, &reason, now);
    }
    if !passed(story.take_by) {
        return Step::unchanged(before);
    }
    match moment.held_until.filter(|until| *until > now) {
        Some(until) => waiting_for_agent(before, until, now),
        None => spent(before.clone(), AttemptOutcome::NotTaken, None, BY_POLICY, moment),
    }
}

/// An agent that is given no work cannot take any: that is no attempt. It may be given work again before its time.
fn waiting_for_agent(before: &Delivery, until: UnixMs, now: UnixMs) -> Step {
    let mut after = before.clone();
    let until = until.min(later(now, BREAKER_OPEN_MS));
    after.story.take_by = Some(later(until, after.story.policy.take_ms));
    Step { after, effects: Vec::new() }
}

fn due_with_lease(before: &Delivery, moment: &Moment<'_>) -> Step {
    let alive = before.story.lease.as_ref().is_some_and(|lease| lease.until > moment.now);
    if alive {
        return Step::unchanged(before);
    }
    spent(before.clone(), AttemptOutcome::LeaseExpired, None, BY_POLICY, moment)
}

/// One attempt is spent.
pub(super) fn spent(
    mut delivery: Delivery,
    outcome: AttemptOutcome,
    reason: Option<String>,
    retry: Retry,
    moment: &Moment<'_>,
) -> Step {
    let agent = delivery.row.agent.clone();
    let dropped = (outcome != AttemptOutcome::Nacked).then_some(Effect::Dropped(agent));
    let attempt = attempt(&delivery, outcome, reason, moment.now);
    delivery.story.add_attempt(attempt);
    let log = Effect::Log(match outcome {
        AttemptOutcome::NotTaken => "delivery.not_taken",
        AttemptOutcome::LeaseExpired => "delivery.lease_expired",
        AttemptOutcome::Nacked => "delivery.nacked",
    });
    let mut step = if retry.again && delivery.story.spent < delivery.story.policy.attempts_max {
        again(delivery, retry, moment)
    } else {
        exhausted(delivery, moment)
    };
    step.effects.insert(0, log);
    step.effects.extend(dropped);
    step
}

fn attempt(
    delivery: &Delivery,
    outcome: AttemptOutcome,
    reason: Option<String>,
    at: UnixMs,
) -> Attempt {
    let Delivery { row, story } = delivery;
    let lease = story.lease.as_ref();
    Attempt {
        agent: row.agent.clone(),
        epoch: lease.map(|_| row.epoch),
        holder: lease.and_then(|lease| lease.holder.clone()),
        since: lease.map_or(row.visible_at, |lease| lease.since),
        at,
        outcome,
        reason,
    }
}

fn again(mut delivery: Delivery, retry: Retry, moment: &Moment<'_>) -> Step {
    let by_policy =
        || delivery.story.policy.retry_at(delivery.story.spent, moment.now, moment.random);
    let visible_at = retry.after_ms.map_or_else(by_policy, |ms| later(moment.now, ms));
    let agent = delivery.row.agent.clone();
    enqueue(&mut delivery, agent.clone(), visible_at);
    Step { after: delivery, effects: vec![Effect::Offer(agent)] }
}

fn exhausted(mut delivery: Delivery, moment: &Moment<'_>) -> Step {
    let agent = delivery.row.agent.clone();
    let counted = delivery.story.absent.then(|| Effect::Exhausted(agent.clone()));
    let mut step = if delivery.story.fallbacks.is_empty() {
        let attempts = delivery.story.attempts_ended;
        let reason = format!("no attempts left after {attempts}, the last with {agent}");
        parked(delivery, ParkCause::AttemptsExhausted, &reason, moment.now)
    } else {
        let fallback = delivery.story.fallbacks.remove(0);
        reroute(delivery, fallback, moment)
    };
    step.effects.extend(counted);
    step
}

fn reroute(mut delivery: Delivery, agent: spine_protocol::AgentName, moment: &Moment<'_>) -> Step {
    delivery.story.spent = 0;
    delivery.story.absent = true;
    let left = Effect::Left(delivery.row.agent.clone());
    enqueue(&mut delivery, agent.clone(), moment.now);
    let effects = vec![Effect::Log("delivery.rerouted"), Effect::Offer(agent), left];
    Step { after: delivery, effects }
}

/// Kept for a person.
pub(super) fn parked(mut delivery: Delivery, cause: ParkCause, reason: &str, at: UnixMs) -> Step {
    delivery.row.state = DeliveryState::Parked;
    delivery.story.lease = None;
    delivery.story.take_by = None;
    delivery.story.add_parked(ParkedReason { at, cause, reason: reason.to_owned(), by: None });
    Step { after: delivery, effects: vec![Effect::Log("delivery.parked"), Effect::Ended] }
}
