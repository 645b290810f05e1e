//! Where deliveries stand in their table: a transition that knows its row need not look for it.

use std::cell::RefCell;
use std::collections::HashMap;

use spine_protocol::{DeliveryId, EnvelopeId};
use spine_store::{Command, Delivery, Put};

/// Open deliveries whose rows are remembered; beyond, all are forgotten.
const PLACES_MAX: usize = 16_384;

/// A row, and what of it hardly ever changes: a transition that leaves it as it is need not write it.
struct Place {
    row: i64,
    envelope: EnvelopeId,
    root: EnvelopeId,
}

/// Of deliveries without an order key. Rows that are gone give their numbers to others, so none is remembered that was dropped,
/// or whose insertion was taken back; the row that a place leads to says whether it is at the change that was read.
#[derive(Default)]
pub(super) struct Places(RefCell<HashMap<DeliveryId, Place>>);

impl Places {
    pub(super) fn of(&self, delivery: &Delivery) -> Option<i64> {
        let places = self.0.borrow();
        let place = places.get(&delivery.id)?;
        let is_same = (place.envelope, place.root) == (delivery.envelope, delivery.root);
        is_same.then_some(place.row)
    }

    pub(super) fn note(&self, delivery: &Delivery, row: i64) {
        let mut places = self.0.borrow_mut();
        if places.len() >= PLACES_MAX {
            places.clear();
        }
        let Delivery { id, envelope, root, .. } = *delivery;
        places.insert(id, Place { row, envelope, root });
    }

    pub(super) fn forget(&self, id: DeliveryId) {
        self.0.borrow_mut().remove(&id);
    }

    /// After a command was taken back.
    pub(super) fn forget_all_of(&self, command: &Command) {
        for put in &command.puts {
            if let Put::Delivery(delivery) = put {
                self.forget(delivery.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spine_store::{Change, DeliveryState, Priority, UnixMs};

    fn delivery(number: u128) -> Delivery {
        Delivery {
            id: DeliveryId::from_parts(1, number),
            envelope: EnvelopeId::from_parts(1, 1),
            root: EnvelopeId::from_parts(1, 1),
            agent: "ann".parse().unwrap(),
            state: DeliveryState::Pending,
            priority: Priority::Normal,
            order_key: None,
            sequence: Change::ZERO,
            visible_at: UnixMs(0),
            due_at: None,
            epoch: 0,
            incarnation: 0,
            story: Vec::new(),
            result: None,
            updated_at: UnixMs(0),
            change: Change::ZERO,
        }
    }

    #[test]
    fn no_more_are_remembered_than_the_limit_and_only_as_they_were() {
        let places = Places::default();
        for number in 0..=PLACES_MAX as u128 {
            places.note(&delivery(number), number as i64);
        }
        let last = delivery(PLACES_MAX as u128);
        assert_eq!((places.of(&delivery(0)), places.of(&last)), (None, Some(16_384)));
        let moved = Delivery { envelope: EnvelopeId::from_parts(9, 9), ..last.clone() };
        assert_eq!(places.of(&moved), None);
        places.forget(last.id);
        assert!(places.0.borrow().is_empty());
    }
}
