//! Envelopes: bytes in, the same bytes out, never twice.

use std::sync::Arc;

use spine_protocol::{Digest, EnvelopeId};

use super::deliveries::{dlv, draft};
use super::draft::*;
use crate::{
    Change, Command, Delivery, ErrorKind, Expected, Guard, Put, RowKey, Store, StoredEnvelope,
};

pub(super) fn envelope(n: u64, root: u64) -> StoredEnvelope {
    let [id, root] = [n, root].map(|n| EnvelopeId::from_parts(n, u128::from(n)));
    let bytes = Arc::from(format!("{{\"n\":{n}}}").into_bytes());
    let (digest, notes) = (Digest::of(&[&bytes]), format!("about {n}").into_bytes());
    StoredEnvelope { id, root, digest, bytes, notes, pruned: false, change: Change::ZERO }
}

pub(super) fn put(envelope: StoredEnvelope) -> Put {
    Put::NewEnvelope(Box::new(envelope))
}

pub(super) fn bytes_survive_and_ids_are_unique(store: &dyn Store) {
    let bytes = (0..=255).collect();
    let first = StoredEnvelope { bytes, ..envelope(1, 1) };
    let receipt = done(store, vec![new("a"), put(first.clone())]);
    let stored = get(store.envelope(&default(), first.id)).unwrap();
    assert_eq!(stored, StoredEnvelope { change: receipt.put_change(1), ..first });
    let again = apply(store, command(vec![put(envelope(1, 1))])).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::GuardFailed);
    assert_eq!(again.guard().unwrap().key, RowKey::Envelope(stored.id));
    assert_eq!(get(store.envelope(&default(), envelope(2, 2).id)), None);
}

pub(super) fn lineage_is_paged_by_id(store: &dyn Store) {
    done(store, [(3, 1), (1, 1), (2, 2), (5, 1)].map(|(n, root)| put(envelope(n, root))).into());
    let root = envelope(1, 1).id;
    let page = get(store.lineage(&default(), root, None, 2));
    let ids: Vec<EnvelopeId> = page.items.iter().map(|envelope| envelope.id).collect();
    assert_eq!(ids, [envelope(1, 1).id, envelope(3, 1).id]);
    let rest = get(store.lineage(&default(), root, page.next, 2));
    assert_eq!((rest.items[0].id, rest.items.len(), rest.next), (envelope(5, 1).id, 1, None));
}

pub(super) fn pruned_envelope_is_a_skeleton_and_no_old_root(store: &dyn Store) {
    done(store, vec![put(envelope(1, 1)), put(envelope(2, 2))]);
    let id = envelope(1, 1).id;
    let receipt = done(store, vec![Put::PruneEnvelope(id, b"bones".to_vec())]);
    let (bytes, notes, change) = (b"bones".as_slice().into(), Vec::new(), receipt.first_change);
    let expected = StoredEnvelope { bytes, notes, pruned: true, change, ..envelope(1, 1) };
    assert_eq!(get(store.envelope(&default(), id)), Some(expected.clone()));
    assert_eq!(get(store.lineage(&default(), id, None, 9)).items, [expected]);
    assert_eq!(get(store.old_roots(&default(), None, 9)).items, [envelope(2, 2).id]);
}

pub(super) fn a_lineage_is_written_when_one_of_it_is(store: &dyn Store) {
    let (root, key) = (envelope(1, 1).id, |n: u64| RowKey::Lineage(envelope(n, n).id));
    let holds = |key: RowKey, expected: Expected| {
        let guards = vec![Guard { key, expected }];
        apply(store, Command { guards, ..command(vec![]) }).is_ok()
    };
    assert!(holds(key(1), Expected::Absent));
    let first = done(store, vec![put(envelope(1, 1)), put(envelope(2, 2))]).first_change;
    assert!(holds(key(1), Expected::At(first)) && !holds(key(2), Expected::At(first)));
    let child = done(store, vec![put(envelope(3, 1))]).first_change;
    assert!(holds(key(1), Expected::At(child)) && !holds(key(1), Expected::At(first)));
    let delivery = Delivery { envelope: root, root, ..draft(1) };
    let sent = done(store, vec![Put::Delivery(Box::new(delivery))]).first_change;
    assert!(holds(key(1), Expected::At(sent)) && holds(key(3), Expected::Absent));
    done(store, vec![Put::DropDelivery(dlv(1), sent)]);
    assert!(holds(key(1), Expected::At(child)));
}

