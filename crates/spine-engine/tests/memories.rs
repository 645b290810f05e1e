//! What a user of memories can rely on.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use spine_engine::Caller;
use spine_engine::memories::{
    Edit, ListRequest, Lookup, Memories, MemoryError, MemoryPatch, MissingReason, NewMemory,
    SearchRequest, Stored, limits,
};
use spine_protocol::{MemoryId, WorkspaceName};
use spine_store::testing::{Fault, ManualClock, ModelRetriever, ModelStore, block_on};
use spine_store::{
    Change, ErrorKind, Filter, GoneReason, IndexStatus, LogReads, Retriever, SearchAnswer,
    SearchQuery, StoreFuture, UnixMs,
};

struct House {
    clock: Arc<ManualClock>,
    store: Arc<ModelStore>,
    memories: Memories,
    caller: Caller,
}

fn house() -> House {
    let clock = Arc::new(ManualClock::at(UnixMs(1_768_469_400_000)));
    let store = Arc::new(ModelStore::new(clock.clone()));
    let memories = Memories::new(store.clone(), Arc::new(ModelRetriever::new(store.clone())));
    let caller = Caller {
        agent: Some("analyst".parse().unwrap()),
        ..Caller::of("default".parse().unwrap())
    };
    House { clock, store, memories, caller }
}

impl House {
    fn store(&self, new: NewMemory) -> Stored {
        block_on(self.memories.store(&self.caller, new)).unwrap()
    }

    fn keyed(&self, key: &str) -> Caller {
        Caller { idempotency_key: Some(key.parse().unwrap()), ..self.caller.clone() }
    }

    fn newest(&self) -> Change {
        block_on(self.store.newest_change(&self.caller.workspace)).unwrap()
    }
}

fn note(text: &str) -> NewMemory {
    NewMemory { text: text.to_owned(), ..NewMemory::default() }
}

fn id(number: u64) -> MemoryId {
    MemoryId::new(number).unwrap()
}

