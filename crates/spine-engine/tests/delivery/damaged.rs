//! One row that cannot be read, among others.

use spine_engine::delivery::{Ack, DeliveryError};
use spine_protocol::DeliveryId;
use spine_store::testing::block_on;
use spine_store::{Command, Delivery, DeliveryReads, ErrorKind, Put, Store};

use crate::house::{House, house};

const LEASE_MS: i64 = 60_000;

/// As a bug or a newer version of the program would leave it.
fn damage(house: &House, id: DeliveryId) {
    let workspace = &house.caller.workspace;
    let row = block_on(house.store.deliveries(workspace, vec![id])).unwrap().remove(0);
    let row = Delivery { story: b"{".to_vec(), ..row };
    let mut command = Command::new(workspace.clone(), house.store.now());
    command.puts.push(Put::Delivery(Box::new(row)));
    block_on(house.store.apply(vec![command])).unwrap().remove(0).unwrap();
}

fn is_damaged(error: &DeliveryError) -> bool {
    matches!(error, DeliveryError::Store(error) if error.kind() == ErrorKind::Corrupt)
}

/// Nothing else that was due was done any more: no lease ran out, no retry came up, in any workspace.
#[test]
fn what_is_due_of_others_is_done() {
    let house = house();
    let [damaged, sound] = [house.send("coder"), house.send("coder")];
    house.take_all("coder", 2);
    damage(&house, damaged);
    house.clock.advance_ms(LEASE_MS);
    let told = block_on(house.deliveries.run_due()).unwrap_err();
    assert!(is_damaged(&told), "{told}");
    assert_eq!(house.state(sound), "pending");
}

/// Of many completions in one request none was taken.
#[test]
fn others_are_completed_beside_it() {
    let house = house();
    let [damaged, sound] = [house.send("coder"), house.send("coder")];
    let received = house.take_all("coder", 2);
    damage(&house, damaged);
    let ack = |id| {
        let own = received.iter().find(|received| received.delivery.row.id == id).unwrap();
        (id, own.fence.clone(), Ack::default())
    };
    let acks = vec![ack(damaged), ack(sound)];
    let done = block_on(house.deliveries.complete_many(&house.caller, acks)).unwrap();
    assert!(is_damaged(done[0].as_ref().unwrap_err()));
    assert!(done[1].is_ok());
    assert_eq!(house.state(sound), "done");
}

/// Whoever received as this agent got an error, and never what waited behind.
#[test]
fn what_waits_behind_it_is_received() {
    let house = house();
    let sent: Vec<DeliveryId> = (0..5).map(|_| house.send("coder")).collect();
    damage(&house, sent[0]);
    damage(&house, sent[1]);
    damage(&house, sent[3]);
    for sound in [sent[2], sent[4]] {
        assert_eq!(house.take("coder").delivery.row.id, sound);
    }
    assert!(house.try_take("coder").is_none());
}
