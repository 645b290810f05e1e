//! Envelopes: bytes in, the same bytes out, never twice.

use spine_protocol::{Digest, EnvelopeId};

use super::draft::*;
use crate::{Change, ErrorKind, Put, RowKey, Store, StoredEnvelope};

fn envelope(n: u64, root: u64) -> StoredEnvelope {
    let [id, root] = [n, root].map(|n| EnvelopeId::from_parts(n, u128::from(n)));
    let bytes = format!("{{\"n\":{n}}}").into_bytes();
    let (digest, notes) = (Digest::of(&[&bytes]), format!("about {n}").into_bytes());
    StoredEnvelope { id, root, digest, bytes, notes, pruned: false, change: Change::ZERO }
}

fn put(envelope: StoredEnvelope) -> Put {
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