#[test]
fn stored_memory_has_an_id_an_author_and_its_text() {
    let house = house();
    let stored = house.store(NewMemory {
        tags: vec!["b", "a", "b"].into_iter().map(|t| t.parse().unwrap()).collect(),
        ..note("hello")
    });
    let memory = block_on(house.memories.get(&house.caller, id(1))).unwrap();
    assert_eq!((&stored.memory, stored.duplicate), (&memory, false));
    assert_eq!(memory.body.author, house.caller.agent.as_ref().map(Into::into));
    assert_eq!(memory.body.tags.iter().map(|t| t.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn same_content_is_answered_with_what_is_there() {
    let house = house();
    let first = house.store(note("the same"));
    let again = house.store(NewMemory { title: Some("other".to_owned()), ..note("the same") });
    assert_eq!((again.memory, again.duplicate), (first.memory, true));
    let both = block_on(
        house.memories.store_many(&house.caller, vec![note("x"), note("the same"), note("x")]),
    );
    let seen: Vec<_> = both.unwrap().iter().map(|s| (s.memory.id.number(), s.duplicate)).collect();
    assert_eq!(seen, [(2, false), (1, true), (2, true)]);
}

#[test]
fn second_yes_is_a_second_turn() {
    let house = house();
    let turn = || NewMemory { kind: "conversation".parse().unwrap(), ..note("yes") };
    let at = |time: &str| NewMemory { occurred_at: Some(time.parse().unwrap()), ..note("yes") };
    let numbers =
        [turn(), turn(), at("2026-01-01T00:00:00Z"), at("2026-01-02T00:00:00Z"), note("yes")]
            .map(|new| house.store(new).memory.id.number());
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
}

#[test]
fn content_can_be_stored_anew_after_delete_or_expiry() {
    let house = house();
    house.store(note("a"));
    block_on(house.memories.delete(&house.caller, id(1), None)).unwrap();
    assert_eq!(house.store(note("a")).memory.id, id(2));
    house.store(NewMemory { ttl: Some(Duration::from_secs(1)), ..note("b") });
    house.clock.advance_ms(1_000);
    let anew = house.store(note("b"));
    assert_eq!((anew.memory.id, anew.duplicate), (id(4), false));
    assert!(house.store(note("b")).duplicate);
}

#[test]
fn update_makes_a_version_and_keeps_the_older_one() {
    let house = house();
    house.store(NewMemory { title: Some("t".to_owned()), ..note("one") });
    let patch =
        MemoryPatch { text: Some("two".to_owned()), title: Edit::Clear, ..MemoryPatch::default() };
    let updated =
        block_on(house.memories.update(&house.caller, id(1), patch.clone(), Some(1))).unwrap();
    assert_eq!((updated.version, updated.body.title.as_deref()), (2, None));
    assert_eq!(block_on(house.memories.get(&house.caller, id(1))).unwrap(), updated);
    let first = block_on(house.memories.get_version(&house.caller, id(1), 1)).unwrap();
    assert_eq!((first.body.text.as_str(), first.body.title.as_deref()), ("one", Some("t")));
    let stale = block_on(house.memories.update(&house.caller, id(1), patch.clone(), Some(1)));
    assert_eq!(stale, Err(MemoryError::VersionConflict { id: id(1), expected: 1, current: 2 }));
    // What changes nothing makes no version.
    let newest = house.newest();
    assert_eq!(block_on(house.memories.update(&house.caller, id(1), patch, None)), Ok(updated));
    assert_eq!(house.newest(), newest);
}

#[test]
fn update_to_what_another_memory_says_is_allowed() {
    let house = house();
    house.store(note("a"));
    house.store(note("b"));
    let patch = MemoryPatch { text: Some("a".to_owned()), ..MemoryPatch::default() };
    let updated = block_on(house.memories.update(&house.caller, id(2), patch, None)).unwrap();
    assert_eq!(updated.body.text, "a");
    assert_eq!(house.store(note("a")).memory.id, id(1));
}

#[test]
fn known_gaps_say_why() {
    let house = house();
    for text in ["live", "deleted", "purged"] {
        house.store(note(text));
    }
    house.store(NewMemory { ttl: Some(Duration::from_millis(5)), ..note("expired") });
    let deleted = block_on(house.memories.delete(&house.caller, id(2), None)).unwrap();
    assert_eq!((deleted.version, deleted.reason), (2, GoneReason::Deleted));
    // Twice is once.
    assert_eq!(block_on(house.memories.delete(&house.caller, id(2), None)).unwrap(), deleted);
    let purged = block_on(house.memories.purge(&house.caller, id(3))).unwrap();
    assert_eq!(block_on(house.memories.purge(&house.caller, id(3))).unwrap(), purged);
    house.clock.advance_ms(5);
    let ids = vec![id(1), id(2), id(3), id(4), id(5)];
    let looked = block_on(house.memories.get_many(&house.caller, ids)).unwrap();
    let reasons: Vec<_> = looked
        .iter()
        .filter_map(
            |l| if let Lookup::Missing(_, reason) = l { Some(reason.as_str()) } else { None },
        )
        .collect();
    assert_eq!(reasons, ["deleted", "purged", "expired", "not_found"]);
    let missing = |id, reason| Err(MemoryError::Missing { id, reason });
    let pin = |number| block_on(house.memories.pin(&house.caller, id(number), true)).map(|_| ());
    assert_eq!(pin(2), missing(id(2), MissingReason::Deleted));
    assert_eq!(pin(4), missing(id(4), MissingReason::Expired));
    assert_eq!(pin(5), missing(id(5), MissingReason::NotFound));
}

#[test]
fn pins_are_listed_and_make_no_version() {
    let house = house();
    house.store(note("a"));
    house.store(note("b"));
    let pinned = block_on(house.memories.pin(&house.caller, id(2), true)).unwrap();
    assert_eq!((pinned.version, pinned.body.pinned), (1, true));
    let filter = Filter { pinned: Some(true), ..Filter::default() };
    let request = ListRequest { filter, limit: 10, ..ListRequest::default() };
    assert_eq!(
        block_on(house.memories.list(&house.caller, request)).unwrap().items,
        vec![pinned.clone()]
    );
    assert_eq!(block_on(house.memories.pin(&house.caller, id(2), true)).unwrap(), pinned);
}

#[test]
fn stored_memory_is_found_by_the_next_search_and_a_purged_one_is_not() {
    let house = house();
    house.store(note("rate limits of the payment api"));
    house.store(NewMemory { ttl: Some(Duration::from_millis(1)), ..note("expired limits") });
    house.clock.advance_ms(1);
    let search = || {
        let request = SearchRequest {
            text: "limits".to_owned(),
            limit: 5,
            explain: true,
            ..SearchRequest::default()
        };
        block_on(house.memories.search(&house.caller, request)).unwrap().found
    };
    let found = search();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].memory.id, found[0].hit.parts.is_empty()), (id(1), false));
    block_on(house.memories.purge(&house.caller, id(1))).unwrap();
    assert_eq!(search(), []);
}

