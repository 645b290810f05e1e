//! One atomic step: what must hold, what to write, what to log, and the answer to remember.

use spine_protocol::{DeliveryId, EnvelopeId, MemoryId, WorkspaceName};

use crate::limits::{COMMAND_BYTES_MAX, COMMAND_PUTS_MAX, DELIVERY_BYTES_MAX, RECORD_BYTES_MAX};
use crate::{
    ContentKey, Delivery, ErrorKind, EventDraft, GuardFailure, IdempotencyDraft, IdempotencyRecord,
    MemoryDraft, PageRow, Record, RecordKey, StoreError, StoredEnvelope, UnixMs,
};

/// A number in a workspace's commit order. Each put and each event takes the next one, and a row
/// remembers the one that last wrote it: that is its version for guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Change(pub u64);

impl Change {
    /// Before the first change.
    pub const ZERO: Self = Self(0);
}

/// Which row is meant. Always within the command's workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKey {
    /// A memory's newest version, or its tombstone.
    Memory(MemoryId),
    /// The live memory that holds this content.
    Content(ContentKey),
    /// An envelope; live until it is pruned.
    Envelope(EnvelopeId),
    /// Everything of the lineage with this root: its envelopes and deliveries. Written when one of them is.
    Lineage(EnvelopeId),
    /// A record.
    Record(RecordKey),
    /// A delivery.
    Delivery(DeliveryId),
}

/// What a guard wants of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// No such row.
    Absent,
    /// Some row.
    Present,
    /// A row that is not deleted or pruned.
    Live,
    /// A row last written by this change.
    At(Change),
}

impl Expected {
    /// What a write expects of the row it is made on top of: the version it was read at, or no row.
    pub fn on_top_of(change: Change) -> Self {
        if change == Change::ZERO { Self::Absent } else { Self::At(change) }
    }
}

/// A condition on which the whole command depends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// The row.
    pub key: RowKey,
    /// What it must be.
    pub expected: Expected,
}

impl Guard {
    /// Whether it holds for what is there: the row's change, and whether it is live.
    pub fn check(&self, found: Option<(Change, bool)>) -> Result<(), StoreError> {
        let holds = match self.expected {
            Expected::Absent => found.is_none(),
            Expected::Present => found.is_some(),
            Expected::Live => found.is_some_and(|(_, live)| live),
            Expected::At(change) => found.is_some_and(|(at, _)| at == change),
        };
        if holds {
            return Ok(());
        }
        let (key, expected) = (self.key.clone(), self.expected);
        let found = found.map(|(change, _)| change);
        Err(StoreError::guard_failed(GuardFailure { key, expected, found }))
    }
}

/// One small write. Puts of one command are applied in order, and each has a guard of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Put {
    /// A new memory with the workspace's next number. Fails if its content key is held.
    NewMemory(Box<MemoryDraft>),
    /// The next version of a live memory; the one before stays readable. Fails if its content key is
    /// held by another memory.
    ReviseMemory(MemoryId, Box<MemoryDraft>),
    /// Pins or unpins a live memory. No new version: what it says is unchanged.
    PinMemory(MemoryId, bool),
    /// Takes the content key from a live memory, so that another can hold it. No new version.
    ReleaseContent(MemoryId),
    /// Leaves a tombstone in place of a live memory; its versions stay until a purge.
    DeleteMemory(MemoryId),
    /// Erases every version of a live or deleted memory.
    PurgeMemory(MemoryId),
    /// A new envelope. Fails if the id is taken.
    NewEnvelope(Box<StoredEnvelope>),
    /// Forgets up to `rows_max` idempotency records that were kept until `until` or earlier.
    ForgetIdempotency {
        /// Records kept beyond this stay.
        until: UnixMs,
        /// So that one command stays short.
        rows_max: u32,
    },
    /// Writes a record on top of the version it was read at: its change must be the row's, or zero where
    /// there is none.
    Record(Box<Record>),
    /// Removes a record that is at this change.
    DropRecord(RecordKey, Change),
    /// Brings a record's due moment forward to this one, if it is later or none. The row keeps its change,
    /// so that no guard of another fails; where there is no row, nothing happens.
    WakeRecord(RecordKey, UnixMs),
    /// Writes a delivery on top of the version it was read at, as for a record.
    Delivery(Box<Delivery>),
    /// Removes a delivery that is at this change.
    DropDelivery(DeliveryId, Change),
    /// Leaves a skeleton in place of an envelope's bytes, and none of its notes.
    PruneEnvelope(EnvelopeId, Vec<u8>),
    /// Puts the same envelope without some of its texts in its place, and drops its notes.
    EraseEnvelopeTexts(EnvelopeId, Vec<u8>),
    /// Takes the free words, `reason`, out of every event about an envelope; all else in the log stays.
    EraseEventReasons(EnvelopeId),
    /// Looks at the `rows_max` oldest events, and removes those of `until` or earlier.
    ForgetEvents {
        /// Later events stay.
        until: UnixMs,
        /// So that one command stays short.
        rows_max: u32,
    },
}

