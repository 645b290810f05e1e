//! An engine on the model store, with a clock that moves when somebody waits.

use std::sync::Arc;
use std::time::Duration;

use spine_engine::assembly::{HandoffRequest, Handoffs};
use spine_engine::delivery::policy::Policy;
use spine_engine::delivery::{
    Ack, Deliveries, Delivery, DeliveryError, Next, ReceiveRequest, Received, SendOptions,
    SendRequest,
};
use spine_engine::memories::{Memories, NewMemory};
use spine_engine::{Caller, Elapsed, Entropy, Timer};
use spine_protocol::{AgentName, DeliveryId, Envelope, EnvelopeId, MemoryId};
use spine_store::testing::{ManualClock, ModelRetriever, ModelStore, block_on};
use spine_store::{Event, EventQuery, LogReads, UnixMs};

pub struct House {
    pub clock: Arc<ManualClock>,
    pub store: Arc<ModelStore>,
    pub memories: Memories,
    pub handoffs: Handoffs,
    pub deliveries: Deliveries,
    pub caller: Caller,
}

/// Whoever waits finds that the time has passed.
struct Jump(Arc<ManualClock>);

impl Timer for Jump {
    fn after(&self, duration: Duration) -> Elapsed {
        let clock = self.0.clone();
        Box::pin(async move { clock.advance_ms(duration.as_millis() as i64) })
    }
}

pub fn house() -> House {
    let clock = Arc::new(ManualClock::at(UnixMs(1_768_469_400_000)));
    house_on(Arc::new(ModelStore::new(clock.clone())), clock)
}

/// Nobody waits long enough for anything but to be told.
struct StandStill;

impl Timer for StandStill {
    fn after(&self, _: Duration) -> Elapsed {
        Box::pin(std::future::pending())
    }
}

/// One in which nobody's time is ever up.
pub fn house_where_time_stands_still() -> House {
    let clock = Arc::new(ManualClock::at(UnixMs(1_768_469_400_000)));
    house_with(Arc::new(ModelStore::new(clock.clone())), clock, Arc::new(StandStill))
}

/// Another server process on the same store.
pub fn house_on(store: Arc<ModelStore>, clock: Arc<ManualClock>) -> House {
    house_with(store, clock.clone(), Arc::new(Jump(clock)))
}

fn house_with(store: Arc<ModelStore>, clock: Arc<ManualClock>, timer: Arc<dyn Timer>) -> House {
    let memories = Memories::new(store.clone(), Arc::new(ModelRetriever::new(store.clone())));
    let entropy = Arc::new(Entropy::from_seed([7; 32]));
    let handoffs = Handoffs::new(store.clone(), memories.clone(), entropy.clone(), timer.clone());
    let policy = Policy { backoff_first_ms: 0, ..Policy::default() };
    let deliveries = Deliveries::new(store.clone(), handoffs.clone(), entropy, timer, policy);
    let caller = Caller { agent: agent("analyst"), ..Caller::of("default".parse().unwrap()) };
    House { clock, store, memories, handoffs, deliveries, caller }
}

pub fn agent(name: &str) -> Option<AgentName> {
    Some(name.parse().unwrap())
}

pub fn name(name: &str) -> AgentName {
    name.parse().unwrap()
}

pub fn handoff(to: &str, summary: &str) -> HandoffRequest {
    HandoffRequest { include_recent: 0, ..HandoffRequest::new(name(to), summary) }
}

pub fn direct() -> SendOptions {
    SendOptions { direct: true, ..SendOptions::default() }
}

pub fn with_fallback(to: &str) -> SendOptions {
    SendOptions { fallbacks: Some(vec![name(to)]), ..direct() }
}

pub fn next(to: &str, summary: &str) -> Ack {
    let next = Next { handoff: handoff(to, summary), options: SendOptions::default() };
    Ack { next: Some(Box::new(next)), ..Ack::default() }
}

pub fn result(value: serde_json::Value) -> Ack {
    Ack { result: Some(value), ..Ack::default() }
}

impl House {
    pub fn note(&self, text: &str) -> MemoryId {
        let new = NewMemory { text: text.to_owned(), ..NewMemory::default() };
        block_on(self.memories.store(&self.caller, new)).unwrap().memory.id
    }

    pub fn envelope(&self, to: &str) -> EnvelopeId {
        let request = handoff(to, "Do the work.");
        block_on(self.handoffs.assemble(&self.caller, request)).unwrap().envelope.id
    }

    pub fn try_send(&self, to: &str, options: SendOptions) -> Result<Delivery, DeliveryError> {
        let request = SendRequest { envelope: self.envelope(to), options };
        let sent = block_on(self.deliveries.send(&self.caller, vec![request]))?;
        Ok(sent.into_iter().next().unwrap())
    }

    pub fn send(&self, to: &str) -> DeliveryId {
        self.try_send(to, SendOptions::default()).unwrap().row.id
    }

    /// What an agent gets now, accepted.
    pub fn take_all(&self, from: &str, max: usize) -> Vec<Received> {
        let request = ReceiveRequest { max, accept: true, ..ReceiveRequest::new(name(from)) };
        block_on(self.deliveries.receive(&self.caller, request)).unwrap()
    }

    pub fn take(&self, from: &str) -> Received {
        self.try_take(from).unwrap_or_else(|| panic!("nothing for {from}"))
    }

    pub fn try_take(&self, from: &str) -> Option<Received> {
        self.take_all(from, 1).pop()
    }

    pub fn complete(&self, received: &Received, ack: Ack) -> Result<Delivery, DeliveryError> {
        let (id, fence) = (received.delivery.row.id, received.fence.clone());
        let done = block_on(self.deliveries.complete(&self.caller, id, fence, ack))?;
        Ok(done.delivery)
    }

    pub fn get(&self, id: DeliveryId) -> Delivery {
        block_on(self.deliveries.get(&self.caller, id)).unwrap()
    }

    pub fn state(&self, id: DeliveryId) -> &'static str {
        self.get(id).state().as_str()
    }

    /// Lets time pass, and does what is due at every second of it.
    pub fn pass(&self, seconds: u64) {
        for _ in 0..seconds {
            self.clock.advance_ms(1000);
            block_on(self.deliveries.run_due()).unwrap();
        }
    }

    pub fn due(&self) {
        block_on(self.deliveries.run_due()).unwrap();
    }

    /// Nobody takes three direct handoffs: the breaker opens.
    pub fn open_breaker(&self, of: &str) -> Vec<DeliveryId> {
        let sent: Vec<_> = (0..3).map(|_| self.try_send(of, direct()).unwrap().row.id).collect();
        self.pass(46);
        sent
    }

    pub fn read(&self, received: &Received) -> Envelope {
        Envelope::read(&received.envelope.bytes).unwrap()
    }

    pub fn events(&self, prefix: &str) -> Vec<Event> {
        let query = EventQuery {
            kinds_prefix: Some(prefix.to_owned()),
            limit: 1000,
            ..EventQuery::default()
        };
        block_on(self.store.events_of(&self.caller.workspace, query)).unwrap().items
    }

    pub fn kinds(&self, prefix: &str) -> Vec<String> {
        self.events(prefix).into_iter().map(|event| event.kind.into_owned()).collect()
    }
}