/// Passes searches on, and counts how often it was told to erase.
struct Told(ModelRetriever, AtomicUsize);

impl Retriever for Told {
    fn search(
        &self,
        workspace: &WorkspaceName,
        query: SearchQuery,
    ) -> StoreFuture<'_, SearchAnswer> {
        self.0.search(workspace, query)
    }
    fn status(&self, workspace: &WorkspaceName) -> StoreFuture<'_, IndexStatus> {
        self.0.status(workspace)
    }
    fn erase_remnants(&self, workspace: &WorkspaceName) -> StoreFuture<'_, ()> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.erase_remnants(workspace)
    }
    fn rebuild(&self) -> StoreFuture<'_, ()> {
        self.0.rebuild()
    }
}

#[test]
fn index_is_told_of_every_purge_even_of_a_repeated_one() {
    let house = house();
    let told = Arc::new(Told(ModelRetriever::new(house.store.clone()), AtomicUsize::new(0)));
    let memories = Memories::new(house.store.clone(), told.clone());
    house.store(note("a"));
    for _ in 0..2 {
        block_on(memories.purge(&house.keyed("k"), id(1))).unwrap();
    }
    assert_eq!(told.1.load(Ordering::SeqCst), 2);
}

#[test]
fn limits_name_the_field_and_the_number() {
    let house = house();
    let deep = (0..limits::METADATA_DEPTH_MAX).fold(json!(1), |inner, _| json!([inner]));
    let cases = [
        ("text", note(&"x".repeat(limits::MEMORY_TEXT_BYTES_MAX + 1))),
        ("title", NewMemory { title: Some("x".repeat(limits::TITLE_BYTES_MAX + 1)), ..note("a") }),
        (
            "summary",
            NewMemory { summary: Some("x".repeat(limits::SUMMARY_BYTES_MAX + 1)), ..note("a") },
        ),
        (
            "tags",
            NewMemory {
                tags: (0..=limits::TAGS_MAX).map(|n| n.to_string().parse().unwrap()).collect(),
                ..note("a")
            },
        ),
        (
            "metadata",
            NewMemory {
                metadata: [("k".to_owned(), json!("x".repeat(limits::METADATA_BYTES_MAX)))]
                    .into_iter()
                    .collect(),
                ..note("a")
            },
        ),
        (
            "metadata",
            NewMemory { metadata: [("k".to_owned(), deep)].into_iter().collect(), ..note("a") },
        ),
    ];
    for (name, new) in cases {
        match block_on(house.memories.store(&house.caller, new)) {
            Err(MemoryError::TooLarge { field, found, max, .. }) => {
                assert_eq!((field, found > max), (name, true))
            }
            other => panic!("{name} should be too large, but {other:?}"),
        }
    }
    let empty = block_on(house.memories.store(&house.caller, note(" \n")));
    assert_eq!(empty.unwrap_err().to_string(), "text must not be empty");
    let many = vec![note("a"); limits::STORE_MEMORIES_MAX + 1];
    let many = block_on(house.memories.store_many(&house.caller, many)).unwrap_err();
    assert_eq!(
        many.to_string(),
        "memories has 5001 memories, at most 5000 are taken: shorten or split it"
    );
    assert_eq!(house.newest(), Change::ZERO);
}

/// A page of the largest memories had 256 MB, and one answer to ids 1.3 GB: a few of them at once were too much for a server.
#[test]
fn no_answer_grows_with_the_memories_in_it() {
    let house = house();
    let whole = limits::ANSWER_BYTES_MAX / limits::MEMORY_TEXT_BYTES_MAX;
    for number in 0..=whole {
        let text = format!("limits {number} ");
        let rest = "x".repeat(limits::MEMORY_TEXT_BYTES_MAX - text.len());
        house.store(note(&(text + &rest)));
    }
    let get = |count: usize| {
        let ids = (1..=count as u64).map(id).collect();
        block_on(house.memories.get_many(&house.caller, ids)).map(|looked| looked.len())
    };
    let too_large = |field| MemoryError::AnswerTooLarge { field, max: limits::ANSWER_BYTES_MAX };
    assert_eq!((get(whole), get(whole + 1)), (Ok(whole), Err(too_large("ids"))));
    let search = |limit| {
        let request =
            SearchRequest { text: "limits".to_owned(), limit, ..SearchRequest::default() };
        block_on(house.memories.search(&house.caller, request)).map(|answer| answer.found.len())
    };
    assert_eq!((search(whole), search(whole + 1)), (Ok(whole), Err(too_large("limit"))));
    let listed = ListRequest { limit: 100, ..ListRequest::default() };
    let page = block_on(house.memories.list(&house.caller, listed)).unwrap();
    let fit = spine_store::limits::PAGE_BYTES_MAX / limits::MEMORY_TEXT_BYTES_MAX;
    assert_eq!((page.items.len(), page.next), (fit, Some(page.items[fit - 1].id)));
}

