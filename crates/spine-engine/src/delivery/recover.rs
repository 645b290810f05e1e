//! What a handoff asked for and does not carry, looked up again (R10: its newest version, and whether that is the one packed).

use std::collections::BTreeMap;

use spine_protocol::{DeliveryId, Envelope, Gap, MemoryId, PackedMemory};
use spine_store::{Filter, Memory, UnixMs};

use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::assembly::{forbid_secrets, redact_memory, subject_filter};
use crate::memories::{Lookup, MemoryError};

/// What can be had of what is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// Memories that are here now.
    pub memories: Vec<RecoveredMemory>,
    /// What is still missing, each with the reason it has now.
    pub gaps: Vec<Gap>,
    /// Which part of what was asked for the receiver has with these, from 0 to 1.
    pub completeness: f64,
}

/// A memory that the envelope does not carry, or only names.
#[derive(Debug, Clone, PartialEq)]
pub struct RecoveredMemory {
    /// The memory, in its newest version.
    pub memory: Memory,
    /// The version that the envelope names; none for a gap.
    pub packed_version: Option<u32>,
}

impl Deliveries {
    /// Looks up again what the envelope of a delivery lacks: its gaps, and the memories it only names.
    pub async fn recover(&self, caller: &Caller, id: DeliveryId) -> Result<Recovered> {
        let delivery = self.get(caller, id).await?;
        let envelope = self.envelope(caller, &delivery).await?;
        let wanted = Wanted::of(&envelope);
        let ids = wanted.named.keys().copied().collect();
        let found = self.handoffs.memories().look_up(caller, ids).await.map_err(from_memories)?;
        let subject = Some(subject_filter(envelope.subject.as_ref()));
        let filter = Filter { subject, ..Filter::default() };
        Ok(wanted.sorted(found, &filter, self.store.now(), &envelope))
    }
}

/// What an envelope lacks, by id; what has no id cannot be looked up.
struct Wanted {
    named: BTreeMap<MemoryId, Option<u32>>,
    gaps: Vec<Gap>,
}

impl Wanted {
    fn of(envelope: &Envelope) -> Self {
        let bare = |memory: &&PackedMemory| memory.text.is_none();
        let mut named: BTreeMap<MemoryId, Option<u32>> = envelope
            .memories
            .iter()
            .filter(bare)
            .map(|memory| (memory.id, Some(memory.version)))
            .collect();
        let mut gaps = Vec::new();
        for gap in &envelope.completeness.gaps {
            match gap.reference.parse() {
                Ok(id) => drop(named.entry(id).or_insert(None)),
                Err(_) => gaps.push(gap.clone()),
            }
        }
        Self { named, gaps }
    }

    /// Nothing of one subject travels in another's handoff (R11): such a memory stays a gap. What the envelope would
    /// have blacked out is blacked out here, too.
    fn sorted(
        self,
        found: Vec<Lookup>,
        filter: &Filter,
        now: UnixMs,
        envelope: &Envelope,
    ) -> Recovered {
        let Self { named, mut gaps } = self;
        let (mut memories, guarded) = (Vec::new(), forbid_secrets(&envelope.constraints));
        for lookup in found {
            match lookup {
                Lookup::Found(mut memory) if filter.admits(&memory, now) => {
                    if guarded {
                        redact_memory(&mut memory);
                    }
                    let packed_version = named.get(&memory.id).copied().flatten();
                    memories.push(RecoveredMemory { memory: *memory, packed_version });
                }
                Lookup::Found(memory) => gaps.push(gap(memory.id, "another subject")),
                Lookup::Missing(id, reason) => gaps.push(gap(id, reason.as_str())),
            }
        }
        let closed = memories.iter().filter(|found| found.packed_version.is_none()).count();
        let completeness = completeness(envelope, closed);
        Recovered { memories, gaps, completeness }
    }
}

fn completeness(envelope: &Envelope, closed: usize) -> f64 {
    let requested = f64::from(envelope.completeness.requested);
    if requested == 0.0 {
        return 1.0;
    }
    ((f64::from(envelope.completeness.included) + closed as f64) / requested).min(1.0)
}

fn gap(id: MemoryId, reason: &str) -> Gap {
    Gap { reference: id.to_string(), reason: reason.to_owned(), unknown: Default::default() }
}

fn from_memories(error: MemoryError) -> DeliveryError {
    match error {
        MemoryError::Store(error) => error.into(),
        other => DeliveryError::Invalid { field: "memories", problem: other.to_string() },
    }
}
