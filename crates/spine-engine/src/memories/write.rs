//! Writing memories: read, plan, apply, and plan again when another writer was first.

use std::slice;

use spine_protocol::{Digest, MemoryId};
use spine_store::{
    Applied, Change, Command, ErrorKind, IdempotencyRecord, Memory, MemoryBody, MemoryRow, Receipt,
    UnixMs,
};

use super::Memories;
use super::answer::{Slot, replay};
use super::content::content_key;
use super::error::{MemoryError, MissingReason};
use super::limits::{RACE_ATTEMPTS_MAX, STORE_MEMORIES_MAX};
use super::plan::{self, Decision, Held, Plan, PlannedAnswer};
use super::request::{Deleted, MemoryPatch, NewMemory, Stored};
use super::validate::{body, patched, within};
use crate::Caller;
use crate::idempotency::{self, record, request_digest};

type Result<T> = std::result::Result<T, MemoryError>;

/// Which version of which memory an earlier request was answered with, and whether as a duplicate.
type Before = (MemoryId, u32, bool);

impl Memories {
    /// Stores one memory, or answers with the one that says the same.
    pub async fn store(&self, caller: &Caller, new: NewMemory) -> Result<Stored> {
        let mut stored = self.store_many(caller, vec![new]).await?;
        stored.pop().ok_or(MemoryError::Contended)
    }

    /// Stores many memories, all or none; one answer for each, in order.
    pub async fn store_many(&self, caller: &Caller, new: Vec<NewMemory>) -> Result<Vec<Stored>> {
        within("memories", new.len(), STORE_MEMORIES_MAX, "memories")?;
        let request = request_digest(caller, "store", &(&caller.agent, &new));
        if let Some(known) = self.known(caller).await? {
            return self.stored_before(caller, replay(&known, &request)?).await;
        }
        let now = self.store.now();
        let agent = caller.agent.as_ref();
        let bodies: Vec<MemoryBody> =
            new.into_iter().map(|new| body(new, agent, now)).collect::<Result<_>>()?;
        for _ in 0..RACE_ATTEMPTS_MAX {
            let held = self.held(caller, &bodies).await?;
            let mut plan = plan::store(caller, &bodies, &held, now);
            plan.command.idempotency = record(caller, request, &plan.slots(), now);
            let Plan { command, answers } = plan;
            match self.apply(command).await? {
                Some(Applied::Now(receipt)) => return stored(bodies, answers, &receipt, now),
                Some(Applied::Before(known)) => {
                    return self.stored_before(caller, replay(&known, &request)?).await;
                }
                None => {}
            }
        }
        Err(MemoryError::Contended)
    }

    /// Makes a new version, of `if_version` only if that is given. What changes nothing makes none.
    pub async fn update(
        &self,
        caller: &Caller,
        id: MemoryId,
        patch: MemoryPatch,
        if_version: Option<u32>,
    ) -> Result<Memory> {
        let request = request_digest(caller, "update", &(&caller.agent, id, &patch, if_version));
        if let Some(known) = self.known(caller).await? {
            return into_live(self.row_before(caller, &known, &request).await?);
        }
        for _ in 0..RACE_ATTEMPTS_MAX {
            let now = self.store.now();
            let memory = self.get(caller, id).await?;
            check_version(&memory, if_version)?;
            let body = patched(memory.body.clone(), patch.clone(), now)?;
            let held = self.held(caller, slice::from_ref(&body)).await?;
            let mut command = plan::update(caller, &memory, &body, &held, now);
            let puts = command.puts.len();
            let after = revised(memory, body, puts, now);
            let slot = Slot::existing(id, after.version, false);
            command.idempotency = record(caller, request, &[slot], now);
            match self.apply(command).await? {
                Some(Applied::Now(receipt)) => return Ok(stamped(after, &receipt, puts)),
                Some(Applied::Before(known)) => {
                    return into_live(self.row_before(caller, &known, &request).await?);
                }
                None => {}
            }
        }
        Err(MemoryError::Contended)
    }

    /// Pins or unpins a memory: a pin always travels.
    pub async fn pin(&self, caller: &Caller, id: MemoryId, pinned: bool) -> Result<Memory> {
        let request = request_digest(caller, "pin", &(&caller.agent, id, pinned));
        let decide = |row, now| {
            let memory = live_now(id, row, now)?;
            Ok(plan::pin(caller, memory, pinned, now))
        };
        into_live(self.decide(caller, id, request, decide).await?)
    }

