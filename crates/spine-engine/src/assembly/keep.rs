//! Envelopes in the store: each with its digest in the log, and the reasons for what it carries beside it.

use spine_protocol::{Digest, Envelope, EnvelopeId};
use spine_store::{
    Applied, Change, Command, ErrorKind, EventDraft, IdempotencyRecord, Put, StoreError,
    StoredEnvelope, UnixMs,
};

use super::{Assembled, AssemblyError, Explanation, Handoffs, Result};
use crate::Caller;
use crate::idempotency;

impl Handoffs {
    /// Why each memory is or is not in an envelope that was assembled here.
    pub async fn explain(&self, caller: &Caller, id: EnvelopeId) -> Result<Explanation> {
        let stored = self.store.envelope(&caller.workspace, id).await?;
        let stored = stored.ok_or(AssemblyError::EnvelopeUnknown { id })?;
        // An envelope that was imported has no reasons on record.
        if stored.notes.is_empty() {
            return Ok(Explanation::default());
        }
        let damaged =
            |error: serde_json::Error| StoreError::new(ErrorKind::Corrupt, error.to_string());
        Ok(serde_json::from_slice(&stored.notes).map_err(damaged)?)
    }

    /// The answer of an earlier request under the same key.
    pub(super) async fn replayed(
        &self,
        caller: &Caller,
        request: &Digest,
    ) -> Result<Option<Assembled>> {
        match idempotency::known(self.store.as_ref(), caller).await? {
            Some(record) => Ok(Some(self.answer_of(caller, &record, request).await?)),
            None => Ok(None),
        }
    }

    async fn answer_of(
        &self,
        caller: &Caller,
        record: &IdempotencyRecord,
        request: &Digest,
    ) -> Result<Assembled> {
        if record.request != *request {
            return Err(AssemblyError::IdempotencyConflict);
        }
        let id: EnvelopeId = serde_json::from_slice(&record.answer)
            .map_err(|error| StoreError::new(ErrorKind::Corrupt, error.to_string()))?;
        let envelope = self.stored(caller, id).await?;
        Ok(Assembled { envelope, explanation: self.explain(caller, id).await? })
    }

    pub(super) async fn stored(&self, caller: &Caller, id: EnvelopeId) -> Result<Envelope> {
        let stored = self.store.envelope(&caller.workspace, id).await?;
        let stored = stored.ok_or(AssemblyError::EnvelopeUnknown { id })?;
        Ok(Envelope::read(&stored.bytes)?)
    }

    /// Stores the envelope, unless the same request was answered meanwhile: then that is the answer.
    pub(super) async fn kept(
        &self,
        caller: &Caller,
        made: Assembled,
        request: Digest,
        now: UnixMs,
    ) -> Result<Assembled> {
        let mut command = Command::new(caller.workspace.clone(), now);
        command.puts.push(Put::NewEnvelope(Box::new(to_store(&made)?)));
        command.events.push(event(caller, &made.envelope));
        command.idempotency = idempotency::record(caller, request, &made.envelope.id, now);
        for outcome in self.store.apply(vec![command]).await? {
            if let Applied::Before(record) = outcome? {
                return self.answer_of(caller, &record, &request).await;
            }
        }
        Ok(made)
    }
}

fn to_store(made: &Assembled) -> Result<StoredEnvelope> {
    let notes = serde_json::to_vec(&made.explanation)
        .map_err(|error| StoreError::new(ErrorKind::TooLarge, error.to_string()))?;
    let envelope = &made.envelope;
    Ok(StoredEnvelope {
        id: envelope.id,
        root: envelope.root,
        digest: envelope.digest,
        bytes: envelope.canonical_bytes().to_vec(),
        notes,
        change: Change::ZERO,
    })
}

/// The digest in the log is what tells a replaced envelope (R4).
fn event(caller: &Caller, envelope: &Envelope) -> EventDraft {
    let mut event = EventDraft::new("envelope.made");
    event.actor.clone_from(&caller.agent);
    event.envelope = Some(envelope.id);
    event.data.insert("digest".to_owned(), envelope.digest.to_string().into());
    event.data.insert("root".to_owned(), envelope.root.to_string().into());
    event
}
