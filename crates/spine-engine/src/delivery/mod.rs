//! Delivery: every handoff arrives, or a person hears about it.
//!
//! `machine` decides what an event makes of a delivery; everything else here reads rows, asks the machine, and applies the
//! answer as guarded commands, again when another writer was first.

mod act;
mod agents;
mod bell;
pub mod breaker;
mod cancel;
mod channel;
mod due;
mod erase;
mod error;
mod fence;
mod hand_on;
mod head;
mod inbox;
mod join;
pub mod limits;
pub mod machine;
mod origin;
pub mod pipeline;
pub mod policy;
mod receive;
mod recover;
mod retention;
mod review;
mod send;
mod settle;
mod story;
mod trace;
mod wait;
mod webhooks;

use std::sync::{Arc, Mutex};

use spine_protocol::DeliveryId;
use spine_store::{Identity, Store, UnixMs};

pub(crate) use act::{read_record, to_record};
pub(crate) use agents::key as record_key;
pub use agents::{AgentOptions, AgentView, BreakerOrder, Webhook};
pub use channel::{Channel, Publication, PublicationView, PublishRequest};
pub use erase::{Erasure, Forgotten};
pub use error::DeliveryError;
pub use fence::Fence;
pub use hand_on::Next;
pub use join::{Join, JoinRequest, Made};
pub use origin::Origin;
pub use receive::{Handle, ReceiveRequest, Received};
pub use recover::{Recovered, RecoveredMemory};
pub use retention::{Pruned, Retention};
pub use review::{Many, ParkedFilter, Reviewed};
pub use send::{SendOptions, SendRequest};
pub use settle::{Ack, Done};
pub use story::{
    Attempt, AttemptOutcome, Delivery, Ending, Lease, ParkCause, ParkedReason, Progress, Story,
};
pub use trace::Trace;
pub use wait::Until;

use crate::assembly::Handoffs;
use crate::{Entropy, Timer};
use bell::Bells;
use inbox::Inboxes;
use policy::Policy;
use receive::Orphan;

type Result<T> = std::result::Result<T, DeliveryError>;

/// Everything that can be done with deliveries. Clones share who waits for what.
#[derive(Clone)]
pub struct Deliveries {
    store: Arc<dyn Store>,
    identity: Arc<Identity>,
    handoffs: Handoffs,
    entropy: Arc<Entropy>,
    timer: Arc<dyn Timer>,
    policy: Policy,
    bells: Arc<Bells>,
    inboxes: Arc<Inboxes>,
    orphans: Arc<Mutex<Vec<Orphan>>>,
}

impl Deliveries {
    /// Over a store, its handoffs, a source of ids, a timer, and the server's policy.
    pub fn new(
        store: Arc<dyn Store>,
        handoffs: Handoffs,
        entropy: Arc<Entropy>,
        timer: Arc<dyn Timer>,
        policy: Policy,
    ) -> Self {
        let identity = Arc::new(store.identity());
        let (bells, inboxes, orphans) = Default::default();
        Self { store, identity, handoffs, entropy, timer, policy, bells, inboxes, orphans }
    }

    /// Answers everybody who waits with what there is: the server is about to stop.
    pub fn stop_waiting(&self) {
        self.bells.stop();
    }

    fn new_id(&self, now: UnixMs) -> DeliveryId {
        let unix_ms = u64::try_from(now.0).unwrap_or_default();
        DeliveryId::from_parts(unix_ms, self.entropy.next())
    }

    fn random(&self) -> u64 {
        // Half of the bits are as random as all of them.
        self.entropy.next() as u64
    }

    fn fence_of(&self, delivery: &Delivery) -> Fence {
        Fence::of_row(&delivery.row, &self.identity)
    }
}