    /// Deletes a memory: a tombstone stays, so that a reference to it is a known gap. Twice is once.
    pub async fn delete(
        &self,
        caller: &Caller,
        id: MemoryId,
        if_version: Option<u32>,
    ) -> Result<Deleted> {
        let request = request_digest(caller, "delete", &(&caller.agent, id, if_version));
        let decide = |row: Option<MemoryRow>, now| {
            let row = row.ok_or(MemoryError::missing(id, MissingReason::NotFound))?;
            row.live().map_or(Ok(()), |memory| check_version(memory, if_version))?;
            Ok(plan::delete(caller, row, now))
        };
        into_gone(self.decide(caller, id, request, decide).await?)
    }

    /// Erases every version of a memory, in the store and in the index. Twice is once.
    pub async fn purge(&self, caller: &Caller, id: MemoryId) -> Result<Deleted> {
        let request = request_digest(caller, "purge", &(&caller.agent, id));
        let decide = |row: Option<MemoryRow>, now| {
            let row = row.ok_or(MemoryError::missing(id, MissingReason::NotFound))?;
            Ok(plan::purge(caller, row, now))
        };
        let row = self.decide(caller, id, request, decide).await?;
        // Also when the store was done before: an earlier call may have ended between the two.
        self.retriever.erase_remnants(&caller.workspace).await?;
        into_gone(row)
    }

    /// Reads one memory, decides about it, and applies that.
    async fn decide(
        &self,
        caller: &Caller,
        id: MemoryId,
        request: Digest,
        decide: impl Fn(Option<MemoryRow>, UnixMs) -> Result<Decision>,
    ) -> Result<MemoryRow> {
        if let Some(known) = self.known(caller).await? {
            return self.row_before(caller, &known, &request).await;
        }
        for _ in 0..RACE_ATTEMPTS_MAX {
            let row = self.store.memory(&caller.workspace, id).await?;
            let Decision { mut command, after } = decide(row, self.store.now())?;
            let slot = Slot::existing(id, after.version(), false);
            command.idempotency = record(caller, request, &[slot], command.at);
            let puts = command.puts.len();
            match self.apply(command).await? {
                Some(Applied::Now(receipt)) => return Ok(stamped_row(after, &receipt, puts)),
                Some(Applied::Before(known)) => {
                    return self.row_before(caller, &known, &request).await;
                }
                None => {}
            }
        }
        Err(MemoryError::Contended)
    }

    /// `None` when another writer was first.
    async fn apply(&self, command: Command) -> Result<Option<Applied>> {
        if command.puts.is_empty() && command.idempotency.is_none() {
            let nothing = Receipt { first_change: Change::ZERO, first_memory: None, memories: 0 };
            return Ok(Some(Applied::Now(nothing)));
        }
        let outcome = self.store.apply(vec![command]).await?.pop();
        match outcome.transpose() {
            Err(error) if error.kind() == ErrorKind::GuardFailed => Ok(None),
            outcome => Ok(outcome?),
        }
    }

    async fn held(&self, caller: &Caller, bodies: &[MemoryBody]) -> Result<Held> {
        let keys: Vec<_> = bodies.iter().filter_map(content_key).collect();
        if keys.is_empty() {
            return Ok(Held::new());
        }
        let held = self.store.memories_by_content(&caller.workspace, keys).await?;
        Ok(held.into_iter().collect())
    }

    async fn known(&self, caller: &Caller) -> Result<Option<IdempotencyRecord>> {
        Ok(idempotency::known(self.store.as_ref(), caller).await?)
    }

    async fn stored_before(&self, caller: &Caller, before: Vec<Before>) -> Result<Vec<Stored>> {
        let mut stored = Vec::with_capacity(before.len());
        for (id, version, duplicate) in before {
            let memory = into_live(self.version_before(caller, id, version).await?)?;
            stored.push(Stored { memory, duplicate });
        }
        Ok(stored)
    }

