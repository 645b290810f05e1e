//! A store in a folder with the engine on top: the path that every write of a caller takes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fastrand::Rng;
use spine_engine::Caller;
use spine_engine::memories::{Memories, MemoryError, MemoryPatch, NewMemory};
use spine_protocol::{MemoryId, WorkspaceName};
use spine_retrieval::folder_beside;
use spine_sqlite::{Options, SqliteStore};
use spine_store::testing::{ModelRetriever, block_on};
use spine_store::{ErrorKind, StoreError};

use crate::index_check::open_crashed;
use crate::{Ack, Left};

/// The database's name in its folder.
pub const STORE_FILE: &str = "store.db";

/// Several memories in one request show whether a request is torn in two.
const REQUEST_MEMORIES_MAX: usize = 4;
/// Of all writes; the others change or remove what is there.
const STORED_SHARE: f64 = 0.7;
/// Long enough that some texts take more than one page.
const TEXT_WORDS_MAX: usize = 600;
const WORDS: [&str; 8] = ["refund", "of", "order", "waits", "for", "the", "customer's", "answer"];

/// A store, and everything that callers can do with it.
pub struct House {
    /// The store itself.
    pub store: Arc<SqliteStore>,
    memories: Memories,
    caller: Caller,
}

impl House {
    /// Opens the store of a folder.
    pub fn open(folder: &Path, options: Options) -> Result<Self, StoreError> {
        let store = Arc::new(SqliteStore::open(&folder.join(STORE_FILE), options)?);
        let retriever = Arc::new(ModelRetriever::new(store.clone()));
        let memories = Memories::new(store.clone(), retriever);
        Ok(Self { store, memories, caller: Caller::of(workspace()?) })
    }

    /// Stores a few random memories in one request; an acknowledgement for each when all are on disk.
    pub fn store_some(&self, rng: &mut Rng) -> Result<Vec<Ack>, MemoryError> {
        let request =
            (0..rng.usize(1..=REQUEST_MEMORIES_MAX)).map(|_| random_memory(rng)).collect();
        let stored = block_on(self.memories.store_many(&self.caller, request))?;
        Ok(stored.iter().map(|stored| Ack::from(&stored.memory)).collect())
    }

    /// Stores a few, or changes or removes one of those that were stored before.
    pub fn write_some(
        &self,
        own: &mut Vec<MemoryId>,
        rng: &mut Rng,
    ) -> Result<Vec<Ack>, MemoryError> {
        if own.is_empty() || rng.f64() < STORED_SHARE {
            let stored = self.store_some(rng)?;
            own.extend(stored.iter().map(|ack| ack.id));
            return Ok(stored);
        }
        let id = own.swap_remove(rng.usize(..own.len()));
        Ok(vec![match rng.u8(..10) {
            0 => {
                block_on(self.memories.purge(&self.caller, id))?;
                Ack { id, left: Left::Purged }
            }
            1..4 => {
                block_on(self.memories.delete(&self.caller, id, None))?;
                Ack { id, left: Left::Deleted }
            }
            _ => {
                let patch = MemoryPatch { text: Some(random_text(rng)), ..MemoryPatch::default() };
                let updated = block_on(self.memories.update(&self.caller, id, patch, None))?;
                own.push(id);
                Ack::from(&updated)
            }
        }])
    }

    /// Keeps the index beside the store in step with it, until it is told to stop.
    pub fn index_until(&self, folder: &Path, stop: &AtomicBool) -> Result<(), StoreError> {
        let index = open_crashed(&folder_beside(&folder.join(STORE_FILE)), self.store.clone())?;
        while !stop.load(Ordering::Relaxed) {
            block_on(index.maintain(&self.caller.workspace))?;
        }
        Ok(())
    }

    /// Whether the memory is there and says what was acknowledged.
    pub fn holds(&self, ack: &Ack) -> Result<bool, MemoryError> {
        let memory = block_on(self.memories.get(&self.caller, ack.id))?;
        Ok(Ack::from(&memory) == *ack)
    }
}

pub(crate) fn workspace() -> Result<WorkspaceName, StoreError> {
    let unspeakable = |_| StoreError::new(ErrorKind::Unavailable, "no such workspace name");
    "default".parse().map_err(unspeakable)
}

fn random_memory(rng: &mut Rng) -> NewMemory {
    NewMemory { text: random_text(rng), ..NewMemory::default() }
}

/// The number in front makes it unlike every other: the same content would not be stored again.
fn random_text(rng: &mut Rng) -> String {
    let mut text = format!("{:032x}", rng.u128(..));
    // The third power: mostly short texts, now and then a long one.
    let words = (rng.f64().powi(3) * TEXT_WORDS_MAX as f64) as usize;
    for word in (0..words).filter_map(|_| rng.choice(WORDS)) {
        text.push(' ');
        text.push_str(word);
    }
    text
}
