//! The pure core: from what is known and what is asked to a command and the answer it will have.

use std::collections::HashMap;

use spine_protocol::MemoryId;
use spine_store::{
    Command, ContentKey, EventDraft, Expected, Facts, Gone, GoneReason, Guard, Memory, MemoryBody,
    MemoryDraft, MemoryRef, MemoryRow, Put, RowKey, UnixMs,
};

use super::answer::Slot;
use super::content::{content_key, same_content};
use crate::Caller;

/// A command, and one answer for each thing asked.
pub(super) struct Plan {
    pub(super) command: Command,
    pub(super) answers: Vec<PlannedAnswer>,
}

/// What the answer will be once the command is applied.
pub(super) enum PlannedAnswer {
    /// It is there already.
    Existing(Box<Memory>),
    /// It gets its number from the receipt.
    New {
        /// Which of the command's new memories.
        nth: u32,
        /// Which of its puts.
        put: usize,
    },
    /// It is the same as an earlier one of this request.
    SameAs(usize),
}

/// Memories by the content they hold.
pub(super) type Held = HashMap<ContentKey, Memory>;

/// Stores what is new; what is there already is answered with what is there.
pub(super) fn store(caller: &Caller, bodies: &[MemoryBody], held: &Held, now: UnixMs) -> Plan {
    let command = Command::new(caller.workspace.clone(), now);
    let mut plan = Plan { command, answers: Vec::with_capacity(bodies.len()) };
    let mut seen: HashMap<ContentKey, usize> = HashMap::new();
    let mut new = 0;
    for (index, body) in bodies.iter().enumerate() {
        let key = content_key(body);
        let earlier = key.and_then(|key| seen.get(&key).copied());
        let answer = match earlier {
            Some(earlier) => PlannedAnswer::SameAs(earlier),
            None => plan.store_one(body, key, held, now, &mut new),
        };
        plan.answers.push(answer);
        key.map(|key| seen.entry(key).or_insert(index));
    }
    if new > 0 {
        plan.command.events.push(stored_event(caller, new));
    }
    plan
}

impl Plan {
    fn store_one(
        &mut self,
        body: &MemoryBody,
        key: Option<ContentKey>,
        held: &Held,
        now: UnixMs,
        new: &mut u32,
    ) -> PlannedAnswer {
        let holder = key.and_then(|key| held.get(&key));
        if let Some(memory) = holder.filter(|memory| is_same(memory, body, now)) {
            return PlannedAnswer::Existing(Box::new(memory.clone()));
        }
        let content = self.take_key(key, holder, now);
        let (nth, put) = (*new, self.command.puts.len());
        let draft = MemoryDraft { body: body.clone(), content };
        self.command.puts.push(Put::NewMemory(Box::new(draft)));
        *new += 1;
        PlannedAnswer::New { nth, put }
    }

    /// The key for a new holder. An expired one gives it up; a live one with other content, whose key is
    /// the same by chance, keeps it.
    fn take_key(
        &mut self,
        key: Option<ContentKey>,
        holder: Option<&Memory>,
        now: UnixMs,
    ) -> Option<ContentKey> {
        let Some(holder) = holder else { return key };
        if !holder.body.is_expired(now) {
            return None;
        }
        self.command.guards.push(unchanged(holder));
        self.command.puts.push(Put::ReleaseContent(holder.id));
        key
    }
}

fn is_same(memory: &Memory, body: &MemoryBody, now: UnixMs) -> bool {
    !memory.body.is_expired(now) && same_content(&memory.body, body)
}

/// A new version; a command without puts where nothing would change.
pub(super) fn update(
    caller: &Caller,
    memory: &Memory,
    body: &MemoryBody,
    held: &Held,
    now: UnixMs,
) -> Command {
    let command = Command::new(caller.workspace.clone(), now);
    if *body == memory.body {
        return command;
    }
    let mut plan = Plan { command, answers: Vec::new() };
    plan.command.guards.push(unchanged(memory));
    plan.command.events.push(event(caller, "memory.updated", memory.id));
    let key = content_key(body);
    let other = key.and_then(|key| held.get(&key)).filter(|holder| holder.id != memory.id);
    let content = plan.take_key(key, other, now);
    let draft = MemoryDraft { body: body.clone(), content };
    plan.command.puts.push(Put::ReviseMemory(memory.id, Box::new(draft)));
    plan.command
}

