//! Retention: whole lineages, all of it over, and nothing goes on from a skeleton.

use std::collections::BTreeSet;

use spine_protocol::{Envelope, EnvelopeId};
use spine_store::testing::{ModelStore, block_on};
use spine_store::{
    Collection, Command, DeliveryReads, EnvelopeReads, Put, RecordKey, StoredEnvelope,
};

use super::{Rule, Watch};

/// What is left of a lineage is looked at in one go.
const ROWS_MAX: usize = 1_000;

impl Watch {
    /// A command that may have pruned something took effect.
    pub(super) fn check_pruned(&mut self, command: &Command, model: &ModelStore) {
        let mut roots = BTreeSet::new();
        for put in &command.puts {
            match put {
                Put::PruneEnvelope(id, _) => {
                    let stored = block_on(model.envelope(&command.workspace, *id)).ok().flatten();
                    roots.extend(stored.map(|stored| stored.root));
                    self.skeletons.insert((command.workspace.clone(), *id));
                }
                Put::DropDelivery(id, _) => {
                    let key = (command.workspace.clone(), *id);
                    let seen = self.rows.remove(&key);
                    let over = seen.is_some_and(|seen| !seen.delivery.state().waits());
                    self.check(over, Rule::PrunedIsOver, || format!("{id} was open"));
                    self.promised.remove(&key);
                    self.gone.insert(key);
                }
                Put::DropRecord(key, _) => self.check_dropped(key),
                _ => {}
            }
        }
        roots.into_iter().for_each(|root| self.check_whole(command, root, model));
    }

    fn check_dropped(&mut self, key: &RecordKey) {
        let joined = !self.to_be_joined.contains(key.name.as_str());
        let fits = key.collection != Collection::Publication || joined;
        self.check(fits, Rule::PrunedIsOver, || format!("{key:?} was still to be joined"));
    }

    fn check_whole(&mut self, command: &Command, root: EnvelopeId, model: &ModelStore) {
        let workspace = &command.workspace;
        let envelopes = block_on(model.lineage(workspace, root, None, ROWS_MAX));
        let whole = envelopes.is_ok_and(|page| page.items.iter().all(|stored| stored.pruned));
        let deliveries = block_on(model.lineage_deliveries(workspace, root, None, ROWS_MAX));
        let empty = deliveries.is_ok_and(|page| page.items.is_empty());
        self.check(whole && empty, Rule::PrunedIsOver, || {
            format!("a part of {root} was left (envelopes whole: {whole}, deliveries: {empty})")
        });
    }

    /// An envelope is new: none of its parents is a skeleton.
    pub(super) fn check_parents(&mut self, command: &Command, envelope: &Envelope) {
        for parent in &envelope.parents {
            let whole = !self.skeletons.contains(&(command.workspace.clone(), parent.id));
            self.check(whole, Rule::PrunedIsOver, || {
                format!("{} goes on from the skeleton {}", envelope.id, parent.id)
            });
        }
    }

    /// Skeletons that are ones also after the data was set back.
    pub(super) fn read_skeletons(&mut self, before: &Self, model: &ModelStore) {
        let stored = |(workspace, id): &(_, EnvelopeId)| {
            block_on(model.envelope(workspace, *id)).ok().flatten()
        };
        let is_skeleton = |key: &&(_, EnvelopeId)| {
            stored(key).is_some_and(|stored: StoredEnvelope| stored.pruned)
        };
        self.skeletons = before.skeletons.iter().filter(is_skeleton).cloned().collect();
        let back = |key: &&(_, _)| !self.rows.contains_key(*key);
        self.gone = before.gone.iter().filter(back).cloned().collect();
    }
}
