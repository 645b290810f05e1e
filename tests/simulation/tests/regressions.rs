//! What the simulation found, each as a short play of its own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::json;
use spine_engine::assembly::{HandoffRequest, Handoffs};
use spine_engine::delivery::policy::{Policy, PolicyPart};
use spine_engine::delivery::{
    Ack, Deliveries, Delivery, DeliveryError, JoinRequest, Next, PublishRequest, ReceiveRequest,
    Received, SendOptions,
};
use spine_engine::memories::Memories;
use spine_engine::{Caller, Elapsed, Entropy, Timer};
use spine_protocol::AgentName;
use spine_simulation::calls::handoff;
use spine_store::testing::{Fault, ManualClock, ModelRetriever, ModelStore, block_on};
use spine_store::{DeliveryState, ErrorKind, UnixMs};

struct NoPatience;

impl Timer for NoPatience {
    fn after(&self, _: Duration) -> Elapsed {
        Box::pin(std::future::ready(()))
    }
}

struct House {
    clock: Arc<ManualClock>,
    store: Arc<ModelStore>,
    deliveries: Deliveries,
    handoffs: Handoffs,
    caller: Caller,
}

fn house() -> House {
    let clock = Arc::new(ManualClock::at(UnixMs(1_768_469_400_000)));
    let store = Arc::new(ModelStore::new(clock.clone()));
    let memories = Memories::new(store.clone(), Arc::new(ModelRetriever::new(store.clone())));
    let entropy = Arc::new(Entropy::from_seed([7; 32]));
    let timer = Arc::new(NoPatience);
    let handoffs = Handoffs::new(store.clone(), memories, entropy.clone(), timer.clone());
    let policy = Policy { backoff_first_ms: 0, ..Policy::default() };
    let deliveries = Deliveries::new(store.clone(), handoffs.clone(), entropy, timer, policy);
    let caller = Caller { agent: Some(agent("ann")), ..Caller::of("default".parse().unwrap()) };
    House { clock, store, deliveries, handoffs, caller }
}

fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

fn once() -> SendOptions {
    let policy = PolicyPart { attempts_max: Some(1), ..PolicyPart::default() };
    SendOptions { policy, ..SendOptions::default() }
}

fn keyed(caller: &Caller, key: &str) -> Caller {
    Caller { idempotency_key: key.parse().ok(), ..caller.clone() }
}

impl House {
    fn send(&self, to: &str, max_hops: u32, options: SendOptions) -> Delivery {
        let request = handoff(agent(to), "work".into(), max_hops);
        block_on(self.deliveries.hand_off(&self.caller, request, options)).unwrap().1
    }

    fn receive(&self, name: &str, accept: bool) -> Result<Vec<Received>, DeliveryError> {
        let request = ReceiveRequest { accept, ..ReceiveRequest::new(agent(name)) };
        block_on(self.deliveries.receive(&self.caller, request))
    }

    fn take(&self, name: &str) -> Received {
        self.receive(name, false).unwrap().pop().expect("something to take")
    }

    fn complete(&self, held: &Received, ack: Ack) -> Result<Delivery, DeliveryError> {
        let (id, fence) = (held.delivery.row.id, held.fence.clone());
        let done = block_on(self.deliveries.complete(&self.caller, id, fence, ack));
        done.map(|done| done.delivery)
    }

    fn pass_s(&self, seconds: i64) {
        self.clock.advance_ms(seconds * 1000);
        block_on(self.deliveries.run_due()).unwrap();
    }

    fn state(&self, delivery: &Delivery) -> DeliveryState {
        block_on(self.deliveries.get(&self.caller, delivery.row.id)).unwrap().state()
    }

    /// One delivery that nobody held: one failure on the agent's breaker.
    fn fail_once(&self, name: &str) {
        self.send(name, 9, once());
        self.take(name);
        self.pass_s(61);
    }
}

