//! What may become an envelope, and how it hangs together with the delivery it came from.

use spine_protocol::{DeliveryId, Envelope, WorkspaceName};
use spine_store::testing::{ModelStore, block_on};
use spine_store::{Command, DeliveryReads, DeliveryState, EnvelopeReads, Put, StoredEnvelope};

use super::{Rule, Watch};

/// Summaries of requests that must each be made once start with one of these.
const ONCE: [&str; 5] = ["send ", "next ", "join ", "again ", PIPELINE];
const PIPELINE: &str = "line ";

impl Watch {
    pub(super) fn envelope_put(&mut self, command: &Command, stored: &StoredEnvelope) {
        let Ok(envelope) = Envelope::read(&stored.bytes) else {
            return self.fail(Rule::Hops, format!("{} cannot be read", stored.id));
        };
        let parents = envelope.parents.iter().filter_map(|parent| self.envelopes.get(&parent.id));
        let expected = parents.max().map_or(1, |hop| hop + 1);
        let (hop, most) = (envelope.hop, envelope.max_hops);
        self.check(hop == expected && hop <= most, Rule::Hops, || {
            format!("{} has hop {hop} of {most}, expected {expected}", stored.id)
        });
        self.envelopes.insert(stored.id, hop);
        self.check_parents(command, &envelope);
        self.count(&envelope);
        if let Some(id) = origin_of(&envelope.task.summary) {
            self.origins.insert(stored.id, id);
        }
    }

    fn count(&mut self, envelope: &Envelope) {
        let mut summary = envelope.task.summary.clone();
        if summary.starts_with(PIPELINE) {
            // Every step of a pipeline has the same one.
            summary = format!("{summary} at hop {}", envelope.hop);
        }
        let made = self.summaries.entry(summary.clone()).or_default();
        *made += 1;
        let once = *made == 1 || !ONCE.iter().any(|start| summary.starts_with(start));
        let rule = if summary.starts_with("join ") { Rule::JoinOnce } else { Rule::OncePerRequest };
        self.check(once, rule, || format!("{summary:?} was made twice"));
    }

    /// Whether a request with this summary has led to anything.
    pub(super) fn is_made(&self, summary: &str) -> bool {
        self.summaries.contains_key(summary)
    }

    pub(super) fn check_handed_on(&mut self, command: &Command) {
        for put in &command.puts {
            match put {
                Put::Delivery(row) => self.check_next(command, row.id),
                Put::NewEnvelope(envelope) => self.check_origin(command, envelope),
                _ => {}
            }
        }
    }

    /// A delivery that is done into a next one: that one is there.
    fn check_next(&mut self, command: &Command, id: DeliveryId) {
        let seen = self.rows.get(&(command.workspace.clone(), id));
        let next = seen.and_then(|seen| seen.delivery.story.next());
        let Some(next) = next else { return };
        let sent = self.rows.values().any(|seen| seen.delivery.row.envelope == next);
        let there = self.envelopes.contains_key(&next) && sent;
        self.check(there, Rule::NextIsAtomic, || format!("{id} went on into {next}, not there"));
    }

    /// An envelope that follows from a delivery: that one is done, into this.
    fn check_origin(&mut self, command: &Command, stored: &StoredEnvelope) {
        let Some(id) = self.origins.get(&stored.id).copied() else { return };
        let seen = self.rows.get(&(command.workspace.clone(), id));
        let done = seen.is_some_and(|seen| {
            seen.delivery.state() == DeliveryState::Done
                && seen.delivery.story.next() == Some(stored.id)
        });
        self.check(done, Rule::NextIsAtomic, || format!("{} came of {id}, not done", stored.id));
    }

    pub(super) fn read_envelopes(&mut self, workspace: &WorkspaceName, model: &ModelStore) {
        // Also those of which nothing was sent: they can be sent later.
        let roots = block_on(model.old_roots(workspace, None, 1000));
        for root in roots.map(|page| page.items).unwrap_or_default() {
            let page = block_on(model.lineage(workspace, root, None, 1000));
            for stored in page.map(|page| page.items).unwrap_or_default() {
                if let Ok(envelope) = Envelope::read(&stored.bytes) {
                    self.envelopes.insert(stored.id, envelope.hop);
                    self.count(&envelope);
                }
            }
        }
    }
}

/// The delivery that a handoff says it follows from.
fn origin_of(summary: &str) -> Option<DeliveryId> {
    let (id, _) = summary.strip_prefix("next ")?.split_once(' ')?;
    id.parse().ok()
}
