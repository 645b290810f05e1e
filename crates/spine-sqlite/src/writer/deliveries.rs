//! Writing deliveries: each on top of the version it was read at.

use rusqlite::{ToSql, params};
use spine_protocol::DeliveryId;
use spine_store::{Change, Delivery, Expected, RowKey};

use super::step::{Result, Step};
use crate::row::{rank_of, state_number};

/// A new one has as much room, in bytes, as a lease, an ending and a short result add to it.
const INSERT: &str = "INSERT INTO deliveries (workspace, id, change, updated_ms, agent, state, rank, \
        visible_ms, due_ms, epoch, incarnation, story, result, envelope, root, order_key, sequence, room) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?3, zeroblob(192))";

/// A transition. SQLite rewrites the entries of every column that is set, changed or not: what rarely changes is
/// compared instead, and its indexes are left alone.
pub(crate) const UPDATE: &str = "UPDATE deliveries SET change = ?3, updated_ms = ?4, agent = ?5, \
        state = ?6, rank = ?7, visible_ms = ?8, due_ms = ?9, epoch = ?10, incarnation = ?11, \
        story = ?12, result = ?13, room = NULL \
    WHERE workspace = ?1 AND id = ?2 AND change = ?17 AND +envelope = ?14 AND +root = ?15 \
        AND +order_key IS ?16";

/// The same for one whose row is known: the change that wrote a row last tells it from all others.
pub(crate) const UPDATE_AT: &str = "UPDATE deliveries SET change = ?3, updated_ms = ?4, agent = ?5, \
        state = ?6, rank = ?7, visible_ms = ?8, due_ms = ?9, epoch = ?10, incarnation = ?11, \
        story = ?12, result = ?13, room = NULL \
    WHERE rowid = ?2 AND +workspace = ?1 AND +change = ?14";

const REPLACE: &str = "UPDATE deliveries SET change = ?3, updated_ms = ?4, agent = ?5, state = ?6, \
        rank = ?7, visible_ms = ?8, due_ms = ?9, epoch = ?10, incarnation = ?11, story = ?12, \
        result = ?13, envelope = ?14, root = ?15, order_key = ?16, room = NULL \
    WHERE workspace = ?1 AND id = ?2 AND change = ?17";

/// The same for one with an order key, which goes to the end of its lane when it was closed, or elsewhere.
const ORDERED: &str = "UPDATE deliveries SET change = ?3, updated_ms = ?4, agent = ?5, state = ?6, \
        rank = ?7, visible_ms = ?8, due_ms = ?9, epoch = ?10, incarnation = ?11, story = ?12, \
        result = ?13, envelope = ?14, root = ?15, order_key = ?16, room = NULL, \
        sequence = CASE WHEN ?6 < 3 AND (agent <> ?5 OR state >= 3) THEN ?3 ELSE sequence END \
    WHERE workspace = ?1 AND id = ?2 AND change = ?17";

pub(super) fn put(step: &Step<'_, '_>, delivery: &Delivery) -> Result<()> {
    let written = if delivery.change == Change::ZERO {
        insert(step, delivery)
    } else if delivery.order_key.is_some() {
        step.places.forget(delivery.id);
        write(step, ORDERED, delivery)
    } else {
        update(step, delivery)
    };
    let key = || RowKey::Delivery(delivery.id);
    step.one_row(written, key, Expected::on_top_of(delivery.change))
}

fn insert(step: &Step<'_, '_>, delivery: &Delivery) -> rusqlite::Result<usize> {
    let written = write(step, INSERT, delivery)?;
    if delivery.order_key.is_none() {
        step.places.note(delivery, step.statements.inserted());
    }
    Ok(written)
}

fn update(step: &Step<'_, '_>, delivery: &Delivery) -> rusqlite::Result<usize> {
    let place = step.places.of(delivery);
    let mut written = place.map_or(Ok(0), |row| write_at(step, row, delivery))?;
    if written == 0 {
        written = write(step, UPDATE, delivery)?;
    }
    let is_replaced = written == 0;
    if is_replaced {
        written = write(step, REPLACE, delivery)?;
    }
    if is_replaced || !delivery.state.is_open() {
        step.places.forget(delivery.id);
    }
    Ok(written)
}

pub(super) fn remove(step: &Step<'_, '_>, id: DeliveryId, change: Change) -> Result<()> {
    let sql = "DELETE FROM deliveries WHERE workspace = ? AND id = ? AND change = ?";
    let params = params![step.workspace, id.to_string(), change.0.cast_signed()];
    let removed = step.statements.execute(sql, params);
    step.places.forget(id);
    step.one_row(removed, || RowKey::Delivery(id), Expected::At(change))
}

fn write(step: &Step<'_, '_>, sql: &'static str, delivery: &Delivery) -> rusqlite::Result<usize> {
    let (id, envelope) = (delivery.id.spelled(), delivery.envelope.spelled());
    let (root, read_at) = (delivery.root.spelled(), delivery.change.0.cast_signed());
    let order_key = delivery.order_key.as_ref().map(|key| key.as_str());
    let moved = Moved::of(step, delivery);
    let (head, lasting) = (params![step.workspace, &*id], params![&*envelope, &*root, order_key]);
    let guard = if sql == INSERT { params![] } else { params![read_at] };
    step.statements.execute(sql, &*[head, &moved.params(), lasting, guard].concat())
}

fn write_at(step: &Step<'_, '_>, row: i64, delivery: &Delivery) -> rusqlite::Result<usize> {
    let (moved, read_at) = (Moved::of(step, delivery), delivery.change.0.cast_signed());
    let (head, guard) = (params![step.workspace, row], params![read_at]);
    step.statements.execute(UPDATE_AT, &*[head, &moved.params(), guard].concat())
}

/// What a transition changes, as SQLite takes it.
struct Moved<'d> {
    change: i64,
    at_ms: i64,
    agent: &'d str,
    state: u8,
    rank: u8,
    visible_ms: i64,
    due_ms: Option<i64>,
    epoch: u32,
    incarnation: i64,
    story: &'d [u8],
    result: Option<&'d [u8]>,
}

impl<'d> Moved<'d> {
    fn of(step: &Step<'_, '_>, delivery: &'d Delivery) -> Self {
        Self {
            change: step.counter.change,
            at_ms: step.at.0,
            agent: delivery.agent.as_str(),
            state: state_number(delivery.state),
            rank: rank_of(delivery.priority),
            visible_ms: delivery.visible_at.0,
            due_ms: delivery.due_at.map(|due| due.0),
            epoch: delivery.epoch,
            incarnation: delivery.incarnation.cast_signed(),
            story: &delivery.story,
            result: delivery.result.as_deref(),
        }
    }

    /// From the third parameter on.
    fn params(&self) -> [&dyn ToSql; 11] {
        [
            &self.change,
            &self.at_ms,
            &self.agent,
            &self.state,
            &self.rank,
            &self.visible_ms,
            &self.due_ms,
            &self.epoch,
            &self.incarnation,
            &self.story,
            &self.result,
        ]
    }
}
