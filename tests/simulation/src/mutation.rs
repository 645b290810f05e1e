//! Engines that are broken on purpose, one rule each, to show that the watch would notice. The product has no hooks for this: what
//! a careless engine would have written or read is put between the engine and its store.

use spine_engine::delivery::Delivery as Told;
use spine_store::testing::{ModelStore, block_on};
use spine_store::{
    Collection, Command, Delivery, DeliveryReads, DeliveryState, Put, RecordReads, RowKey,
};

use crate::disk::Meta;

/// How the engine is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mutation {
    /// Not at all.
    #[default]
    None,
    /// Whoever speaks for a lease is believed, whichever it is.
    EpochIgnored,
    /// A lease given before a restart or a restore is numbered like one given after it.
    IncarnationIgnored,
    /// Some answers are given for what was never written.
    AnswerBeforeCommit,
    /// What is to be tried again is tried at once.
    BackoffLost,
    /// Whoever finds a join ready makes it.
    JoinUnguarded,
    /// Completing and handing on are two steps.
    NextSplit,
    /// Attempts are not counted.
    AttemptsUncounted,
    /// Whoever writes last wins.
    GuardsIgnored,
    /// A repeated request is a new one.
    KeysIgnored,
    /// An order key orders nothing.
    OrderIgnored,
    /// Nobody looks at the breaker before taking work.
    BreakerIgnored,
    /// Nobody looks whether an agent is paused.
    PauseIgnored,
    /// An id is looked up in every workspace.
    WorkspacesMixed,
    /// The end of a part does not wake its publication.
    WakesLost,
    /// Nobody looks at leases again.
    LeaseEndForgotten,
    /// What is pruned is what was read, whatever came meanwhile.
    PruningUnguarded,
    /// What was looked at is taken to be there still.
    ParentsUnguarded,
}

impl Mutation {
    /// Every broken engine.
    pub const ALL: [Self; 17] = [
        Self::EpochIgnored,
        Self::IncarnationIgnored,
        Self::AnswerBeforeCommit,
        Self::BackoffLost,
        Self::JoinUnguarded,
        Self::NextSplit,
        Self::AttemptsUncounted,
        Self::GuardsIgnored,
        Self::KeysIgnored,
        Self::OrderIgnored,
        Self::BreakerIgnored,
        Self::PauseIgnored,
        Self::WorkspacesMixed,
        Self::WakesLost,
        Self::LeaseEndForgotten,
        Self::PruningUnguarded,
        Self::ParentsUnguarded,
    ];

    /// What the broken engine would have written instead.
    pub fn commands(self, mut command: Command, meta: &Meta, model: &ModelStore) -> Vec<Command> {
        match self {
            Self::AnswerBeforeCommit if command.at.0 % 16 == 0 => return Vec::new(),
            Self::NextSplit if hands_on(&command) => return split(command),
            Self::KeysIgnored => command.idempotency = None,
            Self::PruningUnguarded => {
                command.guards.retain(|guard| !matches!(guard.key, RowKey::Lineage(_)));
            }
            Self::ParentsUnguarded => {
                command.guards.retain(|guard| !matches!(guard.key, RowKey::Envelope(_)));
            }
            Self::WakesLost => command.puts.retain(|put| !matches!(put, Put::WakeRecord(..))),
            _ => {}
        }
        let workspace = command.workspace.clone();
        let at = command.at;
        for put in &mut command.puts {
            match put {
                Put::Delivery(row) => {
                    let found = block_on(model.deliveries(&workspace, vec![row.id]));
                    let stored = found.ok().and_then(|mut rows| rows.pop());
                    self.spoil(row, stored.as_ref(), meta, at);
                }
                Put::Record(record) if self == Self::JoinUnguarded => {
                    let found = block_on(model.records(&workspace, vec![record.key.clone()]));
                    let stored = found.ok().and_then(|mut rows| rows.pop());
                    let publication = record.key.collection == Collection::Publication;
                    if let Some(stored) = stored.filter(|_| publication) {
                        record.change = stored.change;
                    }
                }
                _ => {}
            }
        }
        vec![command]
    }

    fn spoil(
        self,
        row: &mut Delivery,
        stored: Option<&Delivery>,
        meta: &Meta,
        at: spine_store::UnixMs,
    ) {
        let held = matches!(row.state, DeliveryState::Leased | DeliveryState::Accepted);
        match (self, stored) {
            (Self::EpochIgnored, Some(stored)) if speaks_for(meta, row) => {
                (row.epoch, row.incarnation) = (stored.epoch, stored.incarnation);
            }
            (Self::GuardsIgnored, Some(stored)) => row.change = stored.change,
            (Self::BackoffLost, _) if row.state == DeliveryState::Pending => {
                row.visible_at = row.visible_at.min(at);
            }
            (Self::LeaseEndForgotten, _) if held => row.due_at = None,
            (Self::AttemptsUncounted, _) => {
                if let Ok(mut told) = Told::of_row(row.clone()) {
                    told.story.spent = 0;
                    *row = told.to_row();
                }
            }
            _ => {}
        }
    }

    /// What the broken engine would have made of what it read.
    pub fn read(self, row: &mut Delivery, meta: &Meta) {
        if let (Self::EpochIgnored, Some((id, fence))) = (self, &meta.shown)
            && row.id == *id
        {
            (row.epoch, row.incarnation) = (fence.epoch, fence.incarnation);
        }
    }

    /// Whether it never looks at such records.
    pub fn overlooks(self, collection: Collection) -> bool {
        match collection {
            Collection::Breaker => self == Self::BreakerIgnored,
            Collection::Agent => self == Self::PauseIgnored,
            _ => false,
        }
    }
}

fn speaks_for(meta: &Meta, row: &Delivery) -> bool {
    meta.shown.as_ref().is_some_and(|(id, _)| *id == row.id)
}

fn hands_on(command: &Command) -> bool {
    let done = |put: &Put| matches!(put, Put::Delivery(row) if row.state == DeliveryState::Done);
    command.puts.first().is_some_and(done)
        && command.puts.iter().any(|put| matches!(put, Put::NewEnvelope(_)))
}

fn split(mut command: Command) -> Vec<Command> {
    let mut rest = command.clone();
    rest.puts.remove(0);
    command.puts.truncate(1);
    rest.events.clear();
    rest.idempotency = None;
    vec![command, rest]
}
