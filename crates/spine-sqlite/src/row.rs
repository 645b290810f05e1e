//! Records from rows. What does not parse was not written by this program: the file is damaged.

use std::str::FromStr;

use rusqlite::Row;
use rusqlite::types::Type;
use serde_json::{Map, Value};
use spine_protocol::{MemoryId, Timestamp};
use spine_store::{
    Change, Delivery, DeliveryState, Facts, Gone, GoneReason, IdempotencyRecord, Memory,
    MemoryBody, MemoryRow, Priority, Receipt, Tag, UnixMs,
};

type Result<T> = rusqlite::Result<T>;

/// What `memory_row` reads, after a first column with the state.
pub(crate) const MEMORY_COLUMNS: &str = "number, version, change, created_ms, updated_ms, expires_ms, \
    pinned, priority, kind, author, thread, subject, occurred_at, tags, title, summary, metadata, text";

pub(crate) const LIVE: i64 = 0;
pub(crate) const DELETED: i64 = 1;
pub(crate) const PURGED: i64 = 2;

pub(crate) fn memory_row(row: &Row<'_>) -> Result<MemoryRow> {
    let reason = match row.get(0)? {
        LIVE => return memory(row).map(|memory| MemoryRow::Live(Box::new(memory))),
        DELETED => GoneReason::Deleted,
        PURGED => GoneReason::Purged,
        state => return Err(invalid(0, format!("state {state}"))),
    };
    let (id, version) = (memory_id(row, 1)?, row.get(2)?);
    let (change, at) = (change(row, 3)?, UnixMs(row.get(5)?));
    Ok(MemoryRow::Gone(Gone { id, version, change, at, reason }))
}

/// A live or an older version.
pub(crate) fn memory(row: &Row<'_>) -> Result<Memory> {
    Ok(Memory {
        id: memory_id(row, 1)?,
        version: row.get(2)?,
        change: change(row, 3)?,
        created_at: UnixMs(row.get(4)?),
        updated_at: UnixMs(row.get(5)?),
        body: body(row)?,
    })
}

fn body(row: &Row<'_>) -> Result<MemoryBody> {
    Ok(MemoryBody {
        expires_at: row.get::<_, Option<i64>>(6)?.map(UnixMs),
        pinned: row.get(7)?,
        priority: priority(row, 8)?,
        kind: parsed(row, 9)?,
        author: parsed_option(row, 10)?,
        thread: parsed_option(row, 11)?,
        subject: parsed_option(row, 12)?,
        occurred_at: parsed_option::<Timestamp>(row, 13)?,
        tags: tags(row, 14)?,
        title: row.get(15)?,
        summary: row.get(16)?,
        metadata: object(row, 17)?,
        text: row.get(18)?,
    })
}

pub(crate) fn idempotency(row: &Row<'_>) -> Result<IdempotencyRecord> {
    let first_memory = row.get::<_, Option<i64>>(4)?;
    let first_memory = first_memory.map(|number| valid_id(number, 4)).transpose()?;
    let receipt = Receipt { first_change: change(row, 3)?, first_memory, memories: row.get(5)? };
    let kept_until = UnixMs(row.get(2)?);
    Ok(IdempotencyRecord { request: parsed(row, 0)?, answer: row.get(1)?, kept_until, receipt })
}

/// What `delivery` reads.
pub(crate) const DELIVERY_COLUMNS: &str = "id, envelope, root, agent, state, rank, order_key, sequence, \
    visible_ms, due_ms, epoch, incarnation, story, result, updated_ms, change";

pub(crate) fn delivery(row: &Row<'_>) -> Result<Delivery> {
    Ok(Delivery {
        id: parsed(row, 0)?,
        envelope: parsed(row, 1)?,
        root: parsed(row, 2)?,
        agent: parsed(row, 3)?,
        state: delivery_state(row, 4)?,
        priority: priority_of_rank(row, 5)?,
        order_key: parsed_option(row, 6)?,
        sequence: change(row, 7)?,
        visible_at: UnixMs(row.get(8)?),
        due_at: row.get::<_, Option<i64>>(9)?.map(UnixMs),
        epoch: row.get(10)?,
        incarnation: row.get::<_, i64>(11)?.cast_unsigned(),
        story: row.get(12)?,
        result: row.get(13)?,
        updated_at: UnixMs(row.get(14)?),
        change: change(row, 15)?,
    })
}

