//! `agent_handoff()`: turns "hand this to the code generator" into the best envelope that fits.

mod choose;
mod counter;
mod error;
mod explain;
mod gather;
mod gathering;
mod guard;
mod keep;
pub mod limits;
mod offer;
mod pack;
mod redundancy;
mod request;
mod settings;
mod shortlist;
mod useful;
mod value;

use std::sync::Arc;

use spine_protocol::{
    Digest, Envelope, EnvelopeId, Gap, MemoryId, Packing, ReadError, Salt, SealError, Source,
    Stamp, Subject, Unsealed, derive,
};
use spine_store::{Filter, Memory, STAGE_TARGET, Store, SubjectFilter, UnixMs};
use tracing::{Instrument, info_span};

pub use error::{AssemblyError, PartTokens};
pub use explain::{Explanation, MemoryExplanation, WeighedLevel};
pub use request::{Assembled, HandoffRequest};
pub use value::{RECENCY_HALF_LIFE_DAYS, Usefulness};

use crate::Caller;
use crate::entropy::Entropy;
use crate::erased;
use crate::idempotency::request_digest;
use crate::memories::{ListRequest, Memories, MemoryError};
use crate::patience::Timer;
use counter::Counter;
use gather::References;
use gathering::Gathering;
pub(crate) use guard::{forbid_secrets, redact_memory};
use guard::{guard_envelope, is_guarded, redact};
use limits::{PARENTS_MAX, PINS_MAX};
use pack::{Gathered, gap, pack};
use settings::Settings;

type Result<T> = std::result::Result<T, AssemblyError>;

/// Kept free on a second try, should the first come out a token too large.
const RESERVE_TOKENS: u32 = 16;

/// Makes envelopes and stores them; sends nothing.
#[derive(Clone)]
pub struct Handoffs {
    store: Arc<dyn Store>,
    memories: Memories,
    entropy: Arc<Entropy>,
    timer: Arc<dyn Timer>,
    counter: Arc<Counter>,
}

impl Handoffs {
    /// Over a store, its memories, a source of ids and salts, and a timer.
    pub fn new(
        store: Arc<dyn Store>,
        memories: Memories,
        entropy: Arc<Entropy>,
        timer: Arc<dyn Timer>,
    ) -> Self {
        Self { store, memories, entropy, timer, counter: Arc::default() }
    }

    /// Gathers, packs to the budget, seals and stores.
    pub async fn assemble(&self, caller: &Caller, request: HandoffRequest) -> Result<Assembled> {
        let digest = request_digest(caller, "assemble", &(&caller.agent, &request));
        if let Some(answer) = self.replayed(caller, &digest).await? {
            return Ok(answer);
        }
        let made = self.prepare(caller, request).await?;
        self.kept(caller, made, digest, None).await
    }

    /// The same without storing: for whoever puts the envelope into a larger command of its own.
    pub async fn prepare(&self, caller: &Caller, request: HandoffRequest) -> Result<Assembled> {
        self.prepare_with(caller, request, &[]).await
    }

    /// The same with parents that are not stored yet: those in `made` are looked at first.
    pub async fn prepare_with(
        &self,
        caller: &Caller,
        request: HandoffRequest,
        made: &[Envelope],
    ) -> Result<Assembled> {
        let span = info_span!(
            target: STAGE_TARGET,
            "assemble",
            gen_ai.agent.name = request.target.as_str(),
            gen_ai.memory.store.id = caller.workspace.as_str(),
        );
        self.prepared(caller, request, made).instrument(span).await
    }

    async fn prepared(
        &self,
        caller: &Caller,
        mut request: HandoffRequest,
        made: &[Envelope],
    ) -> Result<Assembled> {
        request.check()?;
        let now = self.store.now();
        let newest_erasure = erased::newest(self.store.as_ref(), &caller.workspace).await?;
        let parents = self.parents(caller, &request.parents, made).await?;
        request.stay_in_trace(&parents);
        let mut unsealed = self.derived(caller, &request, &parents, now)?;
        let guarded = is_guarded(&unsealed);
        let redactions = if guarded { guard_envelope(&mut unsealed)? } else { Vec::new() };
        let (mut gathered, degraded) =
            self.gathered(caller, &request, &unsealed, &parents, now).await?;
        gathered.redactions = redactions;
        if guarded {
            gathered.offers.iter_mut().for_each(redact);
        }
        let (envelope, explanation) = self.sealed(&request, unsealed, gathered)?;
        let explanation = Explanation { degraded, ..explanation };
        let took_ms = u64::try_from(self.store.now().0 - now.0).ok();
        Ok(Assembled { envelope, explanation, took_ms, newest_erasure })
    }

    async fn parents(
        &self,
        caller: &Caller,
        ids: &[EnvelopeId],
        made: &[Envelope],
    ) -> Result<Vec<Envelope>> {
        if ids.len() > PARENTS_MAX {
            let problem = format!("expected at most {PARENTS_MAX}, got {}", ids.len());
            return Err(ReadError::at("/parents", problem).into());
        }
        let mut parents = Vec::with_capacity(ids.len());
        for id in ids {
            parents.push(match made.iter().find(|made| made.id == *id) {
                Some(made) => made.clone(),
                None => self.stored(caller, *id).await?,
            });
        }
        Ok(parents)
    }

