//! What the index promises, over the model store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use spine_protocol::MemoryId;
use spine_retrieval::IndexLimits;
use spine_store::testing::{ModelStore, block_on};
use spine_store::{
    Filter, IndexState, MemoryBody, Priority, Put, Retriever, SearchQuery, SubjectFilter, UnixMs,
};
use support::{
    Counting, Indexed, NOW, SMALL, Switched, apply, draft, model_store, name, open, put, query,
    text,
};

const A: &str = "team-a";
const B: &str = "team-b";

#[test]
fn an_answered_write_is_found_by_the_next_search() {
    let store = model_store();
    let indexed = Indexed::new(&store, SMALL);
    for round in 0..40 {
        let id = put(&store, A, text(&format!("the heron{round} stands in the reeds")));
        assert_eq!(indexed.ids(A, &format!("heron{round}"))[0], id.number());
    }
}

#[test]
fn concurrent_writers_find_what_they_wrote() {
    let store = model_store();
    let indexed = Indexed::new(&store, SMALL);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (store, indexed) = (&store, &indexed);
            scope.spawn(move || {
                for round in 0..25 {
                    let word = format!("otter{writer}x{round}");
                    let id = put(store, A, text(&format!("an {word} swims by")));
                    assert_eq!(indexed.ids(A, &word)[0], id.number(), "{word}");
                }
            });
        }
    });
}

/// Each of those who searched after a burst of writes read and embedded all of it.
#[test]
fn those_who_search_at_once_embed_what_is_new_once() {
    const MEMORIES: usize = 500;
    const SEARCHERS: usize = 4;
    let (store, folder) = (model_store(), tempfile::tempdir().unwrap());
    for n in 0..MEMORIES {
        put(&store, A, text(&format!("the heron{n} stands in the reeds")));
    }
    let embedder = Arc::new(Counting::default());
    let index = open(&folder, &store, embedder.clone(), IndexLimits::default());
    std::thread::scope(|scope| {
        for _ in 0..SEARCHERS {
            scope.spawn(|| block_on(index.search(&name(A), query("heron7"))).unwrap());
        }
    });
    assert_eq!(embedder.texts.load(Ordering::SeqCst), MEMORIES + SEARCHERS);
}

/// Of two memories that had nothing to do with a question, the one a little nearer by chance got all that meaning can give: a
/// search for a date found the other one first.
#[test]
fn meaning_that_hardly_tells_memories_apart_does_not_outweigh_words() {
    let store = model_store();
    let at = |at: &str, said| MemoryBody { occurred_at: Some(at.parse().unwrap()), ..text(said) };
    put(&store, A, at("2026-11-19T20:00:00Z", "The gateway takes at most 100 requests a second."));
    put(&store, A, at("2026-03-04T10:00:00Z", "Alice moved to Lisbon"));
    let indexed = Indexed::new(&store, IndexLimits::default());
    for asked in ["march 2026", "what happened in March 2026?", "4 March 2026"] {
        assert_eq!(indexed.ids(A, asked), [2, 1], "{asked}");
    }
}

#[test]
fn what_is_gone_or_expired_is_not_found() {
    let store = model_store();
    let indexed = Indexed::new(&store, IndexLimits::default());
    let kept = put(&store, A, text("badger kept"));
    let expires_at = Some(UnixMs(NOW.0 + 10));
    let expiring = put(&store, A, MemoryBody { expires_at, ..text("badger expiring") });
    let deleted = put(&store, A, text("badger deleted"));
    let purged = put(&store, A, text("badger purged"));
    assert_eq!(indexed.ids(A, "badger").len(), 4);
    apply(&store, A, Put::DeleteMemory(deleted));
    apply(&store, A, Put::PurgeMemory(purged));
    let later = SearchQuery { now: UnixMs(NOW.0 + 10), ..query("badger") };
    assert_eq!(indexed.search(A, later).hits[0].id, kept);
    let mut ids = indexed.ids(A, "badger");
    ids.sort();
    assert_eq!(ids, [kept.number(), expiring.number()]);
}

