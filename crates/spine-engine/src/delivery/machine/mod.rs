//! The state machine of a delivery: one pure function from a delivery, an event and a moment to the delivery after it
//! and what follows. Nothing else in the engine changes a delivery. The diagram is in `docs/delivery.md`.

mod absence;
mod held;
mod queue;
mod review;
#[cfg(test)]
mod tests;

pub(in crate::delivery) use queue::due_at;
use serde_json::Value;
use spine_protocol::{AgentName, Digest, EnvelopeId};
use spine_store::{DeliveryState, Identity, UnixMs};

use super::fence::Fence;
use super::story::{Delivery, ParkCause};

/// What happens to a delivery.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A receiver takes it, or takes and accepts it in one.
    Lease {
        /// What the receiver's process calls itself.
        holder: Option<String>,
        /// Another lease time than the policy's.
        lease_ms: Option<u64>,
        /// Whether that is its acknowledgement as well.
        accept: bool,
    },
    /// What was taken never reached the receiver: given back, and no attempt spent. Whoever took it may not know whether it
    /// did: the ticket says that it is this very lease, and not the one that another got under the same number.
    Release(Fence, u64),
    /// The receiver has the whole envelope and takes the work.
    Accept(Fence),
    /// The receiver is alive.
    Extend(Fence, Option<u64>),
    /// The receiver says how far it is.
    Progress(Fence, Note),
    /// The receiver is done.
    Complete(Fence, Completion),
    /// The receiver could not.
    Nack {
        /// Its lease.
        fence: Fence,
        /// Why.
        reason: String,
        /// Whether the same agent is to be asked again.
        retry: bool,
        /// When, instead of the policy's backoff.
        after_ms: Option<u64>,
    },
    /// It was to be pushed, and nobody was there: as if nobody had taken it.
    Unreached {
        /// The lease it was to be pushed with.
        fence: Fence,
        /// Why.
        reason: String,
        /// Whether the same agent is to be tried again.
        retry: bool,
    },
    /// The receiver will not, and nobody is to try again.
    Reject {
        /// Its lease.
        fence: Fence,
        /// Why.
        reason: String,
        /// A question back.
        question: Option<String>,
    },
    /// The receiver wanted to hand on beyond the hop limit: kept for a person, with what was refused.
    HopLimit {
        /// Its lease.
        fence: Fence,
        /// Why.
        reason: String,
        /// What was refused.
        refused: Option<Value>,
    },
    /// Time has passed.
    Due,
    /// The sender wants it no more.
    Cancel(By),
    /// Somebody sets it aside for a person.
    Park(ParkCause, By, Option<Value>),
    /// A person wants it tried again.
    Requeue {
        /// Who, and why.
        by: By,
        /// With another agent.
        target: Option<AgentName>,
        /// Not before this long.
        after_ms: u64,
    },
    /// A person did it.
    Resolve(By, Completion),
    /// A person gives it up.
    Discard(By),
    /// A person sent an edited one in its place.
    Replace(By, EnvelopeId),
}

/// Who does something from outside, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct By {
    /// Who.
    pub agent: Option<AgentName>,
    /// Why.
    pub reason: String,
}

/// How far a receiver is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Note {
    /// In words; empty for a checkpoint alone.
    pub text: String,
    /// In percent.
    pub percent: Option<f64>,
    /// Where a redelivery can go on from.
    pub checkpoint: Option<Value>,
}

/// What a receiver gives back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Completion {
    /// The result, as canonical JSON.
    pub result: Option<Vec<u8>>,
    /// Its digest.
    pub digest: Option<Digest>,
    /// What was done.
    pub action: Option<String>,
    /// For which reason.
    pub why: Option<String>,
    /// The envelope that the work goes on in.
    pub next: Option<EnvelopeId>,
}

/// What the machine knows of the world.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The store's clock.
    pub now: UnixMs,
    /// For the jitter.
    pub random: u64,
    /// Whose leases are valid.
    pub identity: &'a Identity,
    /// Until when its agent is given no work: a breaker is open, or it is paused.
    pub held_until: Option<UnixMs>,
}

/// What follows from a step, beside the delivery itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A line in the audit log.
    Log(&'static str),
    /// There is work for this agent.
    Offer(AgentName),
    /// It went from this agent's queue to another's: the next of its lane can be taken.
    Left(AgentName),
    /// An agent took work: its breaker closes.
    Alive(AgentName),
    /// An agent did not take or hold work: if that was the probe, its breaker opens again.
    Dropped(AgentName),
    /// Nobody took or held it: its agent's breaker counts that.
    Exhausted(AgentName),
    /// It is not open any more: a publication may be complete.
    Ended,
}

/// Why an event has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Somebody else has, or had, the newer lease.
    LeaseLost,
    /// It was cancelled meanwhile.
    Cancelled(Option<String>),
    /// It is over.
    Over(DeliveryState),
    /// Only what is parked can be reviewed.
    NotParked(DeliveryState),
    /// It cannot be taken now.
    NotReady,
}

/// A delivery after an event, and what follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The delivery.
    pub after: Delivery,
    /// What follows; nothing at all if nothing changed.
    pub effects: Vec<Effect>,
}

impl Step {
    fn unchanged(before: &Delivery) -> Self {
        Self { after: before.clone(), effects: Vec::new() }
    }

    /// Whether there is anything to write.
    pub fn is_change(&self, before: &Delivery) -> bool {
        self.after != *before
    }
}

/// The whole machine.
pub fn step(before: &Delivery, event: Event, moment: &Moment<'_>) -> Result<Step, Refusal> {
    let mut step = decide(before, event, moment)?;
    step.after.row.due_at = queue::due_at(&step.after);
    Ok(step)
}

fn decide(before: &Delivery, event: Event, moment: &Moment<'_>) -> Result<Step, Refusal> {
    match event {
        Event::Lease { holder, lease_ms, accept } => {
            queue::lease(before, holder, lease_ms, accept, moment)
        }
        Event::Release(fence, ticket) => held::release(before, &fence, ticket, moment),
        Event::Accept(fence) => held::accept(before, &fence, moment),
        Event::Extend(fence, ms) => held::extend(before, &fence, ms, moment),
        Event::Progress(fence, note) => held::progress(before, &fence, note, moment),
        Event::Complete(fence, completion) => held::complete(before, &fence, completion, moment),
        Event::Nack { fence, reason, retry, after_ms } => {
            held::nack(before, &fence, reason, absence::Retry { again: retry, after_ms }, moment)
        }
        Event::Unreached { fence, reason, retry } => {
            held::unreached(before, &fence, reason, retry, moment)
        }
        Event::Reject { fence, reason, question } => {
            held::reject(before, &fence, reason, question, moment)
        }
        Event::HopLimit { fence, reason, refused } => {
            held::hop_limit(before, &fence, reason, refused, moment)
        }
        Event::Due => absence::due(before, moment),
        Event::Cancel(by) => review::cancel(before, by, moment),
        Event::Park(cause, by, refused) => review::park(before, cause, by, refused, moment),
        Event::Requeue { by: _, target, after_ms } => {
            review::requeue(before, target, after_ms, moment)
        }
        Event::Resolve(by, completion) => review::resolve(before, by, completion, moment),
        Event::Discard(by) => review::discard(before, by, moment),
        Event::Replace(by, envelope) => review::replace(before, by, envelope, moment),
    }
}