pub(super) fn a_pruned_envelope_is_there_but_not_live(store: &dyn Store) {
    done(store, vec![put(envelope(1, 1)), put(envelope(2, 2))]);
    done(store, vec![Put::PruneEnvelope(envelope(1, 1).id, b"bones".to_vec())]);
    let cases = [
        (1, Expected::Present, true),
        (1, Expected::Live, false),
        (2, Expected::Live, true),
        (3, Expected::Live, false),
    ];
    for (n, expected, holds) in cases {
        let guards = vec![Guard { key: RowKey::Envelope(envelope(n, n).id), expected }];
        let guarded = Command { guards, ..command(vec![]) };
        assert_eq!(apply(store, guarded).is_ok(), holds, "{n} {expected:?}");
    }
}

pub(super) fn erased_envelope_has_new_bytes_and_no_notes(store: &dyn Store) {
    done(store, vec![put(envelope(1, 1)), put(envelope(2, 2))]);
    let [kept, pruned] = [1, 2].map(|n| envelope(n, n).id);
    done(store, vec![Put::PruneEnvelope(pruned, b"bones".to_vec())]);
    for (id, was_pruned) in [(kept, false), (pruned, true)] {
        done(store, vec![Put::EraseEnvelopeTexts(id, b"less".to_vec())]);
        let stored = get(store.envelope(&default(), id)).unwrap();
        assert_eq!((&*stored.bytes, stored.notes.len()), (b"less".as_slice(), 0));
        assert_eq!(stored.pruned, was_pruned);
    }
}

pub(super) fn only_envelopes_that_are_there_lose_something(store: &dyn Store) {
    done(store, vec![put(envelope(1, 1))]);
    let before = get(store.envelope(&default(), envelope(1, 1).id));
    let missing = envelope(2, 2).id;
    for put in [Put::PruneEnvelope(missing, vec![]), Put::EraseEnvelopeTexts(missing, vec![])] {
        let prune = Put::PruneEnvelope(envelope(1, 1).id, vec![]);
        let error = apply(store, command(vec![prune, put])).unwrap_err();
        let failure = error.guard().unwrap();
        assert_eq!(failure.key, RowKey::Envelope(missing));
        assert_eq!((failure.expected, failure.found), (Expected::Present, None));
    }
    assert_eq!(get(store.envelope(&default(), envelope(1, 1).id)), before);
    let elsewhere = vec![Put::PruneEnvelope(envelope(1, 1).id, vec![])];
    let other = Command { workspace: "other".parse().unwrap(), ..command(elsewhere) };
    apply(store, other).unwrap_err();
    assert_eq!(get(store.envelope(&default(), envelope(1, 1).id)), before);
}

pub(super) fn old_roots_are_paged_by_id(store: &dyn Store) {
    let envelopes = [(5, 5), (1, 1), (2, 1), (3, 3), (4, 3)];
    done(store, envelopes.map(|(n, root)| put(envelope(n, root))).into());
    let page = get(store.old_roots(&default(), None, 2));
    assert_eq!(page.items, [1, 3].map(|n| envelope(n, n).id));
    let rest = get(store.old_roots(&default(), page.next, 2));
    assert_eq!((rest.items, rest.next), (vec![envelope(5, 5).id], None));
    assert_eq!(get(store.old_roots(&"other".parse().unwrap(), None, 9)).items, vec![]);
}