#[test]
fn a_revision_replaces_what_was_said() {
    let store = model_store();
    let indexed = Indexed::new(&store, SMALL);
    let id = put(&store, A, text("the meeting is on the lighthouse"));
    assert_eq!(indexed.ids(A, "lighthouse"), [id.number()]);
    apply(&store, A, Put::ReviseMemory(id, draft(text("the meeting is in the cellar"))));
    let hit = &indexed.search(A, query("cellar")).hits[0];
    assert_eq!((hit.id, hit.version), (id, 2));
    assert_eq!(hit.parts[0].value, 1.0);
    assert_eq!(indexed.search(A, query("lighthouse")).hits[0].parts[0].value, 0.0);
}

#[test]
fn scores_do_not_depend_on_another_workspace() {
    for limits in [IndexLimits::default(), SMALL] {
        let store = model_store();
        let indexed = Indexed::new(&store, limits);
        for n in 0..30 {
            put(&store, A, text(&format!("river{} stone boat{}", n % 7, n % 3)));
        }
        let ask = || indexed.search(A, query("boat1 river3 stone"));
        let before = ask();
        for n in 0..200 {
            put(&store, B, text(&format!("river3 boat{n} river3 stone and much more text")));
        }
        assert!(!indexed.ids(B, "river3").is_empty());
        block_on(indexed.index.maintain(&name(B))).unwrap();
        assert_eq!(ask(), before);
        let reopened = indexed.reopened(&store, limits);
        assert_eq!(reopened.search(A, query("boat1 river3 stone")), before);
    }
}

#[test]
fn every_part_of_a_score_is_named_and_they_add_up() {
    let store = model_store();
    let indexed = Indexed::new(&store, IndexLimits::default());
    let turn = |author: &str, said: &str| {
        let (author, thread) = (Some(author.parse().unwrap()), Some("standup".parse().unwrap()));
        put(&store, A, MemoryBody { author, thread, ..text(said) })
    };
    turn("mira", "Did the import finish?");
    turn("tomas", "Yes, the import finished at noon.");
    let answer = indexed.search(A, query("What did Tomas say about the import?"));
    let best = &answer.hits[0];
    let names: Vec<&str> = best.parts.iter().map(|part| part.name).collect();
    assert_eq!(names, ["words", "meaning", "author", "thread", "asks", "answer"]);
    assert_eq!((best.id.number(), best.parts[2].value), (2, 1.0));
    for hit in &answer.hits {
        let sum: f64 = hit.parts.iter().map(|part| part.adds).sum();
        assert!((sum - hit.score).abs() < 1e-12);
    }
}

#[test]
fn any_language_and_identifiers_are_found() {
    let store = model_store();
    let indexed = Indexed::new(&store, IndexLimits::default());
    let said = [
        "会議は東京で開かれる",
        "Совещание в Москве",
        "retryCountMax is three",
        "اجتماع في القاهرة",
        "🦀🦀",
    ];
    let ids: Vec<u64> = said.iter().map(|said| put(&store, A, text(said)).number()).collect();
    for (asked, place) in [
        ("東京", 0),
        ("京", 0),
        ("москве", 1),
        ("retry count", 2),
        ("retrycountmax", 2),
        ("القاهرة", 3),
    ] {
        assert_eq!(indexed.ids(A, asked)[0], ids[place], "{asked}");
    }
    for odd in ["", "the", "🦀", "\u{0}", &"long ".repeat(20_000)] {
        indexed.ids(A, odd);
    }
}

#[test]
fn filters_narrow_before_ranking() {
    let store = model_store();
    for n in 0..120i64 {
        put(&store, A, varied(n));
    }
    for limits in [IndexLimits::default(), SMALL] {
        let indexed = Indexed::new(&store, limits);
        for filter in filters() {
            check_filter(&store, &indexed, filter);
        }
    }
}

fn varied(n: i64) -> MemoryBody {
    let expires_at = (n % 11 == 0).then_some(UnixMs(NOW.0 + n % 2));
    MemoryBody {
        kind: ["note", "decision"][n as usize % 2].parse().unwrap(),
        tags: [vec![], vec!["api".parse().unwrap()]][n as usize % 2].clone(),
        pinned: n % 5 == 0,
        priority: Priority::ALL[n as usize % Priority::ALL.len()],
        author: (n % 3 > 0).then(|| format!("agent-{}", n % 3).parse().unwrap()),
        thread: (n % 4 > 0).then(|| format!("thread {}", n % 4).parse().unwrap()),
        subject: (n % 3 > 0).then(|| format!("user:{}", n % 3).parse().unwrap()),
        occurred_at: UnixMs(NOW.0 - n * 86_400_000).to_timestamp(),
        expires_at,
        ..text(&format!("falcon number{n}"))
    }
}

