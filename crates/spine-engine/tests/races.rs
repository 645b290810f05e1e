//! Many writers at once: one content is one memory, and no update is lost.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;

use spine_engine::Caller;
use spine_engine::memories::{Memories, MemoryError, MemoryPatch, NewMemory};
use spine_protocol::MemoryId;
use spine_sqlite::{Options, SqliteStore};
use spine_store::testing::{ModelRetriever, block_on};

const WRITERS: usize = 8;
const ROUNDS: usize = 25;

fn memories(folder: &tempfile::TempDir) -> Memories {
    let store = SqliteStore::open(&folder.path().join("spine.db"), Options::default()).unwrap();
    let store = Arc::new(store);
    Memories::new(store.clone(), Arc::new(ModelRetriever::new(store)))
}

fn all_at_once<T: Send>(work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(WRITERS);
    let (start, work) = (&start, &work);
    thread::scope(|scope| {
        let start_one = |n| {
            scope.spawn(move || {
                start.wait();
                work(n)
            })
        };
        let threads: Vec<_> = (0..WRITERS).map(start_one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn same_content_from_many_writers_is_one_memory() {
    let folder = tempfile::tempdir().unwrap();
    let memories = memories(&folder);
    let caller = Caller::of("default".parse().unwrap());
    for round in 0..ROUNDS {
        let stored = all_at_once(|_| {
            let new = NewMemory { text: format!("fact {round}"), ..NewMemory::default() };
            block_on(memories.store(&caller, new)).unwrap()
        });
        let ids: BTreeSet<MemoryId> = stored.iter().map(|stored| stored.memory.id).collect();
        assert_eq!(ids.len(), 1);
        assert_eq!(stored.iter().filter(|stored| !stored.duplicate).count(), 1);
    }
}

#[test]
fn of_many_updates_of_one_version_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let memories = memories(&folder);
    let caller = Caller::of("default".parse().unwrap());
    let new = NewMemory { text: "start".to_owned(), ..NewMemory::default() };
    let id = block_on(memories.store(&caller, new)).unwrap().memory.id;
    for round in 0..ROUNDS {
        let version = u32::try_from(round + 1).unwrap();
        let results = all_at_once(|n| {
            let patch =
                MemoryPatch { text: Some(format!("{round} by {n}")), ..MemoryPatch::default() };
            block_on(memories.update(&caller, id, patch, Some(version)))
        });
        let (won, lost): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        assert_eq!(won.len(), 1);
        let conflict = |error| matches!(error, MemoryError::VersionConflict { .. });
        assert!(lost.into_iter().all(|result| conflict(result.unwrap_err())));
    }
}

#[test]
fn without_a_version_every_update_takes_effect() {
    let folder = tempfile::tempdir().unwrap();
    let memories = memories(&folder);
    let caller = Caller::of("default".parse().unwrap());
    let new = NewMemory { text: "start".to_owned(), ..NewMemory::default() };
    let id = block_on(memories.store(&caller, new)).unwrap().memory.id;
    all_at_once(|n| {
        let patch = MemoryPatch { text: Some(format!("by {n}")), ..MemoryPatch::default() };
        block_on(memories.update(&caller, id, patch, None)).unwrap()
    });
    let versions = block_on(memories.versions(&caller, id, 0, 100)).unwrap();
    assert_eq!(versions.items.len(), WRITERS + 1);
}
