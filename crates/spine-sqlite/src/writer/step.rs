//! One command inside the group's transaction, atomic by itself.

use rusqlite::ffi::ErrorCode;
use rusqlite::{Params, params};
use spine_protocol::{DeliveryId, EnvelopeId, MemoryId};
use spine_store::{
    Applied, Change, Command, ErrorKind, EventDraft, Expected, Guard, IdempotencyDraft,
    IdempotencyRecord, Outcome, Put, Receipt, RowKey, StoreError, UnixMs,
};

use super::counters::{Counter, Counters};
use super::places::Places;
use super::statements::Statements;
use super::{deliveries, envelopes, memories, records};
use crate::row::{LIVE, change, idempotency};

/// Why a command does not go on.
pub(super) enum Halt {
    /// It alone is refused.
    Refused(StoreError),
    /// It is refused, but a part of it was written.
    Torn,
    /// The whole group is broken off.
    Broken(rusqlite::Error),
}

impl From<rusqlite::Error> for Halt {
    fn from(error: rusqlite::Error) -> Self {
        Self::Broken(error)
    }
}

pub(super) type Result<T> = std::result::Result<T, Halt>;

/// A command under way.
pub(super) struct Step<'a, 'c> {
    pub(super) statements: &'a Statements<'c>,
    pub(super) places: &'a Places,
    pub(super) workspace: &'a str,
    pub(super) at: UnixMs,
    pub(super) counter: Counter,
    pub(super) receipt: Receipt,
}

/// Whether what a refused command wrote before it was refused can be undone alone. That has a price: SQLite copies every
/// page that is touched until then, and few commands are refused so late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undo {
    /// The group has to begin anew.
    Together,
    Alone,
}

/// Why a group does not go on.
pub(super) enum BrokenOff {
    /// A command was refused with a part of it written.
    Torn,
    Failed(rusqlite::Error),
}

impl From<rusqlite::Error> for BrokenOff {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}

