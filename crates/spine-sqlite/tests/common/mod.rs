//! Short ways to write and read in the tests of this crate.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command as Process, Stdio};

use spine_protocol::{DeliveryId, EnvelopeId, MemoryId, WorkspaceName};
use spine_sqlite::{Options, SqliteStore};
use spine_store::testing::block_on;
use spine_store::{
    Applied, Change, Command, Delivery, DeliveryState, ErrorKind, MemoryBody, MemoryDraft,
    MemoryReads, Priority, Put, Store, StoreError, UnixMs,
};

pub fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Options::default()).unwrap()
}

pub fn kind_of_open(path: &Path) -> Option<ErrorKind> {
    SqliteStore::open(path, Options::default()).err().map(|error| error.kind())
}

pub fn default() -> WorkspaceName {
    "default".parse().unwrap()
}

pub fn id(number: u64) -> MemoryId {
    MemoryId::new(number).unwrap()
}

pub fn command(puts: Vec<Put>) -> Command {
    Command { puts, ..Command::new(default(), spine_store::UnixMs(1_000)) }
}

pub fn new(text: &str) -> Put {
    let body = MemoryBody { text: text.to_owned(), ..MemoryBody::default() };
    Put::NewMemory(Box::new(MemoryDraft { body, content: None }))
}

/// A new delivery, pending and visible.
pub fn delivery(n: u64) -> Delivery {
    let [envelope, root] = [EnvelopeId::from_parts(n, u128::from(n)); 2];
    Delivery {
        id: DeliveryId::from_parts(n, u128::from(n)),
        envelope,
        root,
        agent: "ann".parse().unwrap(),
        state: DeliveryState::Pending,
        priority: Priority::Normal,
        order_key: Some("k".parse().unwrap()),
        sequence: Change::ZERO,
        visible_at: UnixMs(0),
        due_at: None,
        epoch: 0,
        incarnation: 0,
        story: b"{}".to_vec(),
        result: None,
        updated_at: UnixMs(0),
        change: Change::ZERO,
    }
}

/// Applies one command, and gives the number of its first new memory.
pub fn write(store: &SqliteStore, puts: Vec<Put>) -> Result<u64, StoreError> {
    match block_on(store.apply(vec![command(puts)]))?.remove(0)? {
        Applied::Now(receipt) => Ok(receipt.first_memory.map_or(0, MemoryId::number)),
        Applied::Before(_) => panic!("there was no idempotency key"),
    }
}

pub fn text(store: &SqliteStore, number: u64) -> Option<String> {
    let row = block_on(store.memory(&default(), id(number))).unwrap()?;
    row.live().map(|memory| memory.body.text.clone())
}

/// Writes until the store refuses; how many were acknowledged, and the refusal.
pub fn write_until_refused(store: &SqliteStore, text: &str) -> (u64, StoreError) {
    const WRITES_MAX: u64 = 100_000;
    for written in 0..WRITES_MAX {
        if let Err(error) = write(store, vec![new(text)]) {
            return (written, error);
        }
    }
    panic!("it never refused");
}

/// Runs one test of this test binary in a process of its own.
pub fn child(mut process: Process, test: &str, path: &Path) -> Child {
    let exe = std::env::current_exe().unwrap();
    process.env("SPINE_TEST_EXE", exe).env("SPINE_TEST_STORE", path).env("SPINE_TEST_NAME", test);
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// What a child says. To be kept as long as it may speak: a closed pipe would end it.
pub fn lines_of(child: &mut Child) -> Lines<BufReader<ChildStdout>> {
    BufReader::new(child.stdout.take().unwrap()).lines()
}

/// Waits for a line that starts with these words, and gives the rest of it.
pub fn wait_for(lines: &mut Lines<BufReader<ChildStdout>>, words: &str) -> String {
    let mut lines = lines.map(Result::unwrap);
    let found = lines.find_map(|line| line.strip_prefix(words).map(str::to_owned));
    found.unwrap_or_else(|| panic!("the child never said {words:?}"))
}

/// A shell that becomes this test binary, running the one test it was told to.
pub fn shell(before: &str) -> Process {
    let run = "exec \"$SPINE_TEST_EXE\" --exact \"$SPINE_TEST_NAME\" --nocapture --ignored";
    let mut shell = Process::new("sh");
    shell.args(["-c", &format!("{before} {run}")]);
    shell
}
