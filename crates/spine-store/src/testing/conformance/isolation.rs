//! R11: nothing of one workspace can be seen from another.

use spine_protocol::{Digest, EnvelopeId, WorkspaceName};

use super::draft::*;
use crate::{Change, Command, EventDraft, Put, Store, StoredEnvelope, UnixMs};

fn other() -> WorkspaceName {
    "other".parse().unwrap()
}

fn fill_default(store: &dyn Store) -> EnvelopeId {
    let id = EnvelopeId::from_parts(1, 1);
    let (digest, bytes, notes) = (Digest::of(&[b"{}"]), b"{}".as_slice().into(), Vec::new());
    let (root, pruned, change) = (id, false, Change::ZERO);
    let envelope = StoredEnvelope { id, root, digest, bytes, notes, pruned, change };
    let puts =
        vec![new_keyed("secret"), revise(1, "secret 2"), Put::NewEnvelope(Box::new(envelope))];
    let keyed = with_key(puts, "key", UnixMs(AT.0 + 9));
    apply(store, Command { events: vec![EventDraft::new("test")], ..keyed }).unwrap();
    id
}

pub(super) fn workspaces_number_for_themselves(store: &dyn Store) {
    let in_other = |text| Command { workspace: other(), ..command(vec![new_keyed(text)]) };
    let batch =
        vec![command(vec![new_keyed("a")]), in_other("a"), command(vec![new("c")]), in_other("d")];
    assert!(get(store.apply(batch)).iter().all(Result::is_ok));
    for (workspace, texts) in [(default(), ["a", "c"]), (other(), ["a", "d"])] {
        let page = get(store.list_memories(&workspace, all(10)));
        assert_eq!(page.items.iter().map(|m| m.body.text.as_str()).collect::<Vec<_>>(), texts);
        assert_eq!(get(store.newest_change(&workspace)), Change(2));
    }
}

pub(super) fn foreign_rows_are_as_rows_that_never_existed(store: &dyn Store) {
    let envelope = fill_default(store);
    let ws = other();
    assert_eq!(get(store.memory(&ws, id(1))), None);
    assert_eq!(get(store.memories(&ws, vec![id(1)])), vec![]);
    assert_eq!(get(store.memory_version(&ws, id(1), 1)), None);
    assert_eq!(get(store.memory_versions(&ws, id(1), 0, 9)).items, vec![]);
    assert_eq!(get(store.memories_by_content(&ws, vec![key("secret")])), vec![]);
    assert_eq!(get(store.list_memories(&ws, all(9))).items, vec![]);
    assert_eq!(get(store.memory_changes(&ws, Change::ZERO, 9)).items, vec![]);
    assert_eq!(get(store.envelope(&ws, envelope)), None);
    assert_eq!(get(store.lineage(&ws, envelope, None, 9)).items, vec![]);
    assert_eq!(get(store.events(&ws, Change::ZERO, 9)).items, vec![]);
    assert_eq!(get(store.idempotency(&ws, &"key".parse().unwrap(), AT)), None);
    assert_eq!(get(store.newest_change(&ws)), Change::ZERO);
    let purge = Command { workspace: ws, ..command(vec![Put::PurgeMemory(id(1))]) };
    assert!(apply(store, purge).is_err());
    assert_eq!(live(store, 1).body.text, "secret 2");
}
