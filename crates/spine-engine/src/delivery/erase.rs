//! Erasure: the texts of a memory, or everything of a subject, out of envelopes, results, notes and the log.
//!
//! What was erased is on record, so that a restored backup can be made to forget it again.

use serde::{Deserialize, Serialize};
use spine_protocol::{Envelope, EnvelopeId, MemoryId, Subject};
use spine_store::limits::PAGE_ROWS_MAX;
use spine_store::{
    Change, Collection, Command, ErrorKind, EventDraft, Filter, Put, Record, StoreError,
    StoredEnvelope, SubjectFilter, UnixMs, all_records,
};

use super::act::{read_record, to_record};
use super::agents::key;
use super::head::Head;
use super::limits::{ERASED_TOGETHER, RACE_ATTEMPTS_MAX};
use super::retention::Lineage;
use super::settle::check_reason;
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::erased;
use crate::memories::{ListRequest, MemoryError};

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forgotten {
    /// One memory.
    Memory(MemoryId),
    /// Everything about a subject.
    Subject(Subject),
}

/// An erasure that was done, or would be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Erasure {
    /// What.
    pub what: Forgotten,
    /// Why.
    pub reason: String,
    /// When.
    pub at: UnixMs,
    /// Memories of which every version is gone.
    pub memories: u32,
    /// Envelopes whose texts are gone.
    pub envelopes: u32,
    /// Lineages of which only skeletons are left.
    pub lineages: u32,
    /// Deliveries whose result, notes and checkpoint are gone.
    pub deliveries: u32,
}

impl Deliveries {
    /// Forgets a memory or a subject everywhere; or says what that would be.
    pub async fn erase(
        &self,
        caller: &Caller,
        what: Forgotten,
        reason: &str,
        dry_run: bool,
    ) -> Result<Erasure> {
        check_reason(reason)?;
        let at = self.store.now();
        let mut erasure = Erasure {
            what,
            reason: reason.to_owned(),
            at,
            memories: 0,
            envelopes: 0,
            lineages: 0,
            deliveries: 0,
        };
        // On record first: if this is broken off, whoever replays the list finishes it.
        let record = if dry_run { None } else { Some(self.note_erasure(caller, &erasure).await?) };
        self.erase_memories(caller, &mut erasure, dry_run).await?;
        if !dry_run {
            self.mark_erased(caller).await?;
        }
        self.erase_lineages(caller, &mut erasure, dry_run).await?;
        if let Some(record) = record {
            self.update_erasure(caller, &record, &erasure).await?;
        }
        Ok(erasure)
    }

    /// Every erasure of a workspace, oldest first.
    pub async fn erasures(&self, caller: &Caller) -> Result<Vec<Erasure>> {
        let records = all_records(&*self.store, &caller.workspace, Collection::Erasure).await?;
        records.iter().map(read_record).collect()
    }

    async fn erase_memories(
        &self,
        caller: &Caller,
        erasure: &mut Erasure,
        dry_run: bool,
    ) -> Result<()> {
        for id in self.memories_of(caller, &erasure.what).await? {
            if dry_run {
                erasure.memories += 1;
                continue;
            }
            match self.handoffs.memories().purge(caller, id).await {
                Ok(_) => erasure.memories += 1,
                // It never was, or not in this workspace: its texts may still be in envelopes from elsewhere.
                Err(MemoryError::Missing { .. }) => {}
                Err(MemoryError::Store(error)) => return Err(error.into()),
                Err(_) => return Err(DeliveryError::Contended),
            }
        }
        Ok(())
    }

