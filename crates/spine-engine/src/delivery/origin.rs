//! Handoffs that come out of a delivery: the work that somebody has at hand goes on, unless it says that this is a new task.

use spine_protocol::DeliveryId;
use spine_store::EventDraft;

use super::hand_on::Next;
use super::send::SendOptions;
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::assembly::{Assembled, HandoffRequest};
use crate::idempotency::request_digest;

/// The delivery that somebody works on while it hands something off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Which one.
    pub delivery: DeliveryId,
    /// Whether the handoff is a task of its own all the same. That is on record.
    pub new_task: bool,
}

impl Deliveries {
    /// Assembles an envelope without sending it. Its parent is the origin's envelope, unless it names others.
    pub async fn assemble_from(
        &self,
        caller: &Caller,
        origin: Option<Origin>,
        request: HandoffRequest,
    ) -> Result<Assembled> {
        let (parent, request) = self.following(caller, origin, request).await?;
        let digest = request_digest(caller, "assemble", &(&caller.agent, &request));
        if let Some(answer) = self.handoffs.replayed(caller, &digest).await? {
            return Ok(answer);
        }
        let next = Next { handoff: request.clone(), options: SendOptions::default() };
        let request = self.with_target_budget(caller, request).await?;
        let made = match (self.handoffs.prepare(caller, request).await, parent) {
            (Err(error), Some(parent)) => {
                let fence = self.fence_of(&parent);
                return Err(self.refused_hop(caller, &parent, fence, &next, error).await);
            }
            (made, _) => made?,
        };
        Ok(self.handoffs.kept(caller, made, digest, note(caller, origin)).await?)
    }

    /// Assembles an envelope and sends it. Its parent is the origin's envelope, unless it names others; at the hop limit the
    /// origin is parked with what was refused.
    pub async fn hand_off_from(
        &self,
        caller: &Caller,
        origin: Option<Origin>,
        request: HandoffRequest,
        options: SendOptions,
    ) -> Result<(Assembled, Delivery)> {
        let (parent, handoff) = self.following(caller, origin, request).await?;
        let next = Next { handoff: handoff.clone(), options: options.clone() };
        let made = self.hand_off_noting(caller, handoff, options, note(caller, origin)).await;
        match (made, parent) {
            (Err(DeliveryError::Assembly(error)), Some(parent)) => {
                let fence = self.fence_of(&parent);
                Err(self.refused_hop(caller, &parent, fence, &next, error).await)
            }
            (made, _) => made,
        }
    }

    async fn following(
        &self,
        caller: &Caller,
        origin: Option<Origin>,
        mut request: HandoffRequest,
    ) -> Result<(Option<Delivery>, HandoffRequest)> {
        let Some(origin) = origin else { return Ok((None, request)) };
        let delivery = self.get(caller, origin.delivery).await?;
        if !origin.new_task && request.parents.is_empty() {
            request.parents.push(delivery.row.envelope);
        }
        Ok((Some(delivery), request))
    }
}

fn note(caller: &Caller, origin: Option<Origin>) -> Option<EventDraft> {
    let origin = origin.filter(|origin| origin.new_task)?;
    let mut note = EventDraft::new("task.new");
    note.actor.clone_from(&caller.agent);
    note.delivery = Some(origin.delivery);
    Some(note)
}