fn filters() -> Vec<Filter> {
    let all = Filter::default();
    let user = || "user:1".parse().unwrap();
    vec![
        all.clone(),
        Filter { ids: Some((1..20).filter_map(MemoryId::new).collect()), ..all.clone() },
        Filter { thread: Some("thread 2".parse().unwrap()), ..all.clone() },
        Filter { thread: Some("nowhere".parse().unwrap()), ..all.clone() },
        Filter { subject: Some(SubjectFilter::Only(user())), ..all.clone() },
        Filter { subject: Some(SubjectFilter::OrGeneral(user())), ..all.clone() },
        Filter { subject: Some(SubjectFilter::General), ..all.clone() },
        Filter {
            kinds: vec!["decision".parse().unwrap(), "other".parse().unwrap()],
            ..all.clone()
        },
        Filter { kinds: vec!["other".parse().unwrap()], ..all.clone() },
        Filter { tags: vec!["api".parse().unwrap()], pinned: Some(false), ..all.clone() },
        Filter { author: Some("agent-2".parse().unwrap()), pinned: Some(true), ..all.clone() },
        Filter {
            about_from: Some(UnixMs(NOW.0 - 30 * 86_400_000)),
            about_before: Some(NOW),
            ..all
        },
    ]
}

fn check_filter(store: &Arc<ModelStore>, indexed: &Indexed, filter: Filter) {
    let ids: Vec<MemoryId> = (1..=120).filter_map(MemoryId::new).collect();
    let rows = block_on(spine_store::MemoryReads::memories(&**store, &name(A), ids)).unwrap();
    let live = rows.iter().filter_map(|row| row.live());
    let admitted = live.filter(|memory| filter.admits(memory, NOW));
    let expected: Vec<(MemoryId, UnixMs, Priority)> =
        admitted.map(|memory| (memory.id, memory.about_at(), memory.body.priority)).collect();
    let asked = SearchQuery { filter: filter.clone(), limit: 1000, ..query("falcon") };
    let hits = indexed.search(A, asked).hits;
    let mut found: Vec<(MemoryId, UnixMs, Priority)> =
        hits.iter().map(|hit| (hit.id, hit.about, hit.priority)).collect();
    found.sort();
    assert_eq!(found, expected, "{filter:?}");
}

#[test]
fn words_carry_the_search_while_the_embedder_is_down() {
    let store = model_store();
    let folder = tempfile::tempdir().unwrap();
    let embedder = Switched::new(false, "remote");
    let index = open(&folder, &store, embedder.clone(), IndexLimits::default());
    let id = put(&store, A, text("the ferry leaves at nine"));
    put(&store, A, text("nothing of the kind"));
    let answer = block_on(index.search(&name(A), query("ferry"))).unwrap();
    assert_eq!(answer.hits[0].id, id);
    assert!(answer.degraded.iter().any(|said| said.contains("the endpoint is down")));
    assert_eq!(block_on(index.maintain(&name(A))).unwrap(), 2);
    embedder.on.store(true, Ordering::SeqCst);
    assert_eq!(block_on(index.maintain(&name(A))).unwrap(), 0);
    let answer = block_on(index.search(&name(A), query("when does the ship sail"))).unwrap();
    assert_eq!((answer.hits[0].id, answer.degraded), (id, vec![]));
}

#[test]
fn another_model_embeds_anew_while_words_carry_the_search() {
    let store = model_store();
    let id = put(&store, A, text("the ferry leaves at nine"));
    let indexed = Indexed::new(&store, IndexLimits::default());
    commit(&indexed, A);
    drop(indexed.index);
    let index = open(&indexed.folder, &store, Switched::new(true, "other"), IndexLimits::default());
    let answer = block_on(index.search(&name(A), query("ferry"))).unwrap();
    assert_eq!(answer.hits[0].id, id);
    assert_eq!(answer.degraded, ["meaning: 1 memories have no vector yet"]);
    assert_eq!(block_on(index.status(&name(A))).unwrap().state, IndexState::Building);
    assert_eq!(block_on(index.maintain(&name(A))).unwrap(), 0);
    assert_eq!(block_on(index.search(&name(A), query("ferry"))).unwrap().degraded, [""; 0]);
    assert_eq!(block_on(index.status(&name(A))).unwrap().state, IndexState::Ready);
}

