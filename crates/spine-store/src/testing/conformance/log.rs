//! The log: in commit order, and never rewritten.

use spine_protocol::{DeliveryId, EnvelopeId, WorkspaceName};

use super::draft::*;
use crate::{
    Change, Command, Event, EventDraft, EventQuery, Facts, MemoryRef, Put, Store, UnixMs,
    WorkspaceState,
};

pub(super) fn events_are_in_commit_order(store: &dyn Store) {
    let (envelope, delivery) = (EnvelopeId::from_parts(1, 1), DeliveryId::from_parts(2, 2));
    let draft = EventDraft {
        actor: Some("analyst".parse().unwrap()),
        memory: Some(MemoryRef::Existing(id(1))),
        envelope: Some(envelope),
        delivery: Some(delivery),
        data: Facts::read(r#"{"why":"é"}"#).unwrap(),
        ..EventDraft::new("test.first")
    };
    let second = EventDraft::new("test.second");
    apply(store, Command { events: vec![draft.clone(), second], ..command(vec![new("a")]) })
        .unwrap();
    let page = get(store.events(&default(), Change::ZERO, 1));
    let expected = Event {
        change: Change(2),
        at: AT,
        kind: "test.first".into(),
        actor: draft.actor,
        memory: Some(id(1)),
        envelope: Some(envelope),
        delivery: Some(delivery),
        data: draft.data,
    };
    assert_eq!((page.items, page.next), (vec![expected.into()], Some(Change(2))));
    let rest = get(store.events(&default(), Change(2), 10));
    assert_eq!((&*rest.items[0].kind, rest.items.len(), rest.next), ("test.second", 1, None));
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

fn about(kind: &'static str, n: u64) -> EventDraft {
    EventDraft { envelope: Some(EnvelopeId::from_parts(n, 1)), ..EventDraft::new(kind) }
}

pub(super) fn events_of_some_envelopes_or_kinds_are_paged_in_both_orders(store: &dyn Store) {
    let kinds = ["delivery.sent", "delivery.done", "envelope.made"];
    let events = (0..9).map(|n| about(kinds[n as usize / 3], n % 3 + 1));
    let events = events.chain([EventDraft::new("delivery")]).collect();
    apply(store, Command { events, ..command(vec![]) }).unwrap();
    let envelopes = |list: &[u64]| list.iter().map(|n| EnvelopeId::from_parts(*n, 1)).collect();
    let any = || EventQuery { limit: 3, ..EventQuery::default() };
    let kind = |prefix: &str| Some(prefix.to_owned());
    let cases = [
        (any(), vec![1, 2, 3], true),
        (EventQuery { newest_first: true, ..any() }, vec![10, 9, 8], true),
        (EventQuery { envelopes: envelopes(&[1]), ..any() }, vec![1, 4, 7], false),
        (EventQuery { envelopes: envelopes(&[1, 3]), ..any() }, vec![1, 3, 4], true),
        (
            EventQuery { envelopes: envelopes(&[3, 1]), after: Change(4), ..any() },
            vec![6, 7, 9],
            false,
        ),
        (
            EventQuery {
                envelopes: envelopes(&[1, 2]),
                newest_first: true,
                after: Change(7),
                ..any()
            },
            vec![5, 4, 2],
            true,
        ),
        (EventQuery { kinds_prefix: kind("delivery."), ..any() }, vec![1, 2, 3], true),
        (EventQuery { kinds_prefix: kind("env"), after: Change(7), ..any() }, vec![8, 9], false),
        (
            EventQuery {
                kinds_prefix: kind("delivery.d"),
                envelopes: envelopes(&[2, 9]),
                newest_first: true,
                ..any()
            },
            vec![5],
            false,
        ),
    ];
    for (query, expected, more) in cases {
        let page = get(store.events_of(&default(), query.clone()));
        let changes: Vec<u64> = page.items.iter().map(|event| event.change.0).collect();
        assert_eq!((changes, page.next.is_some()), (expected, more), "{query:?}");
    }
    let elsewhere = EventQuery { envelopes: envelopes(&[1]), ..any() };
    assert_eq!(get(store.events_of(&"other".parse().unwrap(), elsewhere)).items, vec![]);
}

pub(super) fn oldest_events_are_forgotten(store: &dyn Store) {
    for ms in [1, 2, 9, 3, 4] {
        let events = vec![EventDraft::new("test")];
        apply(store, Command { at: UnixMs(AT.0 + ms), events, ..command(vec![]) }).unwrap();
    }
    let other = Command { workspace: "other".parse().unwrap(), ..command(vec![]) };
    apply(store, Command { events: vec![EventDraft::new("test")], ..other }).unwrap();
    let forget = |ms, rows_max| Put::ForgetEvents { until: UnixMs(AT.0 + ms), rows_max };
    let left = || -> Vec<i64> {
        let events = get(store.events(&default(), Change::ZERO, 9)).items;
        events.iter().map(|event| event.at.0 - AT.0).collect()
    };
    done(store, vec![forget(5, 1)]);
    assert_eq!(left(), [2, 9, 3, 4]);
    apply(store, command(vec![forget(5, 9), revise(9, "none there")])).unwrap_err();
    assert_eq!(left(), [2, 9, 3, 4]);
    done(store, vec![forget(3, 9)]);
    assert_eq!(left(), [9, 4]);
    assert_eq!(get(store.events(&"other".parse().unwrap(), Change::ZERO, 9)).items.len(), 1);
}

pub(super) fn reasons_are_erased_from_the_events_of_one_envelope(store: &dyn Store) {
    let said = |number| {
        let mut event = EventDraft::new("test");
        event.envelope = Some(spine_protocol::EnvelopeId::from_parts(1, number));
        event.data.note("reason", "because of Ann");
        event.data.note("digest", "kept");
        event
    };
    apply(store, Command { events: vec![said(1), said(2)], ..command(vec![]) }).unwrap();
    done(store, vec![Put::EraseEventReasons(spine_protocol::EnvelopeId::from_parts(1, 1))]);
    let events = get(store.events(&default(), Change::ZERO, 9)).items;
    let reasons: Vec<bool> = events.iter().map(|event| event.data.contains("reason")).collect();
    assert_eq!(reasons, [false, true]);
    assert!(events.iter().all(|event| event.data.contains("digest")));
}
