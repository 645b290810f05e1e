//! What is kept, for how long, and what can be forgotten at once.

use serde_json::json;
use spine_engine::Caller;
use spine_engine::assembly::HandoffRequest;
use spine_engine::delivery::limits::RECEIVERS_MAX;
use spine_engine::delivery::{Forgotten, PublishRequest, Retention, SendOptions};
use spine_engine::memories::NewMemory;
use spine_protocol::{AgentName, EnvelopeId, MemoryId, Subject};
use spine_store::EnvelopeReads;
use spine_store::limits::COMMAND_PUTS_MAX;
use spine_store::testing::block_on;

use crate::broadcast::{join, publish};
use crate::house::{House, handoff, house, name, next, result};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn prune(house: &House) -> u32 {
    let (workspace, retention) = (&house.caller.workspace, Retention::default());
    block_on(house.deliveries.prune_some(workspace, None, &retention)).unwrap().lineages
}

fn is_pruned(house: &House, id: EnvelopeId) -> bool {
    block_on(house.store.envelope(&house.caller.workspace, id)).unwrap().unwrap().pruned
}

/// A chain of two agents, the second of which is done or not.
fn chain(house: &House, finished: bool) -> EnvelopeId {
    let first = house.send("a");
    let received = house.take("a");
    house.complete(&received, next("b", "Go on.")).unwrap();
    let second = house.take("b");
    if finished {
        house.complete(&second, result(json!("done"))).unwrap();
    }
    house.get(first).row.envelope
}

#[test]
fn a_lineage_is_pruned_as_a_whole_a_month_after_its_end() {
    let house = house();
    let root = chain(&house, true);
    house.clock.advance_ms(30 * DAY_MS);
    assert_eq!(prune(&house), 0);
    house.clock.advance_ms(1);
    assert_eq!(prune(&house), 1);
    let trace = block_on(house.deliveries.trace(&house.caller, root)).unwrap();
    assert!(trace.envelopes.iter().all(|stored| stored.pruned));
    assert_eq!((trace.envelopes.len(), trace.deliveries.len()), (2, 0));
    assert_eq!(prune(&house), 0);
}

#[test]
fn one_with_anything_open_or_parked_stays() {
    let house = house();
    let root = chain(&house, false);
    house.clock.advance_ms(100 * DAY_MS);
    assert_eq!(prune(&house), 0);
    block_on(house.deliveries.run_due()).unwrap();
    house.clock.advance_ms(100 * DAY_MS);
    assert_eq!(prune(&house), 0);
    assert!(!is_pruned(&house, root));
}

/// Retention did not look at joins: a server that was down between the end of the last part and its join, and came
/// back after the retention time, threw the results away before it had joined them.
#[test]
fn one_that_is_still_to_be_joined_stays() {
    let house = house();
    let published = publish(&house, &["a"], join(None, None));
    let received = house.take("a");
    house.complete(&received, result(json!("done"))).unwrap();
    house.clock.advance_ms(100 * DAY_MS);
    assert_eq!(prune(&house), 0);
    house.due();
    assert!(!is_pruned(&house, published.publication.envelope));
    let joined = house.take("lead");
    house.complete(&joined, result(json!("put together"))).unwrap();
    house.clock.advance_ms(100 * DAY_MS);
    assert_eq!(prune(&house), 1);
}

/// It was refused as an envelope that could not be read.
#[test]
fn nothing_is_handed_on_from_a_skeleton() {
    let house = house();
    let root = chain(&house, true);
    house.clock.advance_ms(100 * DAY_MS);
    assert_eq!(prune(&house), 1);
    let late = HandoffRequest { parents: vec![root], ..handoff("c", "Once more.") };
    let options = SendOptions::default();
    let error = block_on(house.deliveries.hand_off(&house.caller, late, options)).unwrap_err();
    assert_eq!(error.code(), "pruned");
}