#[test]
fn an_index_ahead_of_its_store_is_built_anew() {
    let store = model_store();
    for n in 0..20 {
        put(&store, A, text(&format!("ahead{n}")));
    }
    let indexed = Indexed::new(&store, SMALL);
    assert_eq!(indexed.ids(A, "ahead3")[0], 4);
    block_on(indexed.index.maintain(&name(A))).unwrap();
    let restored = model_store();
    put(&restored, A, text("restored ahead3"));
    let indexed = indexed.reopened(&restored, SMALL);
    assert_eq!(indexed.ids(A, "ahead3"), [1]);
}

#[test]
fn a_damaged_or_missing_folder_is_built_anew() {
    let store = model_store();
    let id = put(&store, A, text("a lonely heron"));
    let indexed = Indexed::new(&store, SMALL);
    commit(&indexed, A);
    std::fs::write(indexed.folder.path().join("meta.json"), "{").unwrap();
    let indexed = indexed.reopened(&store, SMALL);
    assert_eq!(indexed.ids(A, "heron"), [id.number()]);
}

#[test]
fn erased_text_is_not_on_disk() {
    let store = model_store();
    let indexed = Indexed::new(&store, IndexLimits::default());
    put(&store, A, text("something harmless"));
    let secret = put(&store, A, text("zzyzx here"));
    commit(&indexed, A);
    let before = segment_files(&indexed);
    assert!(is_in_dictionary(&indexed, "zzyzx"));
    apply(&store, A, Put::PurgeMemory(secret));
    block_on(indexed.index.erase_remnants(&name(A))).unwrap();
    // Dictionaries are compressed, so bytes alone would not show it: no old file may be left, and the
    // word may be in no new one.
    assert!(segment_files(&indexed).iter().all(|file| !before.contains(file)));
    assert!(!is_in_dictionary(&indexed, "zzyzx") && is_in_dictionary(&indexed, "harmless"));
    assert!(!on_disk(&indexed, b"zzyzx"));
    assert_eq!(indexed.ids(A, "harmless"), [1]);
}

/// The first call reads what is new, the second finds that no more is coming.
fn commit(indexed: &Indexed, workspace: &str) {
    for _ in 0..2 {
        assert_eq!(block_on(indexed.index.maintain(&name(workspace))).unwrap(), 0);
    }
}

fn segment_files(indexed: &Indexed) -> Vec<std::ffi::OsString> {
    let names =
        std::fs::read_dir(indexed.folder.path()).unwrap().map(|file| file.unwrap().file_name());
    let of_index = |name: &std::ffi::OsString| {
        let name = name.to_string_lossy();
        name.starts_with('.') || name == "meta.json"
    };
    names.filter(|name| !of_index(name)).collect()
}

fn is_in_dictionary(indexed: &Indexed, word: &str) -> bool {
    let index = tantivy::Index::open_in_dir(indexed.folder.path()).unwrap();
    let field = index.schema().get_field("words").unwrap();
    let term = tantivy::Term::from_field_text(field, &format!("{A}\u{1f}{word}"));
    index.reader().unwrap().searcher().doc_freq(&term).unwrap() > 0
}

fn on_disk(indexed: &Indexed, bytes: &[u8]) -> bool {
    let files = std::fs::read_dir(indexed.folder.path()).unwrap();
    let mut contents = files.map(|file| std::fs::read(file.unwrap().path()).unwrap());
    contents.any(|content| content.windows(bytes.len()).any(|window| window == bytes))
}

#[test]
fn rebuilding_changes_nothing() {
    let store = model_store();
    let indexed = Indexed::new(&store, SMALL);
    for n in 0..30 {
        put(&store, A, text(&format!("lamp{} wall{}", n % 4, n % 9)));
    }
    let before = indexed.search(A, query("lamp2 wall7"));
    block_on(indexed.index.rebuild()).unwrap();
    assert_eq!(indexed.search(A, query("lamp2 wall7")), before);
    let status = block_on(indexed.index.status(&name(A))).unwrap();
    let newest = block_on(spine_store::LogReads::newest_change(&*store, &name(A))).unwrap();
    assert_eq!((status.state, status.indexed, status.memories), (IndexState::Ready, newest, 30));
}
