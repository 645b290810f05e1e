//! Commands: atomic by themselves, committed together, numbered in commit order.

use std::collections::BTreeSet;
use std::thread;

use super::draft::*;
use crate::limits::{APPLY_COMMANDS_MAX, COMMAND_PUTS_MAX};
use crate::testing::block_on;
use crate::{
    Applied, Change, Command, ErrorKind, Expected, Guard, Outcome, Put, RowKey, Store, UnixMs,
};

pub(super) fn numbers_start_at_one_and_follow_on(store: &dyn Store) {
    let first = done(store, vec![new("a"), new("b")]);
    assert_eq!(
        (first.first_change, first.first_memory, first.memories),
        (Change(1), Some(id(1)), 2)
    );
    let second = done(store, vec![Put::PinMemory(id(1), true), new("c")]);
    assert_eq!((second.first_change, second.first_memory), (Change(3), Some(id(3))));
    assert_eq!(live(store, 3).change, second.put_change(1));
    assert_eq!(get(store.newest_change(&default())), Change(4));
}

pub(super) fn failed_guard_fails_alone(store: &dyn Store) {
    let guard = Guard { key: RowKey::Memory(id(7)), expected: Expected::Live };
    let refused = Command { guards: vec![guard.clone()], ..command(vec![new("refused")]) };
    let batch = vec![command(vec![new("a")]), refused, command(vec![new("b")])];
    let outcomes = get(store.apply(batch));
    let kinds: Vec<bool> = outcomes.iter().map(Outcome::is_ok).collect();
    assert_eq!(kinds, [true, false, true]);
    let failure = outcomes[1].as_ref().unwrap_err().guard().unwrap();
    assert_eq!((&failure.key, failure.expected, failure.found), (&guard.key, guard.expected, None));
    // It took no numbers either.
    assert_eq!(live(store, 2).body.text, "b");
    assert_eq!(get(store.newest_change(&default())), Change(2));
}

pub(super) fn failed_put_undoes_the_whole_command(store: &dyn Store) {
    done(store, vec![new_keyed("held"), new("other")]);
    let pin_then_fail = vec![Put::PinMemory(id(1), true), revise(2, "new"), new_keyed("held")];
    let error = apply(store, command(pin_then_fail)).unwrap_err();
    assert_eq!(error.guard().unwrap().key, RowKey::Content(key("held")));
    assert!(!live(store, 1).body.pinned);
    assert_eq!((live(store, 2).version, row(store, 3)), (1, None));
    assert_eq!(done(store, vec![new("next")]).first_change, Change(3));
    assert_eq!(live(store, 3).body.text, "next");
}

pub(super) fn guards_hold_or_say_what_they_found(store: &dyn Store) {
    done(store, vec![new_keyed("live"), new("deleted")]);
    done(store, vec![Put::DeleteMemory(id(2))]);
    let (live, deleted) = (RowKey::Memory(id(1)), RowKey::Memory(id(2)));
    let (content, none) = (RowKey::Content(key("live")), RowKey::Memory(id(9)));
    let cases = [
        (live.clone(), Expected::Live, true),
        (live.clone(), Expected::At(Change(1)), true),
        (live.clone(), Expected::At(Change(2)), false),
        (live, Expected::Absent, false),
        (deleted.clone(), Expected::Present, true),
        (deleted.clone(), Expected::Live, false),
        (deleted, Expected::At(Change(3)), true),
        (content.clone(), Expected::At(Change(1)), true),
        (content, Expected::Absent, false),
        (RowKey::Content(key("none")), Expected::Absent, true),
        (none.clone(), Expected::Absent, true),
        (none.clone(), Expected::Present, false),
        (none, Expected::At(Change(1)), false),
    ];
    for (key, expected, holds) in cases {
        let guard = Guard { key: key.clone(), expected };
        let guarded = Command { guards: vec![guard], ..command(vec![]) };
        assert_eq!(apply(store, guarded).is_ok(), holds, "{key:?} {expected:?}");
    }
}

pub(super) fn puts_see_the_puts_before_them(store: &dyn Store) {
    done(store, vec![new_keyed("same")]);
    let receipt = done(store, vec![Put::ReleaseContent(id(1)), new_keyed("same")]);
    let held = get(store.memories_by_content(&default(), vec![key("same")]));
    assert_eq!(held[0].1.id, receipt.first_memory.unwrap());
    done(store, vec![new("a"), Put::PinMemory(id(3), true), revise(3, "b")]);
    assert_eq!((live(store, 3).version, live(store, 3).body.text.as_str()), (2, "b"));
}