    async fn memories_of(&self, caller: &Caller, what: &Forgotten) -> Result<Vec<MemoryId>> {
        let subject = match what {
            Forgotten::Memory(id) => return Ok(vec![*id]),
            Forgotten::Subject(subject) => subject.clone(),
        };
        let filter = Filter { subject: Some(SubjectFilter::Only(subject)), ..Filter::default() };
        let mut request = ListRequest { filter, limit: PAGE_ROWS_MAX, ..ListRequest::default() };
        let mut found = Vec::new();
        loop {
            let page = self.handoffs.memories().list(caller, request.clone()).await;
            let page = page.map_err(|error| match error {
                MemoryError::Store(error) => DeliveryError::from(error),
                other => StoreError::new(ErrorKind::Unavailable, other.to_string()).into(),
            })?;
            found.extend(page.items.iter().map(|memory| memory.id));
            request.after = page.next;
            if request.after.is_none() {
                return Ok(found);
            }
        }
    }

    /// Every lineage is looked at: an erasure is rare, and must not depend on an index that could be wrong.
    async fn erase_lineages(
        &self,
        caller: &Caller,
        erasure: &mut Erasure,
        dry_run: bool,
    ) -> Result<()> {
        let mut after: Option<EnvelopeId> = None;
        loop {
            let page = self.store.old_roots(&caller.workspace, after, PAGE_ROWS_MAX).await?;
            for root in page.items {
                self.erase_lineage(caller, root, erasure, dry_run).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn erase_lineage(
        &self,
        caller: &Caller,
        root: EnvelopeId,
        erasure: &mut Erasure,
        dry_run: bool,
    ) -> Result<()> {
        for _ in 0..RACE_ATTEMPTS_MAX {
            let lineage = self.read_lineage(caller, root).await?;
            let touched = touched(&lineage, &erasure.what)?;
            if touched.is_empty() {
                return Ok(());
            }
            let whole = matches!(erasure.what, Forgotten::Subject(_))
                && !lineage.is_open()
                && lineage.fits_one_command();
            let done = match (dry_run, whole) {
                (true, _) => true,
                (false, true) => self.prune(caller, &lineage, "erasure").await?,
                (false, false) => self.forget(caller, &lineage, &touched, &erasure.what).await?,
            };
            if done {
                erasure.lineages += u32::from(whole);
                erasure.envelopes += count(touched.len());
                erasure.deliveries += count(deliveries_of(&lineage, &touched).count());
                return Ok(());
            }
        }
        Err(DeliveryError::Contended)
    }

    /// Takes texts, results, notes and reasons out of what is still open, or mentions one memory. In several steps where it is
    /// much, from the end: an envelope is found again as long as it has its texts, so they go after what was said about it.
    async fn forget(
        &self,
        caller: &Caller,
        lineage: &Lineage,
        touched: &[EnvelopeId],
        what: &Forgotten,
    ) -> Result<bool> {
        let mut puts = Vec::new();
        for stored in lineage.envelopes.iter().filter(|stored| touched.contains(&stored.id)) {
            puts.push(Put::EraseEnvelopeTexts(stored.id, without_texts(stored, what)?));
            puts.push(Put::EraseEventReasons(stored.id));
        }
        let silent = |delivery| Put::Delivery(Box::new(silent(delivery).to_row()));
        puts.extend(deliveries_of(lineage, touched).map(silent));
        while !puts.is_empty() {
            let mut command = Command::new(caller.workspace.clone(), self.store.now());
            command.puts = puts.split_off(puts.len().saturating_sub(ERASED_TOGETHER));
            if puts.is_empty() {
                let mut event = EventDraft::new("lineage.erased");
                event.envelope = Some(lineage.root);
                event.data.note("envelopes", touched.len());
                command.events.push(event);
            }
            if self.apply_one(command).await?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Between the memories and the envelopes: an envelope that was made of them is either stored by now, and found, or
    /// never is. If another erasure was first, its mark does as well.
    async fn mark_erased(&self, caller: &Caller) -> Result<()> {
        let mark = erased::next_mark(self.store.as_ref(), &caller.workspace).await?;
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        command.puts.extend(mark.map(|mark| Put::Record(Box::new(mark))));
        self.apply_one(command).await.map(|_| ())
    }

    async fn note_erasure(&self, caller: &Caller, erasure: &Erasure) -> Result<Record> {
        // Names sort by time, and two of one moment have different ones.
        let name = format!("{:015}-{:016x}", erasure.at.0, self.random());
        let record = to_record(key(Collection::Erasure, &name)?, erasure, None);
        let mut command = Command::new(caller.workspace.clone(), erasure.at);
        command.puts.push(Put::Record(Box::new(record.clone())));
        let mut event = EventDraft::new("erasure.begun");
        event.actor.clone_from(&caller.agent);
        command.events.push(event);
        match self.apply_one(command).await? {
            Some(spine_store::Applied::Now(receipt)) => {
                Ok(Record { change: receipt.put_change(0), ..record })
            }
            _ => Err(DeliveryError::Contended),
        }
    }

    async fn update_erasure(
        &self,
        caller: &Caller,
        record: &Record,
        erasure: &Erasure,
    ) -> Result<()> {
        let after = to_record(record.key.clone(), erasure, Some(record));
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        command.puts.push(Put::Record(Box::new(after)));
        let mut event = EventDraft::new("erasure.done");
        event.actor.clone_from(&caller.agent);
        event.data.note("memories", erasure.memories);
        event.data.note("envelopes", erasure.envelopes);
        command.events.push(event);
        self.apply_one(command).await.map(|_| ())
    }
}

/// The envelopes of a lineage that hold something to forget.
fn touched(lineage: &Lineage, what: &Forgotten) -> Result<Vec<EnvelopeId>> {
    let mut touched = Vec::new();
    for stored in lineage.envelopes.iter().filter(|stored| !stored.pruned) {
        let holds = match what {
            Forgotten::Subject(subject) => {
                Head::of_stored(stored)?.subject.as_ref() == Some(subject)
            }
            Forgotten::Memory(id) => carries(stored, *id)?,
        };
        if holds {
            touched.push(stored.id);
        }
    }
    Ok(touched)
}

/// Whether an envelope has a text of this memory.
fn carries(stored: &StoredEnvelope, id: MemoryId) -> Result<bool> {
    let mention = format!("\"{id}\"");
    let mentioned = stored.bytes.windows(mention.len()).any(|part| part == mention.as_bytes());
    if !mentioned {
        return Ok(false);
    }
    let packed = |memory: &spine_protocol::PackedMemory| memory.id == id && memory.text.is_some();
    Ok(read(stored)?.memories.iter().any(packed))
}

fn without_texts(stored: &StoredEnvelope, what: &Forgotten) -> Result<Vec<u8>> {
    let erased = |id: MemoryId| match what {
        Forgotten::Memory(forgotten) => id == *forgotten,
        Forgotten::Subject(_) => true,
    };
    let silent = read(stored)?.without_texts(erased).map_err(|error| damaged(error.to_string()))?;
    Ok(silent.canonical_bytes().to_vec())
}

fn read(stored: &StoredEnvelope) -> Result<Envelope> {
    Ok(Envelope::read(&stored.bytes).map_err(|error| damaged(error.to_string()))?)
}

fn damaged(what: String) -> StoreError {
    StoreError::new(ErrorKind::Corrupt, what)
}

fn deliveries_of<'a>(
    lineage: &'a Lineage,
    touched: &'a [EnvelopeId],
) -> impl Iterator<Item = &'a Delivery> {
    lineage.deliveries.iter().filter(|delivery| touched.contains(&delivery.row.envelope))
}

/// A delivery without a word of what was said in it; the digest of the result stays.
fn silent(delivery: &Delivery) -> Delivery {
    let mut after = delivery.clone();
    debug_assert_ne!(after.row.change, Change::ZERO);
    after.row.result = None;
    after.story.checkpoint = None;
    after.story.refused = None;
    after.story.progress.clear();
    for attempt in &mut after.story.attempts {
        attempt.reason = None;
    }
    for parked in &mut after.story.parked {
        parked.reason = parked.cause.as_str().to_owned();
    }
    if let Some(ending) = &mut after.story.ending {
        (ending.reason, ending.question, ending.action, ending.why) = (None, None, None, None);
    }
    after
}

fn count(found: usize) -> u32 {
    u32::try_from(found).unwrap_or(u32::MAX)
}