/// What becomes of one memory. The row's change is known when the command is applied.
pub(super) struct Decision {
    pub(super) command: Command,
    pub(super) after: MemoryRow,
}

impl Decision {
    /// Nothing to do: it is so already.
    fn nothing(caller: &Caller, row: MemoryRow, now: UnixMs) -> Self {
        Self { command: Command::new(caller.workspace.clone(), now), after: row }
    }

    fn new(
        caller: &Caller,
        row: &MemoryRow,
        put: Put,
        kind: &'static str,
        after: MemoryRow,
    ) -> Self {
        let guard = Guard { key: RowKey::Memory(row.id()), expected: Expected::At(row.change()) };
        let at = after_at(&after);
        let mut command = Command::new(caller.workspace.clone(), at);
        command.guards.push(guard);
        command.puts.push(put);
        command.events.push(event(caller, kind, row.id()));
        Self { command, after }
    }
}

fn after_at(row: &MemoryRow) -> UnixMs {
    match row {
        MemoryRow::Live(memory) => memory.updated_at,
        MemoryRow::Gone(gone) => gone.at,
    }
}

/// Pins or unpins.
pub(super) fn pin(caller: &Caller, memory: Memory, pinned: bool, now: UnixMs) -> Decision {
    let before = MemoryRow::Live(Box::new(memory.clone()));
    if memory.body.pinned == pinned {
        return Decision::nothing(caller, before, now);
    }
    let body = MemoryBody { pinned, ..memory.body };
    let after = MemoryRow::Live(Box::new(Memory { updated_at: now, body, ..memory }));
    let kind = if pinned { "memory.pinned" } else { "memory.unpinned" };
    Decision::new(caller, &before, Put::PinMemory(memory.id, pinned), kind, after)
}

/// Deletes what is there; what is gone stays as it is.
pub(super) fn delete(caller: &Caller, row: MemoryRow, now: UnixMs) -> Decision {
    if row.live().is_none() {
        return Decision::nothing(caller, row, now);
    }
    let after = gone(&row, GoneReason::Deleted, now);
    Decision::new(caller, &row, Put::DeleteMemory(row.id()), "memory.deleted", after)
}

/// Erases what is there or was deleted.
pub(super) fn purge(caller: &Caller, row: MemoryRow, now: UnixMs) -> Decision {
    if matches!(row, MemoryRow::Gone(Gone { reason: GoneReason::Purged, .. })) {
        return Decision::nothing(caller, row, now);
    }
    let after = gone(&row, GoneReason::Purged, now);
    Decision::new(caller, &row, Put::PurgeMemory(row.id()), "memory.purged", after)
}

fn gone(row: &MemoryRow, reason: GoneReason, at: UnixMs) -> MemoryRow {
    let version = row.version() + u32::from(row.live().is_some());
    MemoryRow::Gone(Gone { id: row.id(), version, change: row.change(), at, reason })
}

/// The memory must be as it was read.
pub(super) fn unchanged(memory: &Memory) -> Guard {
    Guard { key: RowKey::Memory(memory.id), expected: Expected::At(memory.change) }
}

/// Something happened to a memory.
pub(super) fn event(caller: &Caller, kind: &'static str, id: MemoryId) -> EventDraft {
    let memory = Some(MemoryRef::Existing(id));
    EventDraft { actor: caller.agent.clone(), memory, ..EventDraft::new(kind) }
}

/// One event for the whole request: it names the first memory, and how many follow on.
fn stored_event(caller: &Caller, count: u32) -> EventDraft {
    let mut data = Facts::default();
    data.note("count", count);
    let (actor, memory) = (caller.agent.clone(), Some(MemoryRef::New(0)));
    EventDraft { actor, memory, data, ..EventDraft::new("memory.stored") }
}

impl Plan {
    /// What to remember under the idempotency key.
    pub(super) fn slots(&self) -> Vec<Slot> {
        self.answers.iter().map(|answer| self.slot(answer)).collect()
    }

    fn slot(&self, answer: &PlannedAnswer) -> Slot {
        match answer {
            PlannedAnswer::Existing(memory) => Slot::existing(memory.id, memory.version, true),
            PlannedAnswer::New { nth, .. } => Slot::New(*nth, false),
            PlannedAnswer::SameAs(earlier) => {
                let earlier = self.answers.get(*earlier).map(|answer| self.slot(answer));
                earlier.map_or(Slot::New(0, true), Slot::as_duplicate)
            }
        }
    }
}
