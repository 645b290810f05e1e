//! Memories: versions, marks and content keys.

use serde_json::json;

use super::draft::*;
use crate::{
    ErrorKind, Expected, GoneReason, MemoryBody, MemoryRow, Priority, Put, RowKey, Store, UnixMs,
};

fn full_body() -> MemoryBody {
    MemoryBody {
        text: "the text".to_owned(),
        title: Some("a title".to_owned()),
        summary: Some("a summary".to_owned()),
        kind: "reasoning".parse().unwrap(),
        tags: vec!["api".parse().unwrap(), "über".parse().unwrap()],
        priority: Priority::Critical,
        pinned: true,
        author: Some("analyst".parse().unwrap()),
        thread: Some("run-17".parse().unwrap()),
        subject: Some("user:123".parse().unwrap()),
        occurred_at: Some("2024-02-29T23:59:59.9+02:00".parse().unwrap()),
        metadata: json!({"b": [1, 2.5, null], "a": {"é": true}}).as_object().unwrap().clone(),
        expires_at: Some(UnixMs(AT.0 + 1000)),
    }
}

pub(super) fn every_field_survives(store: &dyn Store) {
    done(store, vec![new_body(full_body())]);
    let memory = live(store, 1);
    assert_eq!(memory.body, full_body());
    assert_eq!((memory.version, memory.created_at, memory.updated_at), (1, AT, AT));
    done(store, vec![revise(1, "second")]);
    let first = get(store.memory_version(&default(), id(1), 1)).unwrap();
    assert_eq!(first, memory);
    assert_eq!(live(store, 1).body, body("second"));
}

pub(super) fn awkward_texts_survive(store: &dyn Store) {
    let long = "ä".repeat(128 * 1024);
    for text in ["", "a\0b", "\u{1F9E0}\r\n\u{feff}", "'; DROP TABLE memories; --", &long] {
        let number = done(store, vec![new(text)]).first_memory.unwrap().number();
        assert_eq!(live(store, number).body.text, text);
    }
}

pub(super) fn revision_keeps_the_older_version(store: &dyn Store) {
    done(store, vec![new("one")]);
    done(store, vec![revise(1, "two")]);
    done(store, vec![revise(1, "three")]);
    assert_eq!((live(store, 1).version, live(store, 1).body.text.as_str()), (3, "three"));
    let page = get(store.memory_versions(&default(), id(1), 0, 2));
    let texts: Vec<_> = page.items.iter().map(|m| (m.version, m.body.text.as_str())).collect();
    assert_eq!((texts, page.next), (vec![(1, "one"), (2, "two")], Some(2)));
    let rest = get(store.memory_versions(&default(), id(1), 2, 2));
    assert_eq!((rest.items.len(), rest.next), (1, None));
    assert_eq!(get(store.memory_version(&default(), id(1), 3)), Some(live(store, 1)));
    assert_eq!(get(store.memory_version(&default(), id(1), 4)), None);
}

pub(super) fn pin_is_no_new_version(store: &dyn Store) {
    done(store, vec![new("a")]);
    let receipt = done(store, vec![Put::PinMemory(id(1), true)]);
    let memory = live(store, 1);
    assert_eq!((memory.version, memory.body.pinned), (1, true));
    assert_eq!(memory.change, receipt.first_change);
    done(store, vec![Put::PinMemory(id(1), false)]);
    assert!(!live(store, 1).body.pinned);
}

pub(super) fn delete_leaves_a_tombstone_and_the_versions(store: &dyn Store) {
    done(store, vec![new("a"), new("b")]);
    let receipt = done(store, vec![Put::DeleteMemory(id(1))]);
    let Some(MemoryRow::Gone(gone)) = row(store, 1) else { panic!("should be gone") };
    assert_eq!((gone.version, gone.reason, gone.at), (2, GoneReason::Deleted, AT));
    assert_eq!(gone.change, receipt.first_change);
    assert_eq!(get(store.memory_version(&default(), id(1), 1)).unwrap().body.text, "a");
    let listed = get(store.list_memories(&default(), all(10)));
    assert_eq!(listed.items.iter().map(|m| m.id).collect::<Vec<_>>(), [id(2)]);
}

pub(super) fn purge_leaves_nothing_but_the_mark(store: &dyn Store) {
    done(store, vec![new_body(full_body()), new_keyed("b")]);
    done(store, vec![revise(1, "second"), Put::DeleteMemory(id(2))]);
    done(store, vec![Put::PurgeMemory(id(1)), Put::PurgeMemory(id(2))]);
    for (number, version) in [(1, 3), (2, 2)] {
        let Some(MemoryRow::Gone(gone)) = row(store, number) else { panic!("should be gone") };
        assert_eq!((gone.version, gone.reason), (version, GoneReason::Purged));
        assert_eq!(get(store.memory_versions(&default(), id(number), 0, 10)).items, vec![]);
    }
    assert_eq!(get(store.memories_by_content(&default(), vec![key("b")])), vec![]);
    assert_eq!(done(store, vec![new("next")]).first_memory, Some(id(3)));
}

pub(super) fn gone_memories_take_no_further_writes(store: &dyn Store) {
    done(store, vec![new("a"), new("b")]);
    done(store, vec![Put::DeleteMemory(id(1)), Put::PurgeMemory(id(2))]);
    for number in [1, 2, 3] {
        let puts = [
            revise(number, "x"),
            Put::PinMemory(id(number), true),
            Put::ReleaseContent(id(number)),
            Put::DeleteMemory(id(number)),
        ];
        for put in puts {
            let error = apply(store, command(vec![put.clone()])).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::GuardFailed, "{put:?}");
            let failure = error.guard().unwrap();
            assert_eq!(failure.key, RowKey::Memory(id(number)));
            assert_eq!((failure.expected, failure.found.is_some()), (Expected::Live, number < 3));
        }
    }
    let unknown = apply(store, command(vec![Put::PurgeMemory(id(3))])).unwrap_err();
    assert_eq!(unknown.guard().unwrap().expected, Expected::Present);
}

pub(super) fn content_key_has_one_live_holder(store: &dyn Store) {
    done(store, vec![new_keyed("a"), new_keyed("b")]);
    assert!(apply(store, command(vec![new_keyed("a")])).is_err());
    let take_other = Put::ReviseMemory(id(2), Box::new(keyed("a")));
    assert!(apply(store, command(vec![take_other.clone()])).is_err());
    // Its own key is no obstacle to a revision.
    done(store, vec![Put::ReviseMemory(id(1), Box::new(keyed("a")))]);
    done(store, vec![Put::DeleteMemory(id(1))]);
    done(store, vec![take_other]);
    let held = get(store.memories_by_content(&default(), vec![key("b"), key("a"), key("c")]));
    assert_eq!(held.len(), 1);
    assert_eq!((held[0].0, held[0].1.id), (key("a"), id(2)));
}

pub(super) fn many_are_read_in_the_order_asked(store: &dyn Store) {
    done(store, vec![new("a"), new("b"), new("c")]);
    done(store, vec![Put::DeleteMemory(id(2))]);
    let rows = get(store.memories(&default(), vec![id(3), id(9), id(2), id(1)]));
    let numbers: Vec<u64> = rows.iter().map(|row| row.id().number()).collect();
    assert_eq!(numbers, [3, 2, 1]);
    assert!(rows[1].live().is_none());
}
