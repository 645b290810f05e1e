//! Envelopes in the store: each with its digest in the log, and the reasons for what it carries beside it.

use spine_protocol::{Digest, Envelope, EnvelopeId};
use spine_store::{
    Applied, Change, Command, ErrorKind, EventDraft, Expected, Guard, GuardFailure,
    IdempotencyRecord, Put, RowKey, StoreError, StoredEnvelope,
};

use super::{Assembled, AssemblyError, Explanation, Handoffs, Result};
use crate::Caller;
use crate::erased;
use crate::idempotency;
use crate::lineage::still_whole;
use crate::memories::Memories;

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
    pub(crate) async fn replayed(
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
        self.assembled(caller, id).await
    }

    /// An envelope that was assembled before, with its reasons.
    pub(crate) async fn assembled(&self, caller: &Caller, id: EnvelopeId) -> Result<Assembled> {
        let envelope = self.stored(caller, id).await?;
        let explanation = self.explain(caller, id).await?;
        Ok(Assembled { envelope, explanation, took_ms: None, newest_erasure: Change::ZERO })
    }

    pub(crate) fn memories(&self) -> &Memories {
        &self.memories
    }

    pub(crate) async fn stored(&self, caller: &Caller, id: EnvelopeId) -> Result<Envelope> {
        let stored = self.store.envelope(&caller.workspace, id).await?;
        let stored = stored.ok_or(AssemblyError::EnvelopeUnknown { id })?;
        if stored.pruned {
            return Err(AssemblyError::Pruned { id });
        }
        Ok(Envelope::read(&stored.bytes)?)
    }

    /// Stores the envelope with a note in the log, if there is one, unless the same request was answered meanwhile:
    /// then that is the answer.
    pub(crate) async fn kept(
        &self,
        caller: &Caller,
        made: Assembled,
        request: Digest,
        note: Option<EventDraft>,
    ) -> Result<Assembled> {
        let now = self.store.now();
        let mut command = Command::new(caller.workspace.clone(), now);
        made.add_to(caller, &mut command)?;
        command.events.extend(note.map(|note| made.noted(note)));
        command.idempotency = idempotency::record(caller, request, &made.envelope.id, now);
        for outcome in self.store.apply(vec![command]).await? {
            match outcome {
                Ok(Applied::Before(record)) => {
                    return self.answer_of(caller, &record, &request).await;
                }
                Ok(Applied::Now(_)) => {}
                Err(error) => return Err(pruned_meanwhile(error)),
            }
        }
        Ok(made)
    }
}

/// A parent that was looked at and is a skeleton now.
fn pruned_meanwhile(error: StoreError) -> AssemblyError {
    match error.guard() {
        Some(GuardFailure { key: RowKey::Envelope(id), expected: Expected::Live, .. }) => {
            AssemblyError::Pruned { id: *id }
        }
        _ => error.into(),
    }
}

impl Assembled {
    /// Adds the envelope to a command, which then depends on what it was made of: retention may prune its parents
    /// meanwhile, and a memory that it carries may be erased.
    pub fn add_to(&self, caller: &Caller, command: &mut Command) -> Result<()> {
        let stored_here = |id: EnvelopeId| {
            let same = |put: &Put| matches!(put, Put::NewEnvelope(other) if other.id == id);
            command.puts.iter().any(same)
        };
        let parents = self.envelope.parents.iter().map(|parent| parent.id);
        let elsewhere: Vec<Guard> =
            parents.filter(|id| !stored_here(*id)).map(still_whole).collect();
        command.guards.extend(elsewhere);
        if !self.envelope.memories.is_empty() {
            command.guards.extend(erased::nothing_since(self.newest_erasure));
        }
        command.puts.push(self.put()?);
        command.events.push(self.event(caller));
        Ok(())
    }

    /// What puts the envelope into the store, with the reasons for what it carries.
    fn put(&self) -> Result<Put> {
        let notes = serde_json::to_vec(&self.explanation)
            .map_err(|error| StoreError::new(ErrorKind::TooLarge, error.to_string()))?;
        let envelope = &self.envelope;
        Ok(Put::NewEnvelope(Box::new(StoredEnvelope {
            id: envelope.id,
            root: envelope.root,
            digest: envelope.digest,
            bytes: envelope.shared_bytes(),
            notes,
            pruned: false,
            change: Change::ZERO,
        })))
    }

    /// A note about this envelope.
    pub(crate) fn noted(&self, note: EventDraft) -> EventDraft {
        EventDraft { envelope: Some(self.envelope.id), ..note }
    }

    /// The event that belongs into the same command: the digest in the log is what tells a replaced envelope (R4).
    fn event(&self, caller: &Caller) -> EventDraft {
        let mut event = EventDraft::new("envelope.made");
        event.actor.clone_from(&caller.agent);
        event.envelope = Some(self.envelope.id);
        event.data.note("digest", &self.envelope.digest.to_string());
        event.data.note("target", self.envelope.target.as_str());
        self.took_ms.into_iter().for_each(|ms| event.data.note("took_ms", ms));
        event
    }
}
