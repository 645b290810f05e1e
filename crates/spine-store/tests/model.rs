//! The models pass what every store must, and fail when they are told to.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::Arc;

use spine_protocol::WorkspaceName;
use spine_store::testing::{Fault, ManualClock, ModelRetriever, ModelStore, block_on, conformance};
use spine_store::{
    Change, Command, ErrorKind, Filter, LogReads, MemoryBody, MemoryDraft, Put, Retriever,
    SearchQuery, Store, UnixMs,
};

const AT: UnixMs = UnixMs(1_000);

fn model() -> ModelStore {
    ModelStore::new(Arc::new(ManualClock::at(AT)))
}

fn default() -> WorkspaceName {
    "default".parse().unwrap()
}

fn write(text: &str) -> Command {
    let body = MemoryBody { text: text.to_owned(), ..MemoryBody::default() };
    let put = Put::NewMemory(Box::new(MemoryDraft { body, content: None }));
    Command { puts: vec![put], ..Command::new(default(), AT) }
}

#[test]
fn model_store_conforms() {
    conformance::run(model);
}

#[test]
fn model_store_fails_on_demand() {
    let cases = [
        (Fault::BeforeWrite(ErrorKind::DiskFull), Some(ErrorKind::DiskFull), 0),
        (Fault::AfterWrite, Some(ErrorKind::OutcomeUnknown), 3),
        (Fault::Torn { commands: 2 }, Some(ErrorKind::OutcomeUnknown), 2),
        (Fault::Slow { polls: 5 }, None, 3),
    ];
    for (fault, error, written) in cases {
        let store = model();
        store.fail_next(fault);
        let outcome = block_on(store.apply(vec![write("x"); 3]));
        assert_eq!(outcome.err().map(|error| error.kind()), error, "{fault:?}");
        assert_eq!(block_on(store.newest_change(&default())), Ok(Change(written)), "{fault:?}");
        // Used up: the next one succeeds.
        assert!(block_on(store.apply(vec![write("y")])).is_ok());
    }
}

#[test]
fn model_retriever_ranks_by_shared_words_and_explains() {
    let store = Arc::new(model());
    let retriever = ModelRetriever::new(store.clone());
    let texts = ["rate limits of the api", "the api", "nothing in common"];
    block_on(store.apply(texts.map(write).into())).unwrap();
    let (filter, text) = (Filter::default(), "API limits".to_owned());
    let query = SearchQuery { text, filter, now: AT, limit: 10, explain: true };
    let answer = block_on(retriever.search(&default(), query)).unwrap();
    let ids: Vec<u64> = answer.hits.iter().map(|hit| hit.id.number()).collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(answer.hits[0].parts[0].adds, answer.hits[0].score);
    assert_eq!(block_on(retriever.status(&default())).unwrap().memories, 3);
}