#[test]
fn repeated_request_gives_the_first_answer() {
    let house = house();
    let turn = || NewMemory { kind: "conversation".parse().unwrap(), ..note("yes") };
    let store = || block_on(house.memories.store(&house.keyed("k1"), turn())).unwrap();
    let first = store();
    assert_eq!(store(), first);
    let patch = MemoryPatch { text: Some("no".to_owned()), ..MemoryPatch::default() };
    let update =
        || block_on(house.memories.update(&house.keyed("k2"), id(1), patch.clone(), Some(1)));
    let updated = update().unwrap();
    assert_eq!(update().unwrap(), updated);
    // The first answer still, though the memory has moved on.
    assert_eq!(store(), first);
    let delete = || block_on(house.memories.delete(&house.keyed("k3"), id(1), Some(2)));
    assert_eq!(delete().unwrap(), delete().unwrap());
    let gone = block_on(house.memories.store(&house.keyed("k1"), turn())).unwrap_err();
    assert_eq!(gone, MemoryError::Missing { id: id(1), reason: MissingReason::Deleted });
}

#[test]
fn key_of_another_request_is_a_conflict_until_its_day_is_over() {
    let house = house();
    let caller = house.keyed("k");
    block_on(house.memories.store(&caller, note("a"))).unwrap();
    let other = block_on(house.memories.store(&caller, note("b")));
    assert_eq!(other, Err(MemoryError::IdempotencyConflict));
    let pin = block_on(house.memories.pin(&caller, id(1), true));
    assert_eq!(pin, Err(MemoryError::IdempotencyConflict));
    house.clock.advance_ms(i64::try_from(limits::IDEMPOTENCY_KEPT.as_millis()).unwrap());
    assert!(block_on(house.memories.store(&caller, note("b"))).is_ok());
}

#[test]
fn unknown_outcome_is_settled_by_the_same_key() {
    let house = house();
    let turn = || NewMemory { kind: "conversation".parse().unwrap(), ..note("yes") };
    for (fault, key) in
        [(Fault::AfterWrite, "after"), (Fault::BeforeWrite(ErrorKind::OutcomeUnknown), "before")]
    {
        house.store.fail_next(fault);
        let before = house.newest();
        let lost = block_on(house.memories.store(&house.keyed(key), turn())).unwrap_err();
        assert!(lost.to_string().contains("retry with the same Idempotency-Key"), "{lost}");
        block_on(house.memories.store(&house.keyed(key), turn())).unwrap();
        // One memory and one event, however often it was sent.
        assert_eq!(house.newest(), Change(before.0 + 2));
    }
}

#[test]
fn log_says_who_did_what() {
    let house = house();
    block_on(house.memories.store_many(&house.caller, vec![note("a"), note("b")])).unwrap();
    block_on(house.memories.pin(&house.caller, id(1), true)).unwrap();
    block_on(house.memories.purge(&house.caller, id(2))).unwrap();
    let events =
        block_on(house.store.events(&house.caller.workspace, Change::ZERO, 10)).unwrap().items;
    let told: Vec<_> = events.iter().map(|e| (&*e.kind, e.memory.unwrap().number())).collect();
    assert_eq!(told, [("memory.stored", 1), ("memory.pinned", 1), ("memory.purged", 2)]);
    assert_eq!(events[0].data.number("count"), Some(2));
    assert!(events.iter().all(|event| event.actor == house.caller.agent));
}

#[test]
fn requests_can_move_between_threads() {
    fn check<T: Send>(_: T) {}
    let house = house();
    check(house.memories.store(&house.caller, note("a")));
    check(house.memories.update(&house.caller, id(1), MemoryPatch::default(), None));
    check(house.memories.purge(&house.caller, id(1)));
    check(house.memories.search(&house.caller, SearchRequest::default()));
}
