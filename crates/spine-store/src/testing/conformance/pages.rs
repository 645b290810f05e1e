//! Pages of rows so large that fewer come than were asked for: none is left out, and none comes twice.

use super::deliveries::{self, draft as delivery};
use super::draft::*;
use super::envelopes::{self, envelope};
use crate::limits::PAGE_BYTES_MAX;
use crate::{
    Change, Delivery, DeliveryQuery, Filter, ListQuery, Memory, MemoryBody, MemoryRow, Order, Page,
    Store, StoredEnvelope, SubjectFilter,
};

/// Two of them fill a page.
const LARGE_BYTES: usize = PAGE_BYTES_MAX / 2;
const ASKED: usize = 100;

fn large_text() -> String {
    "x".repeat(LARGE_BYTES)
}

/// The numbers of the rows on each page.
fn pages<T, C>(
    read: impl Fn(Option<C>) -> Page<T, C>,
    number: impl Fn(&T) -> u64,
) -> Vec<Vec<u64>> {
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let page = read(after);
        pages.push(page.items.iter().map(&number).collect());
        after = page.next;
        if after.is_none() {
            return pages;
        }
    }
}

fn number(memory: &Memory) -> u64 {
    memory.id.number()
}

/// One about somebody between two about nobody in particular.
fn store_three(store: &dyn Store) {
    for subject in [None, Some("user:1".parse().unwrap()), None] {
        done(store, vec![new_body(MemoryBody { subject, ..body(&large_text()) })]);
    }
}

pub(super) fn large_memories_come_on_more_pages(store: &dyn Store) {
    store_three(store);
    let either = || Some(SubjectFilter::OrGeneral("user:1".parse().unwrap()));
    for subject in [None, either()] {
        for (order, expected) in [
            (Order::OldestFirst, [vec![1, 2], vec![3]]),
            (Order::NewestFirst, [vec![3, 2], vec![1]]),
        ] {
            let read = |after| {
                let filter = Filter { subject: subject.clone(), ..Filter::default() };
                get(store
                    .list_memories(&default(), ListQuery { filter, order, after, ..all(ASKED) }))
            };
            assert_eq!(pages(read, number), expected, "{subject:?}");
        }
    }
    let changes = |after: Option<Change>| {
        get(store.memory_changes(&default(), after.unwrap_or_default(), ASKED))
    };
    assert_eq!(pages(changes, |row: &MemoryRow| row.id().number()), [vec![1, 2], vec![3]]);
}

pub(super) fn large_versions_come_on_more_pages(store: &dyn Store) {
    done(store, vec![new(&large_text())]);
    done(store, vec![revise(1, &large_text())]);
    done(store, vec![revise(1, &large_text())]);
    let read = |after: Option<u32>| {
        get(store.memory_versions(&default(), id(1), after.unwrap_or_default(), ASKED))
    };
    assert_eq!(pages(read, |memory| u64::from(memory.version)), [vec![1, 2], vec![3]]);
}

pub(super) fn large_envelopes_come_on_more_pages(store: &dyn Store) {
    for n in 1..=3 {
        let bytes = vec![0; LARGE_BYTES].into();
        done(store, vec![envelopes::put(StoredEnvelope { bytes, ..envelope(n, 1) })]);
    }
    let read = |after| get(store.lineage(&default(), envelope(1, 1).id, after, ASKED));
    assert_eq!(pages(read, |envelope| envelope.id.unix_ms()), [vec![1, 2], vec![3]]);
}

pub(super) fn large_deliveries_come_on_more_pages(store: &dyn Store) {
    for n in 1..=3 {
        let story = vec![0; LARGE_BYTES];
        done(store, vec![deliveries::put(Delivery { story, ..delivery(n) })]);
    }
    let of_root = |after| get(store.lineage_deliveries(&default(), delivery(1).root, after, ASKED));
    let listed = |after| {
        let query = DeliveryQuery { after, limit: ASKED, ..DeliveryQuery::default() };
        get(store.list_deliveries(&default(), query))
    };
    for found in [pages(of_root, deliveries::number), pages(listed, deliveries::number)] {
        assert_eq!(found, [vec![1, 2], vec![3]]);
    }
}