pub(super) fn known_idempotency_key_has_no_second_effect(store: &dyn Store) {
    let until = UnixMs(AT.0 + 1);
    let Applied::Now(receipt) = apply(store, with_key(vec![new("a")], "key", until)).unwrap()
    else {
        panic!("should be new")
    };
    let again = vec![with_key(vec![new("b")], "key", until); 2];
    for outcome in get(store.apply(again)) {
        let Applied::Before(record) = outcome.unwrap() else { panic!("should be known") };
        assert_eq!((record.receipt, record.answer.as_slice()), (receipt, b"answer".as_slice()));
    }
    assert_eq!(row(store, 2), None);
    let read = get(store.idempotency(&default(), &"key".parse().unwrap(), AT)).unwrap();
    assert_eq!((read.receipt, read.kept_until), (receipt, until));
}

pub(super) fn idempotency_key_is_new_again_after_its_time(store: &dyn Store) {
    apply(store, with_key(vec![new("a")], "key", UnixMs(AT.0 + 5))).unwrap();
    let later = UnixMs(AT.0 + 5);
    assert_eq!(get(store.idempotency(&default(), &"key".parse().unwrap(), later)), None);
    let again = Command { at: later, ..with_key(vec![new("b")], "key", UnixMs(AT.0 + 10)) };
    assert!(matches!(apply(store, again).unwrap(), Applied::Now(_)));
    let read = get(store.idempotency(&default(), &"key".parse().unwrap(), later)).unwrap();
    assert_eq!(read.receipt.first_memory, Some(id(2)));
}

pub(super) fn idempotency_of_a_failed_command_is_not_recorded(store: &dyn Store) {
    let until = UnixMs(AT.0 + 5);
    apply(store, with_key(vec![revise(1, "none there")], "key", until)).unwrap_err();
    assert_eq!(get(store.idempotency(&default(), &"key".parse().unwrap(), AT)), None);
}

pub(super) fn expired_idempotency_records_are_forgotten_oldest_first(store: &dyn Store) {
    for (key, ms) in [("late", 9), ("first", 1), ("second", 2)] {
        apply(store, with_key(vec![], key, UnixMs(AT.0 + ms))).unwrap();
    }
    let forget = |until| Put::ForgetIdempotency { until: UnixMs(AT.0 + until), rows_max: 1 };
    let known = |key: &str| get(store.idempotency(&default(), &key.parse().unwrap(), AT)).is_some();
    done(store, vec![forget(2)]);
    assert_eq!((known("first"), known("second"), known("late")), (false, true, true));
    done(store, vec![forget(2), forget(2)]);
    assert_eq!((known("second"), known("late")), (false, true));
}

pub(super) fn what_is_too_large_is_refused(store: &dyn Store) {
    let pins = vec![Put::PinMemory(id(1), true); COMMAND_PUTS_MAX + 1];
    assert_eq!(apply(store, command(pins)).unwrap_err().kind(), ErrorKind::TooLarge);
    let batch = vec![command(vec![]); APPLY_COMMANDS_MAX + 1];
    assert_eq!(block_on(store.apply(batch)).unwrap_err().kind(), ErrorKind::TooLarge);
}

pub(super) fn nothing_to_apply_is_no_error(store: &dyn Store) {
    assert_eq!(get(store.apply(vec![])), vec![]);
    assert_eq!(done(store, vec![]).first_memory, None);
}

pub(super) fn many_writers_get_distinct_numbers(store: &dyn Store) {
    const WRITERS: usize = 8;
    const WRITES: usize = 50;
    let write = || -> Vec<u64> {
        let one = |_| {
            let number = done(store, vec![new("x")]).first_memory.unwrap().number();
            // What was answered can be read at once.
            assert_eq!(live(store, number).body.text, "x");
            number
        };
        (0..WRITES).map(one).collect()
    };
    let numbers: BTreeSet<u64> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS).map(|_| scope.spawn(write)).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(numbers, (1..=(WRITERS * WRITES) as u64).collect());
}