/// A request that was repeated after its handoff was pruned was told that its key stands for another request, and a
/// repeated `send` that it had sent nothing.
#[test]
fn a_repeated_request_is_told_that_what_it_sent_is_gone() {
    let house = house();
    let caller = Caller { idempotency_key: "again".parse().ok(), ..house.caller.clone() };
    let send = || {
        let (request, options) = (handoff("a", "Go."), SendOptions::default());
        block_on(house.deliveries.hand_off(&caller, request, options))
    };
    let (made, _) = send().unwrap();
    house.complete(&house.take("a"), result(json!("done"))).unwrap();
    house.clock.advance_ms(2);
    let (workspace, soon) = (&caller.workspace, Retention { ended_ms: 1, unsent_ms: 1 });
    block_on(house.deliveries.prune_some(workspace, None, &soon)).unwrap();
    assert!(is_pruned(&house, made.envelope.id));
    assert_eq!(send().unwrap_err().code(), "not-found");
}

#[test]
fn what_was_never_sent_goes_after_a_week() {
    let house = house();
    let envelope = house.envelope("a");
    house.clock.advance_ms(7 * DAY_MS + 1);
    assert_eq!(prune(&house), 1);
    assert!(is_pruned(&house, envelope));
    let error = house.deliveries.park_envelope(&house.caller, envelope, "too late");
    assert_eq!(block_on(error).unwrap_err().code(), "pruned");
}

/// A handoff that carries a memory about somebody, or about nobody in particular.
fn carrying(
    house: &House,
    to: &str,
    subject: Option<&Subject>,
    text: &str,
) -> (MemoryId, HandoffRequest) {
    let new =
        NewMemory { text: text.to_owned(), subject: subject.cloned(), ..NewMemory::default() };
    let memory = block_on(house.memories.store(&house.caller, new)).unwrap().memory.id;
    let summary = format!("Look at {memory}.");
    (memory, HandoffRequest { subject: subject.cloned(), ..handoff(to, &summary) })
}

fn hold(house: &House, subject: Option<&Subject>, text: &str) -> (MemoryId, EnvelopeId) {
    let (memory, request) = carrying(house, "a", subject, text);
    let options = SendOptions::default();
    let (made, _) = block_on(house.deliveries.hand_off(&house.caller, request, options)).unwrap();
    (memory, made.envelope.id)
}

fn bytes(house: &House, id: EnvelopeId) -> String {
    let stored = block_on(house.store.envelope(&house.caller.workspace, id)).unwrap().unwrap();
    String::from_utf8(stored.bytes.to_vec()).unwrap()
}

fn erase(house: &House, what: Forgotten, dry_run: bool) -> [u32; 4] {
    let erase = house.deliveries.erase(&house.caller, what, "asked by Ann", dry_run);
    let done = block_on(erase).unwrap();
    [done.memories, done.envelopes, done.lineages, done.deliveries]
}

#[test]
fn a_memory_is_forgotten_in_envelopes_and_results_and_the_lineage_still_verifies() {
    let house = house();
    let (memory, envelope) = hold(&house, None, "Ann lives in Bern.");
    let (_, other) = hold(&house, None, "The gateway times out after 30 s.");
    let received = house.take("a");
    house.complete(&received, result(json!("Ann: Bern"))).unwrap();
    assert!(bytes(&house, envelope).contains("Bern"));
    assert_eq!(erase(&house, Forgotten::Memory(memory), true), [1, 1, 0, 1]);
    assert!(bytes(&house, envelope).contains("Bern"));
    assert_eq!(erase(&house, Forgotten::Memory(memory), false), [1, 1, 0, 1]);
    assert!(!bytes(&house, envelope).contains("Bern"));
    assert!(bytes(&house, other).contains("gateway"));
    assert_eq!(house.get(received.delivery.row.id).row.result, None);
    let read = spine_protocol::Envelope::read(bytes(&house, envelope).as_bytes());
    assert_eq!(read.unwrap().id, envelope);
}

