//! The reference: a store in memory that is plain enough to be believed, and fails on demand.

mod deliveries;
mod faults;
mod reads;
mod records;
mod workspace;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spine_protocol::WorkspaceName;

use crate::limits::check_apply;
use crate::{Clock, Command, Identity, Outcome, Store, StoreError, StoreFuture, UnixMs};

pub use faults::Fault;
use workspace::Workspace;

/// A store in memory. Several engines may share one.
pub struct ModelStore {
    clock: Arc<dyn Clock>,
    workspaces: Mutex<BTreeMap<WorkspaceName, Workspace>>,
    faults: Mutex<VecDeque<Fault>>,
}

impl ModelStore {
    /// An empty store.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, workspaces: Mutex::default(), faults: Mutex::default() }
    }

    /// Makes a coming `apply` fail; faults are used up in order, one a call.
    pub fn fail_next(&self, fault: Fault) {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).push_back(fault);
    }

    fn take_fault(&self) -> Option<Fault> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<WorkspaceName, Workspace>> {
        self.workspaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers from one workspace; one that was never written to is empty.
    fn read<T>(&self, workspace: &WorkspaceName, read: impl FnOnce(&Workspace) -> T) -> T {
        let workspaces = self.lock();
        read(workspaces.get(workspace).unwrap_or(&Workspace::default()))
    }

    fn apply_now(&self, commands: &[Command]) -> Vec<Outcome> {
        commands.iter().map(|command| self.apply_one(command)).collect()
    }

    fn apply_one(&self, command: &Command) -> Outcome {
        command.check_size()?;
        self.lock().entry(command.workspace.clone()).or_default().apply(command)
    }

    fn apply_with(&self, fault: Fault, commands: &[Command]) -> Result<Vec<Outcome>, StoreError> {
        match fault {
            Fault::BeforeWrite(kind) => Err(StoreError::new(kind, "a fault before the write")),
            Fault::AfterWrite => {
                self.apply_now(commands);
                Err(faults::outcome_unknown())
            }
            Fault::Torn { commands: written } => {
                self.apply_now(commands.get(..written).unwrap_or(commands));
                Err(faults::outcome_unknown())
            }
            Fault::Slow { .. } => Ok(self.apply_now(commands)),
        }
    }
}

impl Store for ModelStore {
    fn identity(&self) -> Identity {
        Identity { store: "model".to_owned(), history: "model".to_owned(), incarnation: 1 }
    }

    fn now(&self) -> UnixMs {
        self.clock.now()
    }

    fn apply(&self, commands: Vec<Command>) -> StoreFuture<'_, Vec<Outcome>> {
        Box::pin(async move {
            check_apply(commands.len())?;
            let Some(fault) = self.take_fault() else { return Ok(self.apply_now(&commands)) };
            fault.wait().await;
            self.apply_with(fault, &commands)
        })
    }
}
