//! Records: written on top of what was read, listed by name, found when due.

use spine_protocol::WorkspaceName;

use super::draft::*;
use crate::limits::RECORD_BYTES_MAX;
use crate::{
    Change, Collection, Command, ErrorKind, Expected, Guard, Put, Record, RecordKey, RowKey, Store,
    UnixMs,
};

fn key_of(collection: Collection, name: &str) -> RecordKey {
    RecordKey { collection, name: name.parse().unwrap() }
}

fn agent(name: &str) -> RecordKey {
    key_of(Collection::Agent, name)
}

fn record(name: &str, value: &str) -> Record {
    Record {
        key: agent(name),
        value: value.as_bytes().to_vec(),
        due_at: None,
        change: Change::ZERO,
    }
}

fn due(name: &str, ms: i64) -> Record {
    Record { due_at: Some(UnixMs(AT.0 + ms)), ..record(name, "due") }
}

fn put(record: Record) -> Put {
    Put::Record(Box::new(record))
}

fn read(store: &dyn Store, key: RecordKey) -> Option<Record> {
    get(store.records(&default(), vec![key])).pop()
}

fn names(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.key.name.as_str()).collect()
}

pub(super) fn record_is_written_on_top_of_what_was_read(store: &dyn Store) {
    let receipt = done(store, vec![new("a"), put(due("ann", 5))]);
    let first = read(store, agent("ann")).unwrap();
    assert_eq!(first, Record { change: receipt.put_change(1), ..due("ann", 5) });
    let bytes = (0..=255).collect();
    let receipt = done(store, vec![put(Record { value: bytes, due_at: None, ..first.clone() })]);
    let second = read(store, agent("ann")).unwrap();
    assert_eq!((second.change, second.due_at), (receipt.first_change, None));
    assert_eq!(second.value, (0..=255).collect::<Vec<u8>>());
    // The same name in another collection is another record.
    assert_eq!(read(store, key_of(Collection::Breaker, "ann")), None);
}

pub(super) fn record_that_moved_on_refuses_older_writers(store: &dyn Store) {
    done(store, vec![put(record("ann", "1"))]);
    let first = read(store, agent("ann")).unwrap();
    done(store, vec![put(Record { value: b"2".to_vec(), ..first.clone() })]);
    let now = read(store, agent("ann")).unwrap();
    let unknown = Record { change: Change(1), ..record("bob", "x") };
    let cases = [
        (put(record("ann", "new")), "ann", Expected::Absent, Some(now.change)),
        (put(first.clone()), "ann", Expected::At(first.change), Some(now.change)),
        (put(unknown), "bob", Expected::At(Change(1)), None),
        (
            Put::DropRecord(agent("ann"), first.change),
            "ann",
            Expected::At(first.change),
            Some(now.change),
        ),
        (Put::DropRecord(agent("bob"), Change(1)), "bob", Expected::At(Change(1)), None),
    ];
    for (put, name, expected, found) in cases {
        let error = apply(store, command(vec![new("undone"), put.clone()])).unwrap_err();
        let failure = error.guard().unwrap_or_else(|| panic!("{put:?}: {error:?}"));
        assert_eq!(failure.key, RowKey::Record(agent(name)), "{put:?}");
        assert_eq!((failure.expected, failure.found), (expected, found), "{put:?}");
    }
    assert_eq!(read(store, agent("ann")), Some(now));
    assert_eq!(row(store, 1), None);
}

pub(super) fn dropped_record_is_gone_and_its_name_free(store: &dyn Store) {
    done(store, vec![put(due("ann", 1))]);
    let first = read(store, agent("ann")).unwrap();
    done(store, vec![Put::DropRecord(agent("ann"), first.change)]);
    assert_eq!(read(store, agent("ann")), None);
    assert_eq!(get(store.next_due()), None);
    done(store, vec![put(record("ann", "again"))]);
    assert_eq!(read(store, agent("ann")).unwrap().value, b"again");
}

pub(super) fn records_are_guarded_rows(store: &dyn Store) {
    done(store, vec![put(record("ann", "1"))]);
    let change = read(store, agent("ann")).unwrap().change;
    let cases = [
        ("ann", Expected::Present, true),
        ("ann", Expected::Live, true),
        ("ann", Expected::At(change), true),
        ("ann", Expected::Absent, false),
        ("bob", Expected::Absent, true),
        ("bob", Expected::Present, false),
    ];
    for (name, expected, holds) in cases {
        let guards = vec![Guard { key: RowKey::Record(agent(name)), expected }];
        let outcome = apply(store, Command { guards, ..command(vec![]) });
        assert_eq!(outcome.is_ok(), holds, "{name} {expected:?}");
    }
}

pub(super) fn waking_brings_forward_and_disturbs_nobody(store: &dyn Store) {
    done(store, vec![put(record("never", "v")), put(due("late", 9)), put(due("early", 1))]);
    let before = read(store, agent("never")).unwrap();
    let wake = |name| Put::WakeRecord(agent(name), UnixMs(AT.0 + 5));
    let newest = get(store.newest_change(&default()));
    let receipt = done(store, vec![wake("never"), wake("late"), wake("early"), wake("unknown")]);
    assert_eq!(receipt.first_change, Change(newest.0 + 1));
    assert_eq!(get(store.newest_change(&default())), Change(newest.0 + 4));
    let due_ms = |name| read(store, agent(name)).unwrap().due_at.unwrap().0 - AT.0;
    assert_eq!([due_ms("never"), due_ms("late"), due_ms("early")], [5, 5, 1]);
    assert_eq!(read(store, agent("unknown")), None);
    let woken = read(store, agent("never")).unwrap();
    assert_eq!((woken.change, &woken.value), (before.change, &before.value));
    // Who read it before it was woken can still write.
    done(store, vec![put(before)]);
    assert_eq!(read(store, agent("never")).unwrap().due_at, None);
}

