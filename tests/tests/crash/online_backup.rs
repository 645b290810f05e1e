//! A backup while the store is written to.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use fastrand::Rng;
use spine_sqlite::Options;
use spine_tests::{Ack, House, STORE_FILE, verify};

use crate::scale::{seeded, times};

const THREADS: usize = 4;
const ACKS_BETWEEN_BACKUPS_MAX: usize = 400;

#[test]
fn backup_has_everything_acknowledged_before_it_began() {
    let mut rng = seeded();
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), Options::default()).unwrap();
    let (enough, (ack, acks)) = (AtomicBool::new(false), mpsc::channel());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let (rng, ack, house, enough) = (rng.fork(), ack.clone(), &house, &enough);
            scope.spawn(move || store_until(enough, house, rng, &ack));
        }
        // Also when a backup is found wrong: else the writers would never end.
        let _end = SetOnDrop(&enough);
        let mut acknowledged = Vec::new();
        for _ in 0..times(3, 30) {
            acknowledged.extend(acks.iter().take(rng.usize(1..ACKS_BETWEEN_BACKUPS_MAX)));
            back_up_and_verify(&house, &acks, &mut acknowledged);
        }
    });
}

struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn store_until(enough: &AtomicBool, house: &House, mut rng: Rng, ack: &Sender<Ack>) {
    while !enough.load(Ordering::Relaxed) {
        let stored = house.store_some(&mut rng).unwrap();
        stored.into_iter().for_each(|stored| ack.send(stored).unwrap());
    }
}

fn back_up_and_verify(house: &House, acks: &Receiver<Ack>, acknowledged: &mut Vec<Ack>) {
    let copy = tempfile::tempdir().unwrap();
    acknowledged.extend(acks.try_iter());
    house.store.backup(&copy.path().join(STORE_FILE)).unwrap();
    assert_eq!(fs::read_dir(copy.path()).unwrap().count(), 1, "a backup is one file");
    let verdict = verify(copy.path(), acknowledged).unwrap();
    assert!(verdict.is_clean(), "{verdict}");
}