    fn derived(
        &self,
        caller: &Caller,
        request: &HandoffRequest,
        parents: &[Envelope],
        now: UnixMs,
    ) -> Result<Unsealed> {
        let from = caller.agent.clone().ok_or(AssemblyError::SenderUnknown)?;
        let id =
            EnvelopeId::from_parts(u64::try_from(now.0).unwrap_or_default(), self.entropy.next());
        let created_at = now
            .to_timestamp()
            .ok_or_else(|| ReadError::at("/created_at", "the clock is beyond all years"))?;
        let asked = request.to_protocol(caller.workspace.clone(), from);
        Ok(derive(parents, asked, Stamp { id, created_at })?)
    }

    async fn gathered(
        &self,
        caller: &Caller,
        request: &HandoffRequest,
        unsealed: &Unsealed,
        parents: &[Envelope],
        now: UnixMs,
    ) -> Result<(Gathered, Vec<String>)> {
        let body = unsealed.body();
        let mut references = References::of(request, body, parents);
        references.ask_again(parents);
        let filter =
            Filter { subject: Some(subject_filter(body.subject.as_ref())), ..Filter::default() };
        // The store reads while the search computes.
        let (pins, lookups, found) = tokio::join!(
            self.pins(caller, request, filter.clone()),
            self.memories.look_up(caller, references.ids()),
            self.found(caller, request, body, filter.clone(), now),
        );
        let degraded = found.degraded.clone();
        let mut gathering = Gathering::new(found, now);
        let (pins, more_pins) = pins?;
        for memory in pins {
            gathering.offer(memory, Source::Pinned);
        }
        for lookup in lookups.map_err(from_memories)? {
            gathering.resolve(lookup, &references, &filter);
        }
        self.offer_useful(caller, request, filter, &mut gathering).await;
        let mut notices: Vec<Gap> = references.cut.iter().map(|cut| gap(cut, "too many")).collect();
        notices.extend(more_pins.then(|| gap("older pinned memories", "too many")));
        notices.extend(
            gathering.search_failed().then(|| gap("relevant memories", "search unavailable")),
        );
        let (requested, gaps) = (gathering.requested, std::mem::take(&mut gathering.gaps));
        let offers = gathering.into_offers();
        Ok((Gathered { offers, gaps, notices, requested, redactions: Vec::new() }, degraded))
    }

    /// The newest pins, and whether there are more than can travel.
    async fn pins(
        &self,
        caller: &Caller,
        request: &HandoffRequest,
        filter: Filter,
    ) -> Result<(Vec<Memory>, bool)> {
        let mut pins = Vec::new();
        if !request.include_pins {
            return Ok((pins, false));
        }
        let filter = Filter { pinned: Some(true), ..filter };
        let mut list = ListRequest { filter, ..ListRequest::default() };
        while pins.len() < PINS_MAX {
            list.limit = PINS_MAX - pins.len();
            let page = self.memories.list(caller, list.clone()).await.map_err(from_memories)?;
            pins.extend(page.items);
            list.after = page.next;
            if list.after.is_none() {
                return Ok((pins, false));
            }
        }
        Ok((pins, true))
    }

    fn sealed(
        &self,
        request: &HandoffRequest,
        unsealed: Unsealed,
        gathered: Gathered,
    ) -> Result<(Envelope, Explanation)> {
        let secret = self.entropy.next();
        let salt = |id: MemoryId| salt_of(secret, id);
        let mut settings = Settings {
            strategy: request.strategy.clone(),
            tokenizer: request.tokenizer.clone(),
            format: request.format.clone(),
            salt: &salt,
            counter: &self.counter,
            reserve_tokens: 0,
        };
        let (packing, explanation) = pack(&unsealed, gathered.clone(), &settings)?;
        match unsealed.clone().seal(packing) {
            Err(SealError::OverBudget { .. }) => {
                settings.reserve_tokens = RESERVE_TOKENS;
                let (packing, explanation): (Packing, Explanation) =
                    pack(&unsealed, gathered, &settings)?;
                Ok((unsealed.seal(packing)?, explanation))
            }
            sealed => Ok((sealed?, explanation)),
        }
    }
}

/// A salt for one memory of one envelope, from the envelope's own secret.
fn salt_of(secret: u128, id: MemoryId) -> Salt {
    let digest = Digest::of(&[&secret.to_be_bytes(), &id.number().to_be_bytes()]);
    Salt::from_random(digest.first_128_bits())
}

fn from_memories(error: MemoryError) -> AssemblyError {
    match error {
        MemoryError::Store(error) => error.into(),
        other => ReadError::at("/memory_refs", other.to_string()).into(),
    }
}

/// What a handoff may draw on: its own subject's memories and nobody's in particular, never another's (R11).
pub(crate) fn subject_filter(subject: Option<&Subject>) -> SubjectFilter {
    subject.map_or(SubjectFilter::General, |subject| SubjectFilter::OrGeneral(subject.clone()))
}
