//! Lists: filters, pages, and the feed that an index reads.

use spine_protocol::MemoryId;

use super::draft::*;
use crate::{
    Change, Filter, ListQuery, MemoryBody, MemoryRow, Order, Page, Put, Store, SubjectFilter,
    UnixMs,
};

fn numbers(ids: impl IntoIterator<Item = MemoryId>) -> Vec<u64> {
    ids.into_iter().map(MemoryId::number).collect()
}

fn found(store: &dyn Store, filter: Filter) -> Vec<u64> {
    let page = get(store.list_memories(&default(), ListQuery { filter, ..all(100) }));
    numbers(page.items.iter().map(|memory| memory.id))
}

fn fill(store: &dyn Store) {
    let first = MemoryBody {
        kind: "reasoning".parse().unwrap(),
        tags: vec!["a".parse().unwrap(), "b".parse().unwrap()],
        author: Some("x".parse().unwrap()),
        thread: Some("t".parse().unwrap()),
        subject: Some("user:1".parse().unwrap()),
        occurred_at: Some("2020-01-01T00:00:00Z".parse().unwrap()),
        ..body("first")
    };
    let second = MemoryBody {
        tags: vec!["b".parse().unwrap()],
        author: Some("y".parse().unwrap()),
        thread: Some("t".parse().unwrap()),
        subject: Some("user:2".parse().unwrap()),
        pinned: true,
        ..body("second")
    };
    done(store, vec![new_body(first), new_body(second), new("third")]);
}

pub(super) fn each_part_of_a_filter_narrows(store: &dyn Store) {
    fill(store);
    let any = Filter::default;
    let y2020 = UnixMs(1_577_836_800_000);
    let user = || "user:1".parse().unwrap();
    let cases: Vec<(Filter, &[u64])> = vec![
        (any(), &[1, 2, 3]),
        (Filter { ids: Some(vec![id(3), id(1), id(1), id(7)]), ..any() }, &[1, 3]),
        (Filter { ids: Some(vec![]), ..any() }, &[]),
        (Filter { thread: Some("t".parse().unwrap()), ..any() }, &[1, 2]),
        (Filter { subject: Some(SubjectFilter::Only(user())), ..any() }, &[1]),
        (Filter { subject: Some(SubjectFilter::OrGeneral(user())), ..any() }, &[1, 3]),
        (Filter { subject: Some(SubjectFilter::General), ..any() }, &[3]),
        (Filter { kinds: vec!["note".parse().unwrap()], ..any() }, &[2, 3]),
        (
            Filter { kinds: ["note", "reasoning"].map(|k| k.parse().unwrap()).into(), ..any() },
            &[1, 2, 3],
        ),
        (Filter { tags: vec!["b".parse().unwrap()], ..any() }, &[1, 2]),
        (Filter { tags: ["b", "a"].map(|t| t.parse().unwrap()).into(), ..any() }, &[1]),
        (Filter { author: Some("y".parse().unwrap()), ..any() }, &[2]),
        (Filter { about_from: Some(AT), ..any() }, &[2, 3]),
        (Filter { about_before: Some(AT), ..any() }, &[1]),
        (
            Filter { about_from: Some(y2020), about_before: Some(UnixMs(y2020.0 + 1)), ..any() },
            &[1],
        ),
        (Filter { pinned: Some(true), ..any() }, &[2]),
        (Filter { pinned: Some(false), ..any() }, &[1, 3]),
        (Filter { thread: Some("t".parse().unwrap()), pinned: Some(false), ..any() }, &[1]),
    ];
    for (filter, expected) in cases {
        assert_eq!(found(store, filter.clone()), expected, "{filter:?}");
    }
    // A filter follows what a revision, a pin and a delete change.
    done(store, vec![revise(1, "now plain"), Put::PinMemory(id(2), false)]);
    assert_eq!(found(store, Filter { tags: vec!["b".parse().unwrap()], ..any() }), [2]);
    assert_eq!(found(store, Filter { pinned: Some(true), ..any() }), [0_u64; 0]);
    done(store, vec![Put::DeleteMemory(id(2))]);
    assert_eq!(found(store, Filter { tags: vec!["b".parse().unwrap()], ..any() }), [0_u64; 0]);
}

pub(super) fn expired_memories_are_not_listed(store: &dyn Store) {
    let expires = |ms| MemoryBody { expires_at: Some(UnixMs(AT.0 + ms)), ..body("x") };
    done(store, vec![new_body(expires(0)), new_body(expires(1)), new("stays")]);
    assert_eq!(found(store, Filter::default()), [2, 3]);
    // It is still known: the reader judges by its own clock.
    assert_eq!(live(store, 1).body.expires_at, Some(AT));
}

pub(super) fn pages_follow_on_in_both_orders(store: &dyn Store) {
    done(store, (0..7).map(|_| new("x")).collect());
    done(store, vec![Put::DeleteMemory(id(4))]);
    let orders = [
        (Order::OldestFirst, [vec![1, 2, 3], vec![5, 6, 7]]),
        (Order::NewestFirst, [vec![7, 6, 5], vec![3, 2, 1]]),
    ];
    for (order, [first, second]) in orders {
        let page =
            |after| get(store.list_memories(&default(), ListQuery { order, after, ..all(3) }));
        let one = page(None);
        assert_eq!(numbers(one.items.iter().map(|m| m.id)), first);
        let two = page(one.next);
        assert_eq!(numbers(two.items.iter().map(|m| m.id)), second);
        assert_eq!((one.next.is_some(), two.next), (true, None));
    }
}

pub(super) fn changes_give_each_memory_once_at_its_newest(store: &dyn Store) {
    done(store, vec![new("a"), new("b"), new("c"), new("d")]);
    done(store, vec![revise(1, "a2"), Put::DeleteMemory(id(2)), Put::PurgeMemory(id(3))]);
    let changes = |after, limit| get(store.memory_changes(&default(), after, limit));
    let Page { items: all, next } = changes(Change::ZERO, 100);
    assert_eq!((numbers(all.iter().map(MemoryRow::id)), next), (vec![4, 1, 2, 3], None));
    assert!(all.windows(2).all(|pair| pair[0].change() < pair[1].change()));
    assert_eq!(all[3].change(), get(store.newest_change(&default())));
    let page = changes(Change::ZERO, 2);
    assert_eq!((&*page.items, page.next), (&all[..2], Some(all[1].change())));
    let rest = changes(all[1].change(), 2);
    assert_eq!((&*rest.items, rest.next), (&all[2..], None));
    assert_eq!(changes(all[3].change(), 2), Page { items: vec![], next: None });
}