/// Atomic by itself: all of it happens, or none. Its workspace is the first part of every key in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The isolation boundary.
    pub workspace: WorkspaceName,
    /// The engine's `now`, taken from the store: stamped on every row and event.
    pub at: UnixMs,
    /// What must hold before the first put.
    pub guards: Vec<Guard>,
    /// What is written, in order.
    pub puts: Vec<Put>,
    /// What is logged, after the puts.
    pub events: Vec<EventDraft>,
    /// The answer to remember. Where the key is already known, the command has no effect.
    pub idempotency: Option<IdempotencyDraft>,
}

impl Command {
    /// A command that does nothing yet.
    pub fn new(workspace: WorkspaceName, at: UnixMs) -> Self {
        let (guards, puts, events) = (Vec::new(), Vec::new(), Vec::new());
        Self { workspace, at, guards, puts, events, idempotency: None }
    }

    /// Whether it is within the limits of one command.
    pub fn check_size(&self) -> Result<(), StoreError> {
        let rows = self.guards.len().max(self.puts.len()).max(self.events.len());
        let bytes = self.size_bytes();
        if rows > COMMAND_PUTS_MAX || bytes > COMMAND_BYTES_MAX {
            let detail = format!("a command of {rows} rows, {bytes} bytes");
            return Err(StoreError::new(ErrorKind::TooLarge, detail));
        }
        self.puts.iter().try_for_each(Put::check_size)
    }

    /// Roughly how much it weighs, for the limits.
    pub fn size_bytes(&self) -> usize {
        const ROW_BYTES: usize = 256;
        let rows = (self.guards.len() + self.puts.len() + self.events.len()) * ROW_BYTES;
        let answer = self.idempotency.as_ref().map_or(0, |draft| draft.answer.len());
        rows + answer + self.puts.iter().map(Put::size_bytes).sum::<usize>()
    }
}

impl Put {
    fn size_bytes(&self) -> usize {
        match self {
            Self::NewMemory(draft) | Self::ReviseMemory(_, draft) => draft.body.size_bytes(),
            Self::NewEnvelope(envelope) => envelope.size_bytes(),
            Self::PruneEnvelope(_, bytes) | Self::EraseEnvelopeTexts(_, bytes) => bytes.len(),
            Self::Record(record) => record.size_bytes(),
            Self::Delivery(delivery) => delivery.size_bytes(),
            _ => 0,
        }
    }

    fn check_size(&self) -> Result<(), StoreError> {
        let (what, bytes_max) = match self {
            Self::Record(_) => ("record", RECORD_BYTES_MAX),
            Self::Delivery(_) => ("delivery", DELIVERY_BYTES_MAX),
            _ => return Ok(()),
        };
        let bytes = self.size_bytes();
        if bytes <= bytes_max {
            return Ok(());
        }
        Err(StoreError::new(ErrorKind::TooLarge, format!("a {what} of {bytes} bytes")))
    }
}

/// The numbers that a command got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The change of its first put; those of the others and of the events follow on.
    pub first_change: Change,
    /// The number of its first new memory; the others follow on.
    pub first_memory: Option<MemoryId>,
    /// How many new memories it has.
    pub memories: u32,
}

impl Receipt {
    /// The id of the n-th new memory, from 0.
    pub fn memory_id(&self, n: u32) -> Option<MemoryId> {
        let first = self.first_memory.filter(|_| n < self.memories)?;
        MemoryId::new(first.number() + u64::from(n))
    }

    /// The change of the n-th put, from 0. Those of the events follow on.
    pub fn put_change(&self, n: usize) -> Change {
        Change(self.first_change.0 + n as u64)
    }
}

/// What became of a command that did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// It took effect now, and is on disk.
    Now(Receipt),
    /// Its idempotency key was known: this is the first one's record, and nothing was written.
    Before(Box<IdempotencyRecord>),
}

/// One command's result; a failed guard fails alone.
pub type Outcome = Result<Applied, StoreError>;