pub(super) fn failed_command_leaves_records_as_they_were(store: &dyn Store) {
    done(store, vec![put(record("ann", "1")), put(record("bob", "1"))]);
    let before = get(store.list_records(&default(), Collection::Agent, String::new(), None, 9));
    let [ann, bob] = [&before.items[0], &before.items[1]];
    let puts = vec![
        put(Record { value: b"2".to_vec(), ..ann.clone() }),
        Put::DropRecord(bob.key.clone(), bob.change),
        put(record("cleo", "new")),
        Put::WakeRecord(agent("cleo"), AT),
        revise(9, "none there"),
    ];
    apply(store, command(puts)).unwrap_err();
    let after = get(store.list_records(&default(), Collection::Agent, String::new(), None, 9));
    assert_eq!((after, get(store.next_due())), (before, None));
}

pub(super) fn records_are_read_in_the_order_asked(store: &dyn Store) {
    done(store, ["a", "b", "c"].map(|name| put(record(name, name))).into());
    let keys = ["c", "x", "a", "c"].map(agent).into();
    assert_eq!(names(&get(store.records(&default(), keys))), ["c", "a", "c"]);
    assert_eq!(get(store.records(&default(), vec![])), vec![]);
}

pub(super) fn records_are_listed_by_prefix_in_pages(store: &dyn Store) {
    let all = ["a", "a/1", "a/2", "a/\u{10FFFF}x", "a0", "b", "ä/1"];
    done(store, all.map(|name| put(record(name, name))).into());
    done(store, vec![put(Record { key: key_of(Collection::Alert, "a/3"), ..record("a", "v") })]);
    let page = |prefix: &str, after: Option<&str>, limit| {
        let after = after.map(|name| name.parse().unwrap());
        get(store.list_records(&default(), Collection::Agent, prefix.to_owned(), after, limit))
    };
    assert_eq!(names(&page("", None, 9).items), all);
    assert_eq!(names(&page("a/", None, 9).items), ["a/1", "a/2", "a/\u{10FFFF}x"]);
    assert_eq!(names(&page("a/\u{10FFFF}", None, 9).items), ["a/\u{10FFFF}x"]);
    assert_eq!(names(&page("a/", Some("b"), 9).items), [""; 0]);
    assert_eq!(names(&page("a/", Some("a"), 9).items), ["a/1", "a/2", "a/\u{10FFFF}x"]);
    let first = page("a", None, 3);
    assert_eq!(names(&first.items), ["a", "a/1", "a/2"]);
    let next = first.next.unwrap();
    let second = page("a", Some(next.as_str()), 3);
    assert_eq!((names(&second.items), second.next), (vec!["a/\u{10FFFF}x", "a0"], None));
}

pub(super) fn due_records_come_from_all_workspaces_earliest_first(store: &dyn Store) {
    let other: WorkspaceName = "other".parse().unwrap();
    done(store, vec![put(due("third", 3)), put(due("first", 1)), put(record("never", "v"))]);
    let puts = vec![put(due("second", 2)), put(due("fourth", 4))];
    apply(store, Command { workspace: other.clone(), ..command(puts) }).unwrap();
    let found = |ms, limit| {
        let due = get(store.due_records(UnixMs(AT.0 + ms), limit));
        due.into_iter().map(|(w, r)| (w, r.key.name.to_string())).collect::<Vec<_>>()
    };
    let expected = [(default(), "first"), (other, "second"), (default(), "third")];
    let expected = expected.map(|(workspace, name)| (workspace, name.to_owned()));
    assert_eq!(found(3, 9), expected);
    assert_eq!(found(9, 2), expected[..2]);
    assert_eq!(found(0, 9), []);
    assert_eq!(get(store.next_due()), Some(UnixMs(AT.0 + 1)));
}

pub(super) fn records_of_other_workspaces_are_not_seen(store: &dyn Store) {
    done(store, vec![put(record("ann", "secret"))]);
    let change = read(store, agent("ann")).unwrap().change;
    let other: WorkspaceName = "other".parse().unwrap();
    assert_eq!(get(store.records(&other, vec![agent("ann")])), vec![]);
    let listed = get(store.list_records(&other, Collection::Agent, String::new(), None, 9));
    assert_eq!(listed.items, vec![]);
    let from_other = |put| Command { workspace: other.clone(), ..command(vec![put]) };
    apply(store, from_other(Put::DropRecord(agent("ann"), change))).unwrap_err();
    apply(store, from_other(put(Record { change, ..record("ann", "x") }))).unwrap_err();
    apply(store, from_other(Put::WakeRecord(agent("ann"), AT))).unwrap();
    apply(store, from_other(put(record("ann", "own")))).unwrap();
    let expected = Record { change, ..record("ann", "secret") };
    assert_eq!(read(store, agent("ann")), Some(expected));
}

pub(super) fn record_beyond_its_limit_is_refused(store: &dyn Store) {
    let of = |bytes| put(Record { value: vec![b' '; bytes], ..record("ann", "") });
    let error = apply(store, command(vec![of(RECORD_BYTES_MAX + 1)])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    done(store, vec![of(RECORD_BYTES_MAX)]);
    assert_eq!(read(store, agent("ann")).unwrap().value.len(), RECORD_BYTES_MAX);
}