fn next_to(name: &str) -> Ack {
    let handoff = HandoffRequest { max_hops: None, ..handoff(agent(name), "go on".into(), 1) };
    Ack {
        next: Some(Box::new(Next { handoff, options: SendOptions::default() })),
        ..Ack::default()
    }
}

fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Two connections brought the same request at once. The second to commit was answered with the first one's delivery, but with
/// its own envelope, which had never been stored.
#[test]
fn a_request_that_came_twice_at_once_names_the_envelope_that_was_stored() {
    let house = house();
    let caller = keyed(&house.caller, "k");
    let request = || handoff(agent("bob"), "work".into(), 9);
    house.store.fail_next(Fault::Slow { polls: 1 });
    let mut slow = pin!(house.deliveries.hand_off(&caller, request(), SendOptions::default()));
    assert!(poll_once(slow.as_mut()).is_pending());
    let fast = house.deliveries.hand_off(&caller, request(), SendOptions::default());
    let (first, sent) = block_on(fast).unwrap();
    let (second, again) = block_on(slow).unwrap();
    assert_eq!((first.envelope.id, sent.row.id), (second.envelope.id, again.row.id));
}

/// A receiver's lease was of unknown outcome and had not been written, so it was to be given back. Meanwhile another receiver got
/// the work under the same epoch; giving back the first took it from the second.
#[test]
fn a_lease_that_was_never_given_does_not_take_another_away() {
    let house = house();
    let sent = house.send("bob", 9, SendOptions::default());
    house.store.fail_next(Fault::Torn { commands: 0 });
    assert!(house.receive("bob", false).is_err());
    let held = house.take("bob");
    house.pass_s(1);
    assert_eq!(house.state(&sent), DeliveryState::Leased);
    house.complete(&held, Ack::default()).unwrap();
}

/// A receiver whose lease had gone to another completed with a handoff beyond the hop limit. The delivery was parked under the
/// hands of the one who held it.
#[test]
fn a_lost_lease_cannot_park_at_the_hop_limit() {
    let house = house();
    let sent = house.send("bob", 1, SendOptions::default());
    let late = house.take("bob");
    house.pass_s(61);
    house.take("bob");
    let refused = house.complete(&late, next_to("cleo")).unwrap_err();
    assert_eq!(refused.code(), "lease-lost");
    assert_eq!(house.state(&sent), DeliveryState::Leased);
}

/// The work was done and on disk; then the breaker could not be told, and the receiver heard that nothing was written.
#[test]
fn a_breaker_that_cannot_be_told_does_not_hide_what_was_written() {
    let house = house();
    house.fail_once("bob");
    let sent = house.send("bob", 9, SendOptions::default());
    let held = house.take("bob");
    house.store.fail_next(Fault::Slow { polls: 0 });
    house.store.fail_next(Fault::BeforeWrite(ErrorKind::Unavailable));
    let done = house.complete(&held, Ack { result: Some(json!(1)), ..Ack::default() });
    assert_eq!(done.map(|done| done.state()), Ok(DeliveryState::Done));
    assert_eq!(house.state(&sent), DeliveryState::Done);
}

/// The last part of a publication ended while the server, having looked at the others, put the publication back to sleep. Its
/// wake came to a record that was awake, and was overwritten: the join was never made.
#[test]
fn a_part_that_ends_while_its_publication_is_put_to_sleep_wakes_it() {
    let house = house();
    let request = handoff(agent("broadcast"), "all of you".into(), 9);
    let envelope = block_on(house.handoffs.assemble(&house.caller, request)).unwrap().envelope.id;
    let join = JoinRequest {
        handoff: HandoffRequest { max_hops: None, ..handoff(agent("dan"), "sum up".into(), 1) },
        need: None,
        timeout_ms: None,
        options: SendOptions::default(),
    };
    let receivers = Some(vec![agent("bob"), agent("cleo")]);
    let options = SendOptions::default();
    let publish = PublishRequest { envelope, receivers, join: Some(join), options };
    let published = block_on(house.deliveries.publish(&house.caller, "news", publish)).unwrap();
    let (bob, cleo) = (house.take("bob"), house.take("cleo"));
    house.complete(&bob, Ack::default()).unwrap();
    house.store.fail_next(Fault::Slow { polls: 1 });
    let mut sleepy = pin!(house.deliveries.run_due());
    assert!(poll_once(sleepy.as_mut()).is_pending());
    house.complete(&cleo, Ack::default()).unwrap();
    block_on(sleepy).unwrap();
    house.pass_s(1);
    let id = published.publication.id;
    let now = block_on(house.deliveries.publication(&house.caller, id)).unwrap();
    assert_eq!(now.publication.join.unwrap().made.expect("a join").done, 2);
}

