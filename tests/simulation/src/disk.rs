//! The data that all servers share: what is written is watched, and can be set back to what a backup had.

use std::collections::BTreeMap;
use std::sync::Arc;

use spine_engine::delivery::Fence;
use spine_engine::delivery::breaker::Breaker;
use spine_protocol::{AgentName, DeliveryId, WorkspaceName};
use spine_store::testing::{ManualClock, ModelStore, block_on};
use spine_store::{
    Applied, Change, Clock, Command, ErrorKind, Identity, Outcome, Receipt, Store, StoreError,
};

use crate::mutation::Mutation;
use crate::scheduler::TaskId;
use crate::watch::Watch;

/// What is known of a call while it runs.
#[derive(Debug, Clone, Default)]
pub struct Meta {
    /// Where it may read and write.
    pub workspace: Option<WorkspaceName>,
    /// The lease it speaks for.
    pub shown: Option<(DeliveryId, Fence)>,
    /// The backoff it asked for.
    pub after_ms: Option<u64>,
    /// How agents stood when it last looked.
    pub standing: BTreeMap<AgentName, Standing>,
}

/// How an agent stood.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    /// Given no work by a person.
    pub paused: bool,
    /// Its breaker.
    pub breaker: Breaker,
}

/// The data, and whoever watches it.
pub struct Disk {
    clock: Arc<ManualClock>,
    /// What is stored.
    pub model: ModelStore,
    /// What must hold.
    pub watch: Watch,
    /// The calls under way.
    pub metas: BTreeMap<TaskId, Meta>,
    /// How the engine is broken on purpose.
    pub mutation: Mutation,
    log: Vec<Command>,
    history: u32,
    incarnation: u64,
    /// Which life of the disk this is: what was under way in an earlier one is lost.
    pub life: u32,
    /// Commands that were applied.
    pub applied: u64,
}

impl Disk {
    /// An empty disk.
    pub fn new(clock: Arc<ManualClock>, mutation: Mutation) -> Self {
        let model = ModelStore::new(clock.clone());
        let (watch, metas, log) = (Watch::new("history0"), BTreeMap::new(), Vec::new());
        let (history, incarnation, life, applied) = (0, 0, 0, 0);
        Self { clock, model, watch, metas, mutation, log, history, incarnation, life, applied }
    }

    /// Opened by a server: the incarnation is raised first.
    pub fn open(&mut self) -> Identity {
        self.incarnation += 1;
        let blind = self.mutation == Mutation::IncarnationIgnored;
        let (history, incarnation) = if blind { (0, 1) } else { (self.history, self.incarnation) };
        Identity { store: "sim".to_owned(), history: format!("history{history}"), incarnation }
    }

    /// Sets the data back to what it was some commands ago. A backup starts a history of its own; a disk that lied about its last
    /// writes does not.
    pub fn set_back(&mut self, commands: usize, new_history: bool) {
        self.log.truncate(self.log.len().saturating_sub(commands));
        self.model = ModelStore::new(self.clock.clone());
        for command in &self.log {
            let _ = block_on(self.model.apply(vec![command.clone()]));
        }
        self.life += 1;
        self.history += u32::from(new_history);
        self.metas.clear();
        let blind = self.mutation == Mutation::IncarnationIgnored;
        let history = if blind { 0 } else { self.history };
        self.watch.set_back(&self.model, &format!("history{history}"));
    }

    /// Applies commands for a call, as a store does.
    pub fn apply(&mut self, task: TaskId, commands: Vec<Command>) -> Vec<Outcome> {
        commands.into_iter().map(|command| self.apply_one(task, command)).collect()
    }

    fn apply_one(&mut self, task: TaskId, command: Command) -> Outcome {
        let meta = self.metas.get(&task).cloned().unwrap_or_default();
        let parts = self.mutation.commands(command, &meta, &self.model);
        let mut first = None;
        for part in parts {
            let outcome = self.write(&meta, part);
            first.get_or_insert(outcome);
        }
        first.unwrap_or_else(|| Ok(Applied::Now(made_up())))
    }

    fn write(&mut self, meta: &Meta, command: Command) -> Outcome {
        let outcome = block_on(self.model.apply(vec![command.clone()]))?.pop();
        let lost = || Err(StoreError::new(ErrorKind::Corrupt, "no outcome"));
        let outcome = outcome.unwrap_or_else(lost)?;
        if matches!(outcome, Applied::Now(_)) {
            self.applied += 1;
            self.watch.committed(meta, &command, &self.model, self.clock.now());
            self.log.push(command);
        }
        Ok(outcome)
    }
}

/// The receipt of something that was never written.
pub fn made_up() -> Receipt {
    Receipt { first_change: Change(u64::MAX / 2), first_memory: None, memories: 0 }
}