/// Applies one command. An error breaks off the whole group; a refusal is the command's own outcome.
pub(super) fn apply(
    (statements, places): (&Statements<'_>, &Places),
    counters: &mut Counters,
    command: &Command,
    undo: Undo,
) -> std::result::Result<Outcome, BrokenOff> {
    let counter = counters.of(statements, &command.workspace)?;
    let first_change = Change(counter.change.unsigned_abs() + 1);
    let receipt = Receipt { first_change, first_memory: None, memories: 0 };
    let (workspace, at) = (command.workspace.as_str(), command.at);
    let mut step = Step { statements, places, workspace, at, counter: *counter, receipt };
    match step.run(command, undo) {
        Ok(applied) => {
            *counter = step.counter;
            Ok(Ok(applied))
        }
        Err(Halt::Refused(error)) => Ok(Err(error)),
        Err(Halt::Torn) => Err(BrokenOff::Torn),
        Err(Halt::Broken(error)) => Err(BrokenOff::Failed(error)),
    }
}

impl Step<'_, '_> {
    fn run(&mut self, command: &Command, undo: Undo) -> Result<Applied> {
        command.check_size().map_err(Halt::Refused)?;
        if let Some(record) = self.known(command)? {
            return Ok(Applied::Before(Box::new(record)));
        }
        for guard in &command.guards {
            guard.check(self.found(&guard.key)?).map_err(Halt::Refused)?;
        }
        match undo {
            Undo::Together => self.write_or_tear(command)?,
            Undo::Alone => self.write_or_undo(command)?,
        }
        Ok(Applied::Now(self.receipt))
    }

    fn write_or_tear(&mut self, command: &Command) -> Result<()> {
        let before = self.counter.change;
        let written = self.write(command);
        let is_torn = self.counter.change > before + 1 || !refuses_first(command);
        match written {
            Err(Halt::Refused(_)) if is_torn => Err(Halt::Torn),
            written => written,
        }
    }

    fn write_or_undo(&mut self, command: &Command) -> Result<()> {
        self.statements.execute("SAVEPOINT command", [])?;
        let written = self.write(command);
        match &written {
            Ok(()) => {}
            Err(Halt::Refused(_)) => {
                self.statements.execute("ROLLBACK TO command", [])?;
                self.places.forget_all_of(command);
            }
            // SQLite may have rolled back by itself; to go on here would hide the first error.
            Err(Halt::Torn | Halt::Broken(_)) => return written,
        }
        self.statements.execute("RELEASE command", [])?;
        written
    }

    fn known(&self, command: &Command) -> Result<Option<IdempotencyRecord>> {
        let Some(draft) = &command.idempotency else { return Ok(None) };
        let sql = "SELECT request, answer, kept_until_ms, first_change, first_memory, memories \
                   FROM idempotency WHERE workspace = ? AND key = ? AND kept_until_ms > ?";
        let params = params![self.workspace, draft.key.as_str(), self.at.0];
        Ok(self.statements.find(sql, params, idempotency)?)
    }

    /// Refuses the command unless the row is as expected.
    pub(super) fn expect(&self, key: RowKey, expected: Expected) -> Result<()> {
        let found = self.found(&key)?;
        Guard { key, expected }.check(found).map_err(Halt::Refused)
    }

    /// Refuses the command unless a statement that names what it expects wrote its row. Looking beforehand would
    /// cost every write a look-up; so would a statement that finds the key taken.
    pub(super) fn one_row(
        &self,
        written: rusqlite::Result<usize>,
        key: impl FnOnce() -> RowKey,
        expected: Expected,
    ) -> Result<()> {
        let taken = |error: &rusqlite::Error| {
            error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
        };
        match written {
            Ok(0) => self.expect(key(), expected),
            Ok(_) => Ok(()),
            Err(error) if taken(&error) => {
                self.expect(key(), expected)?;
                Err(Halt::Broken(error))
            }
            Err(error) => Err(Halt::Broken(error)),
        }
    }

    /// The change that last wrote a row, and whether it is live.
    fn found(&self, key: &RowKey) -> Result<Option<(Change, bool)>> {
        let workspace = self.workspace;
        match key {
            RowKey::Memory(id) => self.version(
                "SELECT change, state FROM memories WHERE workspace = ? AND number = ?",
                params![workspace, number(*id)],
            ),
            RowKey::Content(key) => self.version(
                "SELECT change, state FROM memories WHERE workspace = ? AND content = ?",
                params![workspace, key.0],
            ),
            RowKey::Envelope(id) => self.version(
                "SELECT change, pruned FROM envelopes WHERE workspace = ? AND id = ?",
                params![workspace, id.to_string()],
            ),
            RowKey::Lineage(root) => self.version(
                "SELECT newest, 0 FROM (SELECT max(change) AS newest FROM ( \
                     SELECT change FROM envelopes WHERE workspace = ?1 AND root = ?2 UNION ALL \
                     SELECT change FROM deliveries WHERE workspace = ?1 AND root = ?2)) \
                 WHERE newest IS NOT NULL",
                params![workspace, root.to_string()],
            ),
            RowKey::Record(key) => self.version(
                "SELECT change, 0 FROM records WHERE workspace = ? AND collection = ? AND name = ?",
                params![workspace, key.collection.as_str(), key.name.as_str()],
            ),
            RowKey::Delivery(id) => self.version(
                "SELECT change, 0 FROM deliveries WHERE workspace = ? AND id = ?",
                params![workspace, id.to_string()],
            ),
        }
    }

    fn version(&self, sql: &'static str, key: impl Params) -> Result<Option<(Change, bool)>> {
        let read = |row: &rusqlite::Row<'_>| Ok((change(row, 0)?, row.get::<_, i64>(1)? == LIVE));
        Ok(self.statements.find(sql, key, read)?)
    }

    fn write(&mut self, command: &Command) -> Result<()> {
        for put in &command.puts {
            self.counter.change += 1;
            self.put(put)?;
        }
        for event in &command.events {
            self.counter.change += 1;
            self.event(event)?;
        }
        command.idempotency.as_ref().map_or(Ok(()), |draft| self.remember(draft))
    }

    fn put(&mut self, put: &Put) -> Result<()> {
        match put {
            Put::NewMemory(draft) => memories::insert(self, draft),
            Put::ReviseMemory(id, draft) => memories::revise(self, *id, draft),
            Put::PinMemory(id, pinned) => memories::pin(self, *id, *pinned),
            Put::ReleaseContent(id) => memories::release_content(self, *id),
            Put::DeleteMemory(id) => memories::delete(self, *id),
            Put::PurgeMemory(id) => memories::purge(self, *id),
            Put::NewEnvelope(envelope) => envelopes::insert(self, envelope),
            Put::PruneEnvelope(id, skeleton) => envelopes::prune(self, *id, skeleton),
            Put::EraseEnvelopeTexts(id, bytes) => envelopes::erase_texts(self, *id, bytes),
            Put::Record(record) => records::put(self, record),
            Put::DropRecord(key, change) => records::remove(self, key, *change),
            Put::WakeRecord(key, at) => records::wake(self, key, *at),
            Put::Delivery(delivery) => deliveries::put(self, delivery),
            Put::DropDelivery(id, change) => deliveries::remove(self, *id, *change),
            Put::ForgetIdempotency { until, rows_max } => self.forget(*until, *rows_max),
            Put::EraseEventReasons(id) => self.erase_event_reasons(*id),
            Put::ForgetEvents { until, rows_max } => self.forget_events(*until, *rows_max),
        }
    }

    /// The next memory number, on the receipt too.
    pub(super) fn next_memory(&mut self) -> Result<MemoryId> {
        self.counter.memory += 1;
        let beyond = || StoreError::new(ErrorKind::TooLarge, "no memory numbers left");
        let id = MemoryId::new(self.counter.memory.unsigned_abs());
        let id = id.ok_or_else(|| Halt::Refused(beyond()))?;
        self.receipt.first_memory.get_or_insert(id);
        self.receipt.memories += 1;
        Ok(id)
    }

    fn event(&self, event: &EventDraft) -> Result<()> {
        let sql = "INSERT INTO events (workspace, change, at_ms, kind, actor, memory, envelope, \
                   delivery, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        self.statements.execute(
            sql,
            params![
                self.workspace,
                self.counter.change,
                self.at.0,
                event.kind,
                event.actor.as_ref().map(|actor| actor.as_str()),
                event.memory_id(&self.receipt).map(number),
                event.envelope.as_ref().map(EnvelopeId::spelled).as_deref(),
                event.delivery.as_ref().map(DeliveryId::spelled).as_deref(),
                event.data.as_json(),
            ],
        )?;
        Ok(())
    }

    fn remember(&self, draft: &IdempotencyDraft) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO idempotency (workspace, key, request, answer, \
                   kept_until_ms, first_change, first_memory, memories) \
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        self.statements.execute(
            sql,
            params![
                self.workspace,
                draft.key.as_str(),
                draft.request.to_string(),
                draft.answer,
                draft.kept_until.0,
                self.receipt.first_change.0.cast_signed(),
                self.receipt.first_memory.map(number),
                self.receipt.memories,
            ],
        )?;
        Ok(())
    }

    fn forget(&self, until: UnixMs, rows_max: u32) -> Result<()> {
        let sql = "DELETE FROM idempotency WHERE workspace = ?1 AND key IN ( \
                       SELECT key FROM idempotency WHERE workspace = ?1 AND kept_until_ms <= ?2 \
                       ORDER BY kept_until_ms, key LIMIT ?3)";
        self.statements.execute(sql, params![self.workspace, until.0, rows_max])?;
        Ok(())
    }

    fn erase_event_reasons(&self, id: EnvelopeId) -> Result<()> {
        let sql = "UPDATE events SET data = json_remove(data, '$.reason') \
                   WHERE workspace = ? AND envelope = ?";
        self.statements.execute(sql, params![self.workspace, id.to_string()])?;
        Ok(())
    }

    /// Only the oldest are looked at: without an index by time the whole log would be.
    fn forget_events(&self, until: UnixMs, rows_max: u32) -> Result<()> {
        let sql = "DELETE FROM events WHERE workspace = ?1 AND at_ms <= ?2 AND change IN ( \
                       SELECT change FROM events WHERE workspace = ?1 ORDER BY change LIMIT ?3)";
        self.statements.execute(sql, params![self.workspace, until.0, rows_max])?;
        Ok(())
    }
}

/// Whether its first put refuses before it writes. A revision first puts the version before aside, and may find its
/// content taken then.
fn refuses_first(command: &Command) -> bool {
    !matches!(command.puts.first(), Some(Put::ReviseMemory(..)))
}

/// A memory's number as SQLite takes it.
pub(super) fn number(id: MemoryId) -> i64 {
    id.number().cast_signed()
}

/// JSON for a column. Maps with string keys and lists of strings always have a spelling.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