/// A parked handoff was requeued while a later one of its order key was being worked on: being older, it was given out beside it.
#[test]
fn a_requeued_handoff_waits_behind_those_of_its_order_key() {
    let house = house();
    let lane = || SendOptions { order_key: "lane".parse().ok(), ..SendOptions::default() };
    let first = house.send("bob", 9, lane());
    let second = house.send("bob", 9, lane());
    block_on(house.deliveries.park_envelope(&house.caller, first.row.envelope, "wait")).unwrap();
    let held = house.take("bob");
    assert_eq!(held.delivery.row.id, second.row.id);
    block_on(house.deliveries.requeue(&house.caller, first.row.id, None, "again")).unwrap();
    assert_eq!(house.receive("bob", false).unwrap(), []);
    house.complete(&held, Ack::default()).unwrap();
    assert_eq!(house.take("bob").delivery.row.id, first.row.id);
}

/// A direct handoff that was the probe of an open breaker was taken and accepted in one call, and the breaker was not told: it
/// stayed half open until its time was up.
#[test]
fn a_probe_that_is_accepted_as_it_is_taken_closes_its_breaker() {
    let house = house();
    (0..3).for_each(|_| house.fail_once("bob"));
    house.pass_s(61);
    house.send("bob", 9, SendOptions { direct: true, ..SendOptions::default() });
    assert_eq!(house.receive("bob", true).unwrap().len(), 1);
    let view = block_on(house.deliveries.agent(&house.caller, &agent("bob"))).unwrap();
    assert_eq!(view.breaker, Default::default());
}

/// A direct handoff to a paused agent was to be taken by the end of time, and still so when the agent was resumed: nobody ever
/// counted that it was not taken.
#[test]
fn a_direct_handoff_to_a_paused_agent_is_looked_at_again() {
    let house = house();
    block_on(house.deliveries.pause(&house.caller, &agent("bob"), true)).unwrap();
    let sent = house.send("bob", 9, SendOptions { direct: true, ..once() });
    house.pass_s(16);
    block_on(house.deliveries.pause(&house.caller, &agent("bob"), false)).unwrap();
    house.pass_s(90);
    assert_eq!(house.state(&sent), DeliveryState::Parked);
}

/// A lineage was cancelled while its work was handed on: the new delivery had not been seen, and the chain went on.
#[test]
fn work_that_is_handed_on_while_its_lineage_is_cancelled_is_cancelled_too() {
    let house = house();
    let sent = house.send("bob", 9, SendOptions::default());
    let held = house.take("bob");
    house.store.fail_next(Fault::Slow { polls: 1 });
    let cancel = house.deliveries.cancel_lineage(&house.caller, sent.row.envelope, "enough");
    let mut cancel = pin!(cancel);
    assert!(poll_once(cancel.as_mut()).is_pending());
    house.complete(&held, next_to("cleo")).unwrap();
    let cancelled = block_on(cancel).unwrap();
    assert_eq!(cancelled.len(), 1);
    assert_eq!(house.state(&sent), DeliveryState::Done);
    assert_eq!(house.receive("cleo", false).unwrap(), []);
}
