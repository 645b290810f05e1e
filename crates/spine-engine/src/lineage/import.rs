//! An envelope that was made elsewhere: taken in if it keeps the rules.

use spine_protocol::{Digest, Envelope, EnvelopeId};
use spine_store::{
    Applied, Change, Command, EventDraft, IdempotencyRecord, Put, RowKey, StoredEnvelope,
};

use super::{LineageError, Lineages, Result, still_whole};
use crate::Caller;
use crate::idempotency;

impl Lineages {
    /// Stores a foreign envelope under its own id. The same one twice is once.
    pub async fn import(&self, caller: &Caller, bytes: &[u8]) -> Result<Envelope> {
        let envelope = Envelope::read(bytes).map_err(spine_protocol::RuleError::from)?;
        let request = Digest::of(&[b"import\n", envelope.canonical_bytes()]);
        if let Some(known) = idempotency::known(self.store.as_ref(), caller).await? {
            return self.imported_before(caller, &known, &request).await;
        }
        if envelope.workspace != caller.workspace {
            let workspace = envelope.workspace.clone();
            return Err(LineageError::WorkspaceDiffers { workspace });
        }
        let parents = self.known_parents(caller, &envelope).await?;
        let envelope = Envelope::import(bytes, &parents)?;
        self.keep(caller, envelope, request).await
    }

    /// Those that are here; the rules name the ones that are not.
    async fn known_parents(&self, caller: &Caller, child: &Envelope) -> Result<Vec<Envelope>> {
        let mut parents = Vec::with_capacity(child.parents.len());
        for parent in &child.parents {
            match self.envelope(caller, parent.id).await {
                Err(LineageError::EnvelopeUnknown { .. }) => {}
                found => parents.push(found?),
            }
        }
        Ok(parents)
    }

    async fn keep(&self, caller: &Caller, envelope: Envelope, request: Digest) -> Result<Envelope> {
        let now = self.store.now();
        let mut command = Command::new(caller.workspace.clone(), now);
        command.guards.extend(envelope.parents.iter().map(|parent| still_whole(parent.id)));
        command.puts.push(Put::NewEnvelope(Box::new(row(&envelope))));
        command.events.push(event(caller, &envelope));
        command.idempotency = idempotency::record(caller, request, &envelope.id, now);
        let outcome = self.store.apply(vec![command]).await?.pop().transpose();
        match outcome {
            Ok(Some(Applied::Before(known))) => {
                self.imported_before(caller, &known, &request).await
            }
            Ok(_) => Ok(envelope),
            Err(error) => match error.guard().map(|failure| &failure.key) {
                Some(RowKey::Envelope(id)) if *id != envelope.id => {
                    Err(LineageError::Pruned { id: *id })
                }
                Some(_) => self.same_as_stored(caller, envelope).await,
                None => Err(error.into()),
            },
        }
    }

    /// Somebody brought one in under this id already.
    async fn same_as_stored(&self, caller: &Caller, envelope: Envelope) -> Result<Envelope> {
        let stored = self.envelope(caller, envelope.id).await?;
        if stored.digest == envelope.digest {
            return Ok(stored);
        }
        Err(LineageError::EnvelopeExists { id: envelope.id })
    }

    async fn imported_before(
        &self,
        caller: &Caller,
        known: &IdempotencyRecord,
        request: &Digest,
    ) -> Result<Envelope> {
        let id: Option<EnvelopeId> = serde_json::from_slice(&known.answer).ok();
        match id.filter(|_| known.request == *request) {
            Some(id) => self.envelope(caller, id).await,
            None => Err(LineageError::IdempotencyConflict),
        }
    }
}

fn row(envelope: &Envelope) -> StoredEnvelope {
    StoredEnvelope {
        id: envelope.id,
        root: envelope.root,
        digest: envelope.digest,
        bytes: envelope.shared_bytes(),
        notes: Vec::new(),
        pruned: false,
        change: Change::ZERO,
    }
}

fn event(caller: &Caller, envelope: &Envelope) -> EventDraft {
    let mut event = EventDraft::new("envelope.imported");
    event.actor.clone_from(&caller.agent);
    event.envelope = Some(envelope.id);
    event.data.note("digest", &envelope.digest.to_string());
    event
}
