//! Where deliveries stand in their table: a transition that knows its row need not look for it.

use std::cell::RefCell;
use std::collections::HashMap;

use spine_protocol::DeliveryId;

/// Open deliveries whose rows are remembered; beyond, all are forgotten.
const PLACES_MAX: usize = 16_384;

/// Hints: what a transaction wrote that was taken back is remembered, too, so that whoever goes to a row looks whose it is.
#[derive(Default)]
pub(super) struct Places(RefCell<HashMap<DeliveryId, i64>>);

impl Places {
    pub(super) fn of(&self, id: DeliveryId) -> Option<i64> {
        self.0.borrow().get(&id).copied()
    }

    pub(super) fn note(&self, id: DeliveryId, row: i64) {
        let mut places = self.0.borrow_mut();
        if places.len() >= PLACES_MAX {
            places.clear();
        }
        places.insert(id, row);
    }

    pub(super) fn forget(&self, id: DeliveryId) {
        self.0.borrow_mut().remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_remembered_than_the_limit() {
        let (places, id) = (Places::default(), |number| DeliveryId::from_parts(1, number));
        for number in 0..=PLACES_MAX as u128 {
            places.note(id(number), number as i64);
        }
        assert_eq!((places.of(id(0)), places.of(id(PLACES_MAX as u128))), (None, Some(16_384)));
        places.forget(id(PLACES_MAX as u128));
        assert!(places.0.borrow().is_empty());
    }
}
