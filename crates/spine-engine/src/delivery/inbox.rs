//! What waits for each agent, read ahead. Receivers of one agent take different deliveries without waiting for each other's
//! commit; one that another engine took meanwhile fails its guard.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use spine_protocol::{AgentName, DeliveryId, WorkspaceName};
use spine_store::{Change, Priority, StoreError, UnixMs};
use tracing::error;

use super::limits::READ_AHEAD_MAX;
use super::receive::lock;
use super::story::Delivery;
use super::{Deliveries, Result};

/// How long what is known is believed to be all: another server may have added more urgent ones.
const AHEAD_MS_MAX: i64 = 100;

/// One for each agent that somebody asks for.
#[derive(Default)]
pub(super) struct Inboxes {
    inboxes: Mutex<HashMap<(WorkspaceName, AgentName), Arc<Inbox>>>,
}

#[derive(Default)]
pub(super) struct Inbox {
    ahead: Mutex<Ahead>,
    refilling: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Ahead {
    /// In the order in which they are taken.
    waiting: VecDeque<Waiting>,
    taken: HashSet<DeliveryId>,
    read_at: UnixMs,
    /// Whether nothing else was ready when it was last read: then what arrives comes behind what is known.
    is_all: bool,
    /// How often that may have changed, to tell whether it did during a read.
    stirs: u64,
}

/// One that can be taken.
enum Waiting {
    /// As the store has it.
    Stored(Box<spine_store::Delivery>),
    /// As it was sent here.
    Sent(Box<Delivery>),
}

impl Waiting {
    fn row(&self) -> &spine_store::Delivery {
        match self {
            Self::Stored(row) => row,
            Self::Sent(delivery) => &delivery.row,
        }
    }

    /// Those with the lower place are taken first.
    fn place(&self) -> (std::cmp::Reverse<Priority>, Change) {
        let row = self.row();
        (std::cmp::Reverse(row.priority), row.sequence)
    }

    fn read(self) -> Option<Delivery> {
        match self {
            Self::Stored(row) => read_or_pass_over(*row),
            Self::Sent(delivery) => Some(*delivery),
        }
    }
}

/// One that cannot be read stays as it is: what is in it may still be saved.
pub(super) fn read_or_pass_over(row: spine_store::Delivery) -> Option<Delivery> {
    let id = row.id;
    let passed_over = |error: &StoreError| {
        error!(delivery = %id, detail = error.detail(), "it cannot be read, and is passed over");
    };
    Delivery::of_row(row).inspect_err(passed_over).ok()
}

impl Inboxes {
    pub(super) fn open(&self, workspace: &WorkspaceName, agent: &AgentName) -> Arc<Inbox> {
        let key = (workspace.clone(), agent.clone());
        Arc::clone(lock(&self.inboxes).entry(key).or_default())
    }

    /// One that was just sent, and is on disk.
    pub(super) fn arrived(&self, workspace: &WorkspaceName, delivery: &Delivery) {
        if let Some(inbox) = self.known(workspace, &delivery.row.agent) {
            lock(&inbox.ahead).arrive(delivery);
        }
    }

    /// Some of which nobody was told may be ready now: one that is tried again, or whose turn has come.
    pub(super) fn stirred(&self, workspace: &WorkspaceName, agent: &AgentName) {
        if let Some(inbox) = self.known(workspace, agent) {
            lock(&inbox.ahead).stir();
        }
    }

    fn known(&self, workspace: &WorkspaceName, agent: &AgentName) -> Option<Arc<Inbox>> {
        lock(&self.inboxes).get(&(workspace.clone(), agent.clone())).cloned()
    }

    /// Forgets agents for whom nobody asks.
    pub(super) fn tidy(&self) {
        lock(&self.inboxes).retain(|_, inbox| Arc::strong_count(inbox) > 1);
    }
}

/// What is in the hands of one receiver; nobody else takes it until this is dropped. Those that cannot be read are held, too, so
/// that those behind them come up.
pub(super) struct Taken {
    inbox: Arc<Inbox>,
    ids: Vec<DeliveryId>,
    pub(super) found: Vec<Delivery>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut ahead = lock(&self.inbox.ahead);
        for id in &self.ids {
            ahead.taken.remove(id);
        }
    }
}

