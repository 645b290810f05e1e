//! A folder that holds the index of something else is built anew, never trusted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use spine_retrieval::{BuiltInEmbedder, IndexOptions, SearchIndex};
use spine_sqlite::{Options, SqliteStore};
use spine_store::testing::block_on;
use spine_store::{
    Command, Filter, MemoryBody, MemoryDraft, Put, Retriever, SearchQuery, Store, UnixMs,
};

const SPACE: &str = "default";

fn open(file: &Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(file, Options::default()).unwrap())
}

fn put(store: &SqliteStore, text: &str) {
    let mut command = Command::new(SPACE.parse().unwrap(), store.now());
    let body = MemoryBody { text: text.to_owned(), ..MemoryBody::default() };
    command.puts.push(Put::NewMemory(Box::new(MemoryDraft { body, content: None })));
    block_on(store.apply(vec![command])).unwrap().remove(0).unwrap();
}

/// Indexes all of a store and commits.
fn index(folder: &Path, store: Arc<SqliteStore>) -> SearchIndex {
    let (embedder, options) = (Arc::new(BuiltInEmbedder), IndexOptions::default());
    let index = SearchIndex::open(folder, store, embedder, options).unwrap();
    block_on(index.search(&SPACE.parse().unwrap(), query("anything"))).unwrap();
    block_on(index.maintain(&SPACE.parse().unwrap())).unwrap();
    index
}

fn query(text: &str) -> SearchQuery {
    let (text, filter) = (text.to_owned(), Filter::default());
    SearchQuery { text, filter, now: UnixMs(0), limit: 10, explain: true }
}

/// Which memory has this word, by words alone.
fn with_word(index: &SearchIndex, word: &str) -> Vec<u64> {
    let answer = block_on(index.search(&SPACE.parse().unwrap(), query(word))).unwrap();
    let said = answer.hits.iter().filter(|hit| hit.parts[0].value > 0.0);
    said.map(|hit| hit.id.number()).collect()
}

fn segments(folder: &Path) -> BTreeSet<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.contains(".term")).collect()
}

#[test]
fn of_another_store_that_has_as_many_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (herons, otters) = (open(&folder.path().join("a.db")), open(&folder.path().join("b.db")));
    put(&herons, "a heron stands");
    put(&otters, "an otter swims");
    let path = folder.path().join("index");
    assert_eq!(with_word(&index(&path, herons), "heron"), [1]);
    let index = index(&path, otters);
    assert_eq!((with_word(&index, "heron"), with_word(&index, "otter")), (vec![], vec![1]));
}

/// A restored backup goes its own way: the same numbers then stand for something else.
#[test]
fn of_another_history_of_the_same_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("a.db"));
    put(&store, "both know the bridge");
    store.backup(&folder.path().join("b.db")).unwrap();
    put(&store, "a heron stands");
    let path = folder.path().join("index");
    assert_eq!(with_word(&index(&path, store), "heron"), [2]);
    let restored = open(&folder.path().join("b.db"));
    put(&restored, "an otter swims");
    let index = index(&path, restored);
    assert_eq!((with_word(&index, "heron"), with_word(&index, "otter")), (vec![], vec![2]));
    assert_eq!(with_word(&index, "bridge"), [1]);
}

#[test]
fn of_another_format() {
    let folder = tempfile::tempdir().unwrap();
    let (store, path) = (open(&folder.path().join("a.db")), folder.path().join("index"));
    put(&store, "a heron stands");
    drop(index(&path, store.clone()));
    let own = segments(&path);
    drop(index(&path, store.clone()));
    assert_eq!(segments(&path), own, "its own format is kept");
    let meta = std::fs::read_to_string(path.join("meta.json")).unwrap();
    let other = meta.replacen("\\\"format\\\":", "\\\"format\\\":9", 1);
    assert_ne!(meta, other);
    std::fs::write(path.join("meta.json"), other).unwrap();
    assert_eq!(with_word(&index(&path, store), "heron"), [1]);
    assert!(segments(&path).is_disjoint(&own), "built anew");
}

/// No commit leaves an index so, but a person who tidies up may.
#[test]
fn of_which_a_file_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (store, path) = (open(&folder.path().join("a.db")), folder.path().join("index"));
    put(&store, "a heron stands");
    for extension in ["term", "idx", "fieldnorm", "records"] {
        drop(index(&path, store.clone()));
        let files = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
        let missing: Vec<_> =
            files.filter(|f| f.extension().is_some_and(|e| e == extension)).collect();
        assert!(!missing.is_empty(), "{extension}");
        missing.iter().for_each(|file| std::fs::remove_file(file).unwrap());
        assert_eq!(with_word(&index(&path, store.clone()), "heron"), [1], "{extension}");
    }
}
