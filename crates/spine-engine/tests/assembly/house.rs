//! An engine on models, with a clock that the test moves.

use std::sync::Arc;

use spine_engine::assembly::{Assembled, AssemblyError, HandoffRequest, Handoffs};
use spine_engine::memories::{Memories, NewMemory};
use spine_engine::{Caller, Elapsed, Entropy, Timer};
use spine_protocol::{Envelope, MemoryId, PackedMemory};
use spine_store::testing::{ManualClock, ModelRetriever, ModelStore, block_on};
use spine_store::{Retriever, UnixMs};

pub struct House {
    pub clock: Arc<ManualClock>,
    pub store: Arc<ModelStore>,
    pub memories: Memories,
    pub handoffs: Handoffs,
    pub caller: Caller,
}

/// Whoever does not answer at once is too slow.
pub struct NoPatience;

impl Timer for NoPatience {
    fn after(&self, _: std::time::Duration) -> Elapsed {
        Box::pin(std::future::ready(()))
    }
}

pub fn house() -> House {
    house_with(|store| Arc::new(ModelRetriever::new(store)))
}

pub fn house_with(retriever: impl FnOnce(Arc<ModelStore>) -> Arc<dyn Retriever>) -> House {
    let clock = Arc::new(ManualClock::at(UnixMs(1_768_469_400_000)));
    let store = Arc::new(ModelStore::new(clock.clone()));
    let memories = Memories::new(store.clone(), retriever(store.clone()));
    let handoffs = Handoffs::new(
        store.clone(),
        memories.clone(),
        Arc::new(Entropy::from_seed([7; 32])),
        Arc::new(NoPatience),
    );
    let caller = Caller {
        agent: Some("analyst".parse().unwrap()),
        ..Caller::of("default".parse().unwrap())
    };
    House { clock, store, memories, handoffs, caller }
}

impl House {
    pub fn store(&self, new: NewMemory) -> MemoryId {
        block_on(self.memories.store(&self.caller, new)).unwrap().memory.id
    }

    pub fn note(&self, text: &str) -> MemoryId {
        self.store(note(text))
    }

    pub fn try_assemble(&self, request: HandoffRequest) -> Result<Assembled, Box<AssemblyError>> {
        block_on(self.handoffs.assemble(&self.caller, request)).map_err(Box::new)
    }

    pub fn assemble(&self, request: HandoffRequest) -> Envelope {
        self.try_assemble(request).unwrap().envelope
    }
}

pub fn note(text: &str) -> NewMemory {
    NewMemory { text: text.to_owned(), ..NewMemory::default() }
}

pub fn request(summary: &str) -> HandoffRequest {
    HandoffRequest::new("code-generator".parse().unwrap(), summary)
}

pub fn packed(envelope: &Envelope, id: MemoryId) -> Option<&PackedMemory> {
    envelope.memories.iter().find(|memory| memory.id == id)
}