impl Inbox {
    pub(super) async fn take(
        self: Arc<Self>,
        engine: &Deliveries,
        workspace: &WorkspaceName,
        agent: &AgentName,
        wanted: usize,
        now: UnixMs,
    ) -> Result<Taken> {
        let mut taken = Taken { inbox: Arc::clone(&self), ids: Vec::new(), found: Vec::new() };
        if !self.pop(&mut taken, wanted, now) {
            let _one_reads_for_all = self.refilling.lock().await;
            if !self.pop(&mut taken, wanted, now) {
                self.refill(engine, workspace, agent, wanted - taken.found.len(), now).await?;
                self.pop(&mut taken, wanted, now);
                lock(&self.ahead).forget_from_ordered();
            }
        }
        Ok(taken)
    }

    /// Whether that is enough: as many as are wanted, or some, and nobody knows of more.
    fn pop(&self, into: &mut Taken, wanted: usize, now: UnixMs) -> bool {
        let mut ahead = lock(&self.ahead);
        while into.found.len() < wanted {
            let Some(waiting) = ahead.pop(now) else { break };
            into.ids.push(waiting.row().id);
            into.found.extend(waiting.read());
        }
        into.found.len() >= wanted || ahead.is_all && !into.found.is_empty()
    }

    /// Only one receiver does this at a time, so what it reads is not in anybody's hands but those it leaves out.
    async fn refill(
        &self,
        engine: &Deliveries,
        workspace: &WorkspaceName,
        agent: &AgentName,
        missing: usize,
        now: UnixMs,
    ) -> Result<()> {
        let (in_hands, stirs) = {
            let ahead = lock(&self.ahead);
            (ahead.taken.len(), ahead.stirs)
        };
        let limit = in_hands + missing.max(READ_AHEAD_MAX);
        let rows = engine.store.ready_deliveries(workspace, agent.clone(), now, limit).await?;
        let mut ahead = lock(&self.ahead);
        ahead.is_all = rows.len() < limit && ahead.stirs == stirs;
        ahead.read_at = now;
        let free = rows.into_iter().filter(|row| !ahead.taken.contains(&row.id));
        ahead.waiting = free.map(|row| Waiting::Stored(Box::new(row))).collect();
        Ok(())
    }
}

impl Ahead {
    fn pop(&mut self, now: UnixMs) -> Option<Waiting> {
        if now.0 - self.read_at.0 > AHEAD_MS_MAX {
            self.waiting.clear();
            self.is_all = false;
        }
        let waiting = self.waiting.pop_front()?;
        self.taken.insert(waiting.row().id);
        Some(waiting)
    }

    fn stir(&mut self) {
        self.stirs += 1;
        self.is_all = false;
    }

    /// Takes its place where all others are known. Else a more urgent one than those that are known means that they must be
    /// read anew. One with an order key waits for its turn, which only the store knows; and so it does whether one without a
    /// change is there at all.
    fn arrive(&mut self, delivery: &Delivery) {
        let row = &delivery.row;
        let was_all = self.is_all;
        self.stir();
        let is_free = row.order_key.is_none() && row.change != Change::ZERO;
        if was_all && is_free && self.waiting.len() < READ_AHEAD_MAX {
            self.is_all = true;
            return self.insert(Waiting::Sent(Box::new(delivery.clone())));
        }
        if self.waiting.iter().any(|known| known.row().priority < row.priority) {
            self.waiting.clear();
        }
    }

    /// Whose turn it is may have changed when the next is taken; and what is behind must not come first.
    fn forget_from_ordered(&mut self) {
        let ordered = self.waiting.iter().position(|waiting| waiting.row().order_key.is_some());
        if let Some(first) = ordered {
            self.waiting.truncate(first);
            self.is_all = false;
        }
    }

    fn insert(&mut self, new: Waiting) {
        let id = new.row().id;
        let is_known = |known: &Waiting| known.row().id == id;
        if self.taken.contains(&id) || self.waiting.iter().any(is_known) {
            return;
        }
        let behind = self.waiting.partition_point(|known| known.place() <= new.place());
        self.waiting.insert(behind, new);
    }
}