/// A state as it is stored: its place among all.
pub(crate) fn state_number(state: DeliveryState) -> u8 {
    state as u8
}

pub(crate) fn delivery_state(row: &Row<'_>, column: usize) -> Result<DeliveryState> {
    let number: i64 = row.get(column)?;
    let known = usize::try_from(number).ok().and_then(|n| DeliveryState::ALL.get(n).copied());
    known.ok_or_else(|| invalid(column, format!("delivery state {number}")))
}

/// A priority as a queue is sorted by it: the highest is 0.
pub(crate) fn rank_of(priority: Priority) -> u8 {
    Priority::Critical as u8 - priority as u8
}

fn priority_of_rank(row: &Row<'_>, column: usize) -> Result<Priority> {
    let rank: i64 = row.get(column)?;
    let known = Priority::ALL.iter().copied().find(|known| i64::from(rank_of(*known)) == rank);
    known.ok_or_else(|| invalid(column, format!("rank {rank}")))
}

pub(crate) fn count(row: &Row<'_>, column: usize) -> Result<u64> {
    row.get::<_, i64>(column).map(i64::unsigned_abs)
}

pub(crate) fn memory_id(row: &Row<'_>, column: usize) -> Result<MemoryId> {
    valid_id(row.get(column)?, column)
}

pub(crate) fn valid_id(number: i64, column: usize) -> Result<MemoryId> {
    let id = u64::try_from(number).ok().and_then(MemoryId::new);
    id.ok_or_else(|| invalid(column, format!("memory number {number}")))
}

pub(crate) fn change(row: &Row<'_>, column: usize) -> Result<Change> {
    let number: i64 = row.get(column)?;
    let valid = u64::try_from(number).map(Change);
    valid.map_err(|_| invalid(column, format!("change number {number}")))
}

pub(crate) fn parsed<T: FromStr>(row: &Row<'_>, column: usize) -> Result<T>
where
    T::Err: std::fmt::Display,
{
    let text = row.get_ref(column)?.as_str()?;
    text.parse().map_err(|error: T::Err| invalid(column, error.to_string()))
}

pub(crate) fn parsed_option<T: FromStr>(row: &Row<'_>, column: usize) -> Result<Option<T>>
where
    T::Err: std::fmt::Display,
{
    let null = row.get_ref(column)?.data_type() == Type::Null;
    if null { Ok(None) } else { parsed(row, column).map(Some) }
}

pub(crate) fn tags(row: &Row<'_>, column: usize) -> Result<Vec<Tag>> {
    match row.get_ref(column)?.as_str()? {
        "[]" => Ok(Vec::new()),
        json => serde_json::from_str(json).map_err(|error| invalid(column, error.to_string())),
    }
}

pub(crate) fn object(row: &Row<'_>, column: usize) -> Result<Map<String, Value>> {
    match row.get_ref(column)?.as_str()? {
        "{}" => Ok(Map::new()),
        json => serde_json::from_str(json).map_err(|error| invalid(column, error.to_string())),
    }
}

/// What an event says.
pub(crate) fn facts(row: &Row<'_>, column: usize) -> Result<Facts> {
    let read = Facts::read(row.get_ref(column)?.as_str()?);
    read.map_err(|error| invalid(column, error.to_string()))
}

fn priority(row: &Row<'_>, column: usize) -> Result<Priority> {
    let number: usize = row.get::<_, u32>(column)? as usize;
    let known = Priority::ALL.get(number).copied();
    known.ok_or_else(|| invalid(column, format!("priority {number}")))
}

fn invalid(column: usize, what: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, what.into())
}
