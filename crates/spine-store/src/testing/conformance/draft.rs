//! Short ways to say what a check writes and reads.

use spine_protocol::{Digest, MemoryId, WorkspaceName};

use crate::testing::block_on;
use crate::{
    Applied, Command, ContentKey, IdempotencyDraft, ListQuery, Memory, MemoryBody, MemoryDraft,
    MemoryRow, Order, Outcome, Put, Receipt, Store, StoreFuture, UnixMs,
};

pub(super) const AT: UnixMs = UnixMs(1_768_469_400_123);

pub(super) fn default() -> WorkspaceName {
    "default".parse().unwrap()
}

pub(super) fn id(number: u64) -> MemoryId {
    MemoryId::new(number).unwrap()
}

pub(super) fn get<T>(future: StoreFuture<'_, T>) -> T {
    block_on(future).unwrap()
}

pub(super) fn body(text: &str) -> MemoryBody {
    MemoryBody { text: text.to_owned(), ..MemoryBody::default() }
}

pub(super) fn new(text: &str) -> Put {
    Put::NewMemory(Box::new(MemoryDraft { body: body(text), content: None }))
}

pub(super) fn new_body(body: MemoryBody) -> Put {
    Put::NewMemory(Box::new(MemoryDraft { body, content: None }))
}

pub(super) fn new_keyed(text: &str) -> Put {
    Put::NewMemory(Box::new(keyed(text)))
}

pub(super) fn keyed(text: &str) -> MemoryDraft {
    MemoryDraft { body: body(text), content: Some(key(text)) }
}

pub(super) fn key(text: &str) -> ContentKey {
    ContentKey::from_digest(&Digest::of(&[text.as_bytes()]))
}

pub(super) fn revise(number: u64, text: &str) -> Put {
    Put::ReviseMemory(id(number), Box::new(MemoryDraft { body: body(text), content: None }))
}

pub(super) fn command(puts: Vec<Put>) -> Command {
    Command { puts, ..Command::new(default(), AT) }
}

pub(super) fn with_key(puts: Vec<Put>, key: &str, kept_until: UnixMs) -> Command {
    let (key, request) = (key.parse().unwrap(), Digest::of(&[b"request"]));
    let draft = IdempotencyDraft { key, request, answer: b"answer".to_vec(), kept_until };
    Command { idempotency: Some(draft), ..command(puts) }
}

pub(super) fn apply(store: &dyn Store, command: Command) -> Outcome {
    get(store.apply(vec![command])).remove(0)
}

/// Applies what must succeed now.
pub(super) fn done(store: &dyn Store, puts: Vec<Put>) -> Receipt {
    match apply(store, command(puts)).unwrap() {
        Applied::Now(receipt) => receipt,
        Applied::Before(record) => panic!("should be new, but was {record:?}"),
    }
}

pub(super) fn row(store: &dyn Store, number: u64) -> Option<MemoryRow> {
    get(store.memory(&default(), id(number)))
}

pub(super) fn live(store: &dyn Store, number: u64) -> Memory {
    row(store, number).unwrap().live().unwrap().clone()
}

pub(super) fn all(limit: usize) -> ListQuery {
    ListQuery {
        filter: crate::Filter::default(),
        now: AT,
        order: Order::OldestFirst,
        after: None,
        limit,
    }
}
