//! The log: in commit order, and never rewritten.

use serde_json::json;
use spine_protocol::{DeliveryId, EnvelopeId, WorkspaceName};

use super::draft::*;
use crate::{Change, Command, Event, EventDraft, MemoryRef, Store, WorkspaceState};

pub(super) fn events_are_in_commit_order(store: &dyn Store) {
    let (envelope, delivery) = (EnvelopeId::from_parts(1, 1), DeliveryId::from_parts(2, 2));
    let draft = EventDraft {
        actor: Some("analyst".parse().unwrap()),
        memory: Some(MemoryRef::Existing(id(1))),
        envelope: Some(envelope),
        delivery: Some(delivery),
        data: json!({"why": "é"}).as_object().unwrap().clone(),
        ..EventDraft::new("test.first")
    };
    let second = EventDraft::new("test.second");
    apply(store, Command { events: vec![draft.clone(), second], ..command(vec![new("a")]) })
        .unwrap();
    let page = get(store.events(&default(), Change::ZERO, 1));
    let expected = Event {
        change: Change(2),
        at: AT,
        kind: "test.first".to_owned(),
        actor: draft.actor,
        memory: Some(id(1)),
        envelope: Some(envelope),
        delivery: Some(delivery),
        data: draft.data,
    };
    assert_eq!((page.items, page.next), (vec![expected], Some(Change(2))));
    let rest = get(store.events(&default(), Change(2), 10));
    assert_eq!(
        (rest.items[0].kind.as_str(), rest.items.len(), rest.next),
        ("test.second", 1, None)
    );
    assert_eq!(get(store.newest_change(&default())), Change(3));
}

pub(super) fn events_name_memories_that_were_new(store: &dyn Store) {
    done(store, vec![new("a")]);
    let draft = EventDraft { memory: Some(MemoryRef::New(1)), ..EventDraft::new("test") };
    apply(store, Command { events: vec![draft], ..command(vec![new("b"), new("c")]) }).unwrap();
    assert_eq!(get(store.events(&default(), Change::ZERO, 10)).items[0].memory, Some(id(3)));
}

pub(super) fn workspaces_are_listed_with_their_newest_change(store: &dyn Store) {
    let names = ["a", "b", "c"].map(|name| name.parse::<WorkspaceName>().unwrap());
    for (workspace, puts) in names.iter().cloned().zip([1, 2, 3]) {
        let puts = (0..puts).map(|_| new("x")).collect();
        apply(store, Command { workspace, ..command(puts) }).unwrap();
    }
    // A failed command leaves no trace of its workspace.
    let failing = Command { workspace: "d".parse().unwrap(), ..command(vec![revise(1, "x")]) };
    apply(store, failing).unwrap_err();
    let page = get(store.workspaces(None, 2));
    let state =
        |n: usize, newest| WorkspaceState { name: names[n].clone(), newest: Change(newest) };
    assert_eq!(page.items, [state(0, 1), state(1, 2)]);
    let rest = get(store.workspaces(page.next, 2));
    assert_eq!((rest.items, rest.next), (vec![state(2, 3)], None));
}
