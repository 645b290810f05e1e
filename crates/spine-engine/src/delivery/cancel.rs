//! Calling off: one delivery, or whatever is open of a whole lineage.

use spine_protocol::{DeliveryId, EnvelopeId};
use spine_store::{Command, EventDraft, Put, Record};

use super::act::{Act, read_record};
use super::channel::{Publication, is_to_be_joined};
use super::limits::{BATCH_MAX, RACE_ATTEMPTS_MAX};
use super::machine::Event;
use super::review::by;
use super::settle::check_reason;
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;

impl Deliveries {
    /// The sender wants it no more.
    pub async fn cancel(&self, caller: &Caller, id: DeliveryId, reason: &str) -> Result<Delivery> {
        check_reason(reason)?;
        self.act_once(caller, "cancel", &reason, cancelling(caller, id, reason)).await
    }

    /// Nothing of the whole lineage is wanted any more; what is done stays done. Work that is handed on meanwhile is
    /// looked for again, until there is none.
    pub async fn cancel_lineage(
        &self,
        caller: &Caller,
        envelope: EnvelopeId,
        reason: &str,
    ) -> Result<Vec<Delivery>> {
        check_reason(reason)?;
        let root = self.head(caller, envelope).await?.root;
        let mut cancelled = Vec::new();
        for _ in 0..RACE_ATTEMPTS_MAX {
            let mut open = self.lineage_deliveries(caller, root).await?;
            // Joins first: the end of the last part would make them.
            let joins = self.publications_of(caller, &open).await?;
            let joins: Vec<Record> = joins.into_iter().filter(is_to_be_joined).collect();
            open.retain(|delivery| delivery.state().waits());
            if open.is_empty() && joins.is_empty() {
                return Ok(cancelled);
            }
            for record in &joins {
                self.cancel_join(caller, record, reason).await?;
            }
            for some in open.chunks(BATCH_MAX) {
                let acts = some.iter().map(|one| cancelling(caller, one.row.id, reason)).collect();
                let outcomes = self.act_many(&caller.workspace, acts).await?;
                // One that was done meanwhile is no failure.
                cancelled.extend(outcomes.into_iter().filter_map(std::result::Result::ok));
            }
        }
        Err(DeliveryError::Contended)
    }

    async fn cancel_join(&self, caller: &Caller, record: &Record, reason: &str) -> Result<()> {
        let publication = Publication { join: None, ..read_record(record)? };
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        command.puts.push(Put::Record(Box::new(publication.to_record(Some(record))?)));
        let mut event = EventDraft::new("publication.join_cancelled");
        event.actor.clone_from(&caller.agent);
        event.envelope = Some(publication.envelope);
        event.data.note("publication", &publication.id.to_string());
        event.data.note("reason", reason);
        command.events.push(event);
        // Where it was made meanwhile, that is found when the lineage is looked at again.
        self.apply_one(command).await.map(|_| ())
    }
}

fn cancelling(caller: &Caller, id: DeliveryId, reason: &str) -> Act {
    Act::new(caller, id, Event::Cancel(by(caller, reason))).noting("reason", reason)
}
