//! Waiting for what becomes of a delivery. The end of the waiting is never the end of the delivery.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use spine_protocol::DeliveryId;
use spine_store::DeliveryState;

use super::bell::Topic;
use super::limits::{LOOK_AGAIN, WAIT_MAX};
use super::story::Delivery;
use super::{Deliveries, Result};
use crate::Caller;
use crate::patience::within;

/// What a sender waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// A receiver has it and takes the work.
    #[default]
    Accepted,
    /// The work is done.
    Done,
}

impl Until {
    /// Whether waiting any longer would be in vain.
    pub fn is_met(self, state: DeliveryState) -> bool {
        match state {
            DeliveryState::Pending | DeliveryState::Leased => false,
            DeliveryState::Accepted => self == Self::Accepted,
            _ => true,
        }
    }
}

impl Deliveries {
    /// The delivery when it is as far as that, or as it is when the time is up. Asking again goes on waiting.
    pub async fn wait(
        &self,
        caller: &Caller,
        id: DeliveryId,
        until: Until,
        timeout: Duration,
    ) -> Result<Delivery> {
        let end = self.store.now().after(timeout.min(WAIT_MAX));
        loop {
            let mut bell = self.bells.listen(Topic::Delivery(caller.workspace.clone(), id));
            let delivery = self.get(caller, id).await?;
            let now = self.store.now();
            if until.is_met(delivery.state()) || now >= end || self.bells.is_stopped() {
                return Ok(delivery);
            }
            let left = Duration::from_millis(u64::try_from(end.0 - now.0).unwrap_or_default());
            within(&self.timer, left.min(LOOK_AGAIN), bell.heard()).await;
        }
    }
}