    async fn row_before(
        &self,
        caller: &Caller,
        known: &IdempotencyRecord,
        request: &Digest,
    ) -> Result<MemoryRow> {
        let before = replay(known, request)?;
        let (id, version, _) = before.first().ok_or(MemoryError::IdempotencyConflict)?;
        self.version_before(caller, *id, *version).await
    }

    /// The version that was answered before, or the mark if the memory has gone since.
    async fn version_before(
        &self,
        caller: &Caller,
        id: MemoryId,
        version: u32,
    ) -> Result<MemoryRow> {
        let row = self.store.memory(&caller.workspace, id).await?;
        let row = row.ok_or(MemoryError::missing(id, MissingReason::NotFound))?;
        if row.live().is_none() || row.version() == version {
            return Ok(row);
        }
        let older = self.store.memory_version(&caller.workspace, id, version).await?;
        let older = older.ok_or(MemoryError::NoSuchVersion { id, version })?;
        Ok(MemoryRow::Live(Box::new(older)))
    }
}

fn check_version(memory: &Memory, if_version: Option<u32>) -> Result<()> {
    let (id, current) = (memory.id, memory.version);
    match if_version {
        Some(expected) if expected != current => {
            Err(MemoryError::VersionConflict { id, expected, current })
        }
        _ => Ok(()),
    }
}

fn live_now(id: MemoryId, row: Option<MemoryRow>, now: UnixMs) -> Result<Memory> {
    match super::read::lookup(id, row, now) {
        super::Lookup::Found(memory) => Ok(*memory),
        super::Lookup::Missing(id, reason) => Err(MemoryError::missing(id, reason)),
    }
}

fn into_live(row: MemoryRow) -> Result<Memory> {
    let id = row.id();
    // Expiry is no obstacle: the caller was answered with it before.
    live_now(id, Some(row), UnixMs(i64::MIN))
}

fn into_gone(row: MemoryRow) -> Result<Deleted> {
    match row {
        MemoryRow::Gone(gone) => Ok(gone),
        // A key that stands for a delete, and yet the memory is there: the key was for another one.
        MemoryRow::Live(_) => Err(MemoryError::IdempotencyConflict),
    }
}

/// The memory after an update, except for its change.
fn revised(memory: Memory, body: MemoryBody, puts: usize, now: UnixMs) -> Memory {
    if puts == 0 {
        return memory;
    }
    Memory { version: memory.version + 1, updated_at: now, body, ..memory }
}

/// With the change of the last put, which is the one on the memory itself.
fn stamped(memory: Memory, receipt: &Receipt, puts: usize) -> Memory {
    let change = puts.checked_sub(1).map_or(memory.change, |last| receipt.put_change(last));
    Memory { change, ..memory }
}

fn stamped_row(row: MemoryRow, receipt: &Receipt, puts: usize) -> MemoryRow {
    match row {
        MemoryRow::Live(memory) => MemoryRow::Live(Box::new(stamped(*memory, receipt, puts))),
        MemoryRow::Gone(mut gone) if puts > 0 => {
            gone.change = receipt.put_change(0);
            MemoryRow::Gone(gone)
        }
        row => row,
    }
}

/// The answers, without reading what was just written.
fn stored(
    bodies: Vec<MemoryBody>,
    answers: Vec<PlannedAnswer>,
    receipt: &Receipt,
    now: UnixMs,
) -> Result<Vec<Stored>> {
    let mut stored: Vec<Stored> = Vec::with_capacity(answers.len());
    for (body, answer) in bodies.into_iter().zip(answers) {
        let (memory, duplicate) = match answer {
            PlannedAnswer::Existing(memory) => (Some(*memory), true),
            PlannedAnswer::New { nth, put } => (made(body, receipt, nth, put, now), false),
            PlannedAnswer::SameAs(earlier) => {
                (stored.get(earlier).map(|earlier| earlier.memory.clone()), true)
            }
        };
        stored.push(Stored { memory: memory.ok_or(MemoryError::Contended)?, duplicate });
    }
    Ok(stored)
}

fn made(body: MemoryBody, receipt: &Receipt, nth: u32, put: usize, now: UnixMs) -> Option<Memory> {
    let (id, change) = (receipt.memory_id(nth)?, receipt.put_change(put));
    Some(Memory { id, version: 1, change, created_at: now, updated_at: now, body })
}
