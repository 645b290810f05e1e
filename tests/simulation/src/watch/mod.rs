//! What must never happen, looked for in every command that reaches the disk and in every answer. The watch reads the model store
//! and believes nothing that the engine says of itself.

mod answers;
mod deliveries;
mod end;
mod envelopes;
mod joins;
mod pruned;
mod rule;

use std::collections::{BTreeMap, BTreeSet};

use spine_engine::delivery::{Delivery, Fence};
use spine_protocol::{DeliveryId, EnvelopeId, WorkspaceName};
use spine_store::testing::{ModelStore, block_on};
use spine_store::{
    Command, DeliveryReads, DeliveryState, Identity, LogReads, Put, UnixMs, WorkspaceState,
};

use crate::disk::Meta;
pub use rule::{Rule, Violation};

/// A delivery as it was last seen.
#[derive(Debug, Clone)]
struct Seen {
    delivery: Delivery,
    /// Attempts that failed since it came to its agent.
    tried: u32,
}

/// A lease: which delivery, and the token.
type Token = (DeliveryId, String);

/// Whoever watches the disk.
pub struct Watch {
    history: String,
    rows: BTreeMap<(WorkspaceName, DeliveryId), Seen>,
    /// Every lease that was ever given, also before the data was set back.
    given: BTreeSet<Token>,
    /// Every lease that a receiver was told of.
    handed: BTreeSet<Token>,
    /// What the holders of a lease offered as results.
    offered: BTreeMap<Token, Vec<String>>,
    /// Everything that a sender was told is sent.
    promised: BTreeSet<(WorkspaceName, DeliveryId)>,
    envelopes: BTreeMap<EnvelopeId, u32>,
    /// Which delivery an envelope says it follows from.
    origins: BTreeMap<EnvelopeId, DeliveryId>,
    summaries: BTreeMap<String, u32>,
    joined: BTreeMap<String, DeliveryId>,
    /// Publications whose join is not made yet.
    to_be_joined: BTreeSet<String>,
    /// Envelopes that were pruned.
    skeletons: BTreeSet<(WorkspaceName, EnvelopeId)>,
    /// Deliveries that went with them.
    gone: BTreeSet<(WorkspaceName, DeliveryId)>,
    retried: u32,
    delayed: u32,
    violation: Option<Violation>,
}

impl Watch {
    /// Over an empty disk.
    pub fn new(history: &str) -> Self {
        Self {
            history: history.to_owned(),
            rows: BTreeMap::new(),
            given: BTreeSet::new(),
            handed: BTreeSet::new(),
            offered: BTreeMap::new(),
            promised: BTreeSet::new(),
            envelopes: BTreeMap::new(),
            origins: BTreeMap::new(),
            summaries: BTreeMap::new(),
            joined: BTreeMap::new(),
            to_be_joined: BTreeSet::new(),
            skeletons: BTreeSet::new(),
            gone: BTreeSet::new(),
            retried: 0,
            delayed: 0,
            violation: None,
        }
    }

    /// What was found, if anything.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Deliveries that were seen.
    pub fn deliveries(&self) -> usize {
        self.rows.len() + self.gone.len()
    }

    /// Something happened that must not. The first of them counts.
    pub fn fail(&mut self, rule: Rule, detail: String) {
        self.violation.get_or_insert(Violation { rule, detail });
    }

    fn check(&mut self, holds: bool, rule: Rule, detail: impl FnOnce() -> String) {
        if !holds && self.violation.is_none() {
            self.fail(rule, detail());
        }
    }

    /// The token of the newest lease on a delivery.
    fn token(&self, delivery: &Delivery) -> String {
        let identity = Identity {
            store: String::new(),
            history: self.history.clone(),
            incarnation: delivery.row.incarnation,
        };
        Fence::of_row(&delivery.row, &identity).to_string()
    }

    /// A command took effect.
    pub fn committed(&mut self, meta: &Meta, command: &Command, model: &ModelStore, now: UnixMs) {
        let at_home = meta.workspace.as_ref().is_none_or(|own| *own == command.workspace);
        self.check(at_home, Rule::Isolation, || {
            format!("a call of {:?} wrote to {}", meta.workspace, command.workspace)
        });
        for put in &command.puts {
            match put {
                Put::Delivery(row) => self.delivery_put(meta, command, row.id, model, now),
                Put::NewEnvelope(envelope) => self.envelope_put(command, envelope),
                Put::Record(record) => self.record_put(command, record, now),
                _ => {}
            }
        }
        self.check_pruned(command, model);
        self.check_handed_on(command);
    }

    /// The data was set back: what was promised since then went with it. Tokens of that time are still out there.
    pub fn set_back(&mut self, model: &ModelStore, history: &str) {
        let found = Self::new(history);
        let mut before = std::mem::replace(self, found);
        self.given = std::mem::take(&mut before.given);
        self.handed = std::mem::take(&mut before.handed);
        self.offered = std::mem::take(&mut before.offered);
        self.violation = before.violation.take();
        (self.retried, self.delayed) = (before.retried, before.delayed);
        for workspace in workspaces(model) {
            self.read_all(&workspace.name, model);
        }
        self.read_skeletons(&before, model);
        let kept = before.promised.into_iter().filter(|promise| self.rows.contains_key(promise));
        self.promised = kept.collect();
    }

    fn read_all(&mut self, workspace: &WorkspaceName, model: &ModelStore) {
        let rows = all_rows(workspace, model).into_iter();
        for delivery in rows.filter_map(|row| Delivery::of_row(row).ok()) {
            let (id, tried) = (delivery.row.id, delivery.story.spent);
            self.rows.insert((workspace.clone(), id), Seen { delivery, tried });
        }
        self.read_envelopes(workspace, model);
        self.read_publications(workspace, model);
    }
}

fn workspaces(model: &ModelStore) -> Vec<WorkspaceState> {
    block_on(model.workspaces(None, 100)).map(|page| page.items).unwrap_or_default()
}

fn all_rows(workspace: &WorkspaceName, model: &ModelStore) -> Vec<spine_store::Delivery> {
    let query = spine_store::DeliveryQuery { limit: 1000, ..Default::default() };
    let page = block_on(model.list_deliveries(workspace, query));
    page.map(|page| page.items).unwrap_or_default()
}

fn is_held(delivery: &Delivery) -> bool {
    matches!(delivery.state(), DeliveryState::Leased | DeliveryState::Accepted)
}
