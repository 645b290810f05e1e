//! Into the queue and out of it.

use spine_protocol::AgentName;
use spine_store::{DeliveryState, UnixMs};

use super::{Effect, Moment, Refusal, Step};
use crate::delivery::limits::{LEASE_MS_MAX, LEASE_MS_MIN};
use crate::delivery::policy::later;
use crate::delivery::story::{Delivery, Lease};

/// Puts it into an agent's queue, visible from a moment on.
pub(super) fn enqueue(delivery: &mut Delivery, agent: AgentName, visible_at: UnixMs) {
    let Delivery { row, story } = delivery;
    row.agent = agent;
    row.state = DeliveryState::Pending;
    row.visible_at = visible_at;
    story.lease = None;
    story.pending_until = later(visible_at, story.policy.pending_ms_max);
    story.take_by = story.direct.then(|| later(visible_at, story.policy.take_ms));
}

pub(super) fn lease(
    before: &Delivery,
    holder: Option<String>,
    lease_ms: Option<u64>,
    accept: bool,
    moment: &Moment<'_>,
) -> Result<Step, Refusal> {
    let ready = before.state() == DeliveryState::Pending && before.row.visible_at <= moment.now;
    if !ready {
        return Err(Refusal::NotReady);
    }
    let mut after = before.clone();
    let lease_ms =
        lease_ms.unwrap_or(after.story.policy.lease_ms).clamp(LEASE_MS_MIN, LEASE_MS_MAX);
    let (until, ticket) = (later(moment.now, lease_ms), moment.random);
    after.row.state = DeliveryState::Leased;
    after.row.epoch += 1;
    after.row.incarnation = moment.identity.incarnation;
    after.story.take_by = None;
    after.story.lease = Some(Lease { holder, since: moment.now, until, lease_ms, ticket });
    let mut effects = vec![Effect::Log("delivery.leased")];
    if accept {
        effects = mark_accepted(&mut after, moment.now);
    }
    Ok(Step { after, effects })
}

/// The handoff's acknowledgement.
pub(super) fn mark_accepted(delivery: &mut Delivery, now: UnixMs) -> Vec<Effect> {
    delivery.row.state = DeliveryState::Accepted;
    delivery.story.accepted_at.get_or_insert(now);
    vec![Effect::Log("delivery.accepted"), Effect::Alive(delivery.row.agent.clone())]
}

/// When the engine must look at it again.
pub(in crate::delivery) fn due_at(delivery: &Delivery) -> Option<UnixMs> {
    let story = &delivery.story;
    match delivery.state() {
        DeliveryState::Pending => {
            let ends = [Some(story.pending_until), story.expires_at, story.take_by];
            ends.into_iter().flatten().min()
        }
        DeliveryState::Leased | DeliveryState::Accepted => {
            story.lease.as_ref().map(|lease| lease.until)
        }
        _ => None,
    }
}