/// Publishes one envelope so often that no command has room for pruning its lineage.
fn crowd(house: &House, subject: &Subject, text: &str) -> (EnvelopeId, usize) {
    let (_, request) = carrying(house, "broadcast", Some(subject), text);
    let envelope = block_on(house.handoffs.assemble(&house.caller, request)).unwrap().envelope.id;
    let receivers: Vec<AgentName> = (0..RECEIVERS_MAX).map(|n| name(&format!("r{n}"))).collect();
    let rounds = COMMAND_PUTS_MAX / RECEIVERS_MAX + 1;
    for round in 0..rounds {
        let (receivers, options) = (Some(receivers.clone()), SendOptions::default());
        let request = PublishRequest { envelope, receivers, join: None, options };
        block_on(house.deliveries.publish(&house.caller, &format!("c{round}"), request)).unwrap();
    }
    (envelope, rounds * RECEIVERS_MAX)
}

/// Of a lineage with more than 20,000 deliveries the rest was neither cancelled nor forgotten, which nobody was told; and no
/// lineage behind it was ever pruned.
#[test]
fn a_crowded_lineage_is_cancelled_and_forgotten_and_holds_up_no_other() {
    let house = house();
    let ann: Subject = "user:ann".parse().unwrap();
    let (crowded, count) = crowd(&house, &ann, "Ann lives in Bern.");
    let cancelled = house.deliveries.cancel_lineage(&house.caller, crowded, "no longer wanted");
    assert_eq!(block_on(cancelled).unwrap().len(), count);
    house.clock.advance_ms(1);
    let behind = chain(&house, true);
    house.clock.advance_ms(100 * DAY_MS);
    assert_eq!(prune(&house), 1);
    assert!(is_pruned(&house, behind) && !is_pruned(&house, crowded));
    let trace = block_on(house.deliveries.trace(&house.caller, crowded)).unwrap();
    assert_eq!(trace.deliveries.len(), count);
    assert!(bytes(&house, crowded).contains("Bern"));
    assert_eq!(erase(&house, Forgotten::Subject(ann), false), [1, 1, 0, count as u32]);
    assert!(!bytes(&house, crowded).contains("Bern"));
}

#[test]
fn a_subject_is_forgotten_its_closed_lineages_wholly_its_open_ones_in_texts() {
    let house = house();
    let ann: Subject = "user:ann".parse().unwrap();
    let (_, closed) = hold(&house, Some(&ann), "Ann lives in Bern.");
    let received = house.take("a");
    house.complete(&received, result(json!("Bern"))).unwrap();
    let (_, open) = hold(&house, Some(&ann), "Ann likes tea.");
    let bob: Subject = "user:bob".parse().unwrap();
    let (_, other) = hold(&house, Some(&bob), "Bob likes coffee.");
    let what = Forgotten::Subject(ann);
    assert_eq!(erase(&house, what.clone(), true), [2, 2, 1, 2]);
    assert_eq!(erase(&house, what, false), [2, 2, 1, 2]);
    assert!(is_pruned(&house, closed));
    assert!(!bytes(&house, open).contains("tea"));
    assert!(bytes(&house, other).contains("coffee"));
    let noted = block_on(house.deliveries.erasures(&house.caller)).unwrap();
    assert_eq!((noted.len(), noted[0].memories), (1, 2));
}

/// An envelope that was being made of a memory while that was erased was stored behind the erasure's back, with the text.
#[test]
fn an_envelope_made_of_what_is_erased_meanwhile_is_not_stored() {
    let house = house();
    let (kept, erased) =
        (house.note("The gateway is in Dublin."), house.note("Ann lives in Cork."));
    let of = |memory: MemoryId| {
        let request = HandoffRequest { memory_refs: vec![memory], ..handoff("a", "Go.") };
        block_on(house.handoffs.prepare(&house.caller, request)).unwrap()
    };
    let (made, unlike) = (of(erased), of(kept));
    assert_eq!(erase(&house, Forgotten::Memory(erased), false), [1, 0, 0, 0]);
    for made in [&made, &unlike] {
        let sent = house.deliveries.send_assembled(&house.caller, made, SendOptions::default());
        assert_eq!(block_on(sent).unwrap_err().code(), "contended");
    }
    let again = of(kept);
    block_on(house.deliveries.send_assembled(&house.caller, &again, SendOptions::default()))
        .unwrap();
}
