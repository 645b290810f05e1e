//! `agent_handoff()`: turns "hand this to the code generator" into the best envelope that fits.

mod choose;
mod error;
mod explain;
mod gather;
pub mod limits;
mod offer;
mod pack;
mod request;
mod settings;
mod value;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use spine_protocol::{
    Envelope, EnvelopeId, Gap, MemoryId, Packing, ReadError, Salt, SealError, Source, Stamp, Unsealed, derive,
};
use spine_store::{
    Command, EventDraft, Filter, Kind, Memory, Put, Store, StoredEnvelope, SubjectFilter, UnixMs,
};

pub use error::{AssemblyError, PartTokens};
pub use explain::{Explanation, MemoryExplanation, WeighedLevel};
pub use request::{Assembled, HandoffRequest};
pub use value::{RECENCY_HALF_LIFE_DAYS, Usefulness};

use crate::Caller;
use crate::entropy::Entropy;
use crate::memories::{ListRequest, Lookup, Memories, SearchRequest};
use crate::text::secrets::{find_secrets, forbids_secrets, redacted};
use gather::{References, query};
use limits::{HITS_WEIGHED_MIN, NEWEST_MEMORIES_WEIGHED, PARENTS_MAX, PINS_MAX, RECENT_MEMORIES_MAX};
use offer::Offer;
use pack::{Gathered, gap, pack};
use settings::Settings;
use value::{is_explicit, strength};

type Result<T> = std::result::Result<T, AssemblyError>;

/// Kept free on a second try, should the first come out a token too large.
const RESERVE_TOKENS: u32 = 16;

/// Makes envelopes and stores them; sends nothing.
#[derive(Clone)]
pub struct Handoffs {
    store: Arc<dyn Store>,
    memories: Memories,
    entropy: Arc<Entropy>,
}

impl Handoffs {
    /// Over a store, its memories, and a source of ids and salts.
    pub fn new(store: Arc<dyn Store>, memories: Memories, entropy: Arc<Entropy>) -> Self {
        Self { store, memories, entropy }
    }

    /// Gathers, packs to the budget, seals and stores.
    pub async fn assemble(&self, caller: &Caller, request: HandoffRequest) -> Result<Assembled> {
        let now = self.store.now();
        let parents = self.parents(caller, &request.parents).await?;
        let mut unsealed = self.derived(caller, &request, &parents, now)?;
        let guarded = unsealed.body().constraints.iter().any(|c| forbids_secrets(c.name.as_str(), &c.value));
        let mut redactions = Vec::new();
        if guarded {
            check_core(&unsealed)?;
            redactions = unsealed.redact_history(without_secrets);
        }
        let (mut gathered, degraded) = self.gathered(caller, &request, &unsealed, &parents, now).await?;
        gathered.redactions = redactions;
        if guarded {
            gathered.offers.iter_mut().for_each(redact);
        }
        let (envelope, explanation) = self.sealed(&request, unsealed, gathered)?;
        self.keep(caller, &envelope, now).await?;
        Ok(Assembled { envelope, explanation: Explanation { degraded, ..explanation } })
    }

    async fn parents(&self, caller: &Caller, ids: &[EnvelopeId]) -> Result<Vec<Envelope>> {
        if ids.len() > PARENTS_MAX {
            let problem = format!("expected at most {PARENTS_MAX}, got {}", ids.len());
            return Err(ReadError::at("/parents", problem).into());
        }
        let mut parents = Vec::with_capacity(ids.len());
        for id in ids {
            let stored = self.store.envelope(&caller.workspace, *id).await?;
            let stored = stored.ok_or(AssemblyError::ParentUnknown { id: *id })?;
            parents.push(Envelope::read(&stored.bytes)?);
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
        let id = EnvelopeId::from_parts(u64::try_from(now.0).unwrap_or_default(), self.entropy.next());
        let created_at = now.to_timestamp().ok_or_else(|| ReadError::at("/created_at", "the clock is beyond all years"))?;
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
        let filter = Filter { subject: Some(subject_filter(body.subject.as_ref())), ..Filter::default() };
        let found = self.useful(caller, request, query(body), filter.clone(), now).await;
        let mut gathering = Gathering { found, now, offers: BTreeMap::new(), gaps: Vec::new(), requested: 0 };
        if request.include_pins {
            for memory in self.pins(caller, filter.clone()).await? {
                gathering.offer(memory, Source::Pinned);
            }
        }
        for lookup in self.memories.get_many(caller, references.ids()).await.map_err(from_memories)? {
            gathering.resolve(lookup, &references, &filter);
        }
        gathering.offer_useful(request.include_recent.min(RECENT_MEMORIES_MAX));
        let mut notices: Vec<Gap> = references.cut.iter().map(|cut| gap(cut, "too many")).collect();
        notices.extend(gathering.found.failed.then(|| gap("relevant memories", "search unavailable")));
        let degraded = std::mem::take(&mut gathering.found.degraded);
        let (requested, gaps) = (gathering.requested, std::mem::take(&mut gathering.gaps));
        let offers = gathering.into_offers();
        Ok((Gathered { offers, gaps, notices, requested, redactions: Vec::new() }, degraded))
    }

    async fn pins(&self, caller: &Caller, filter: Filter) -> Result<Vec<Memory>> {
        let filter = Filter { pinned: Some(true), ..filter };
        let list = ListRequest { filter, limit: PINS_MAX, ..ListRequest::default() };
        Ok(self.memories.list(caller, list).await.map_err(from_memories)?.items)
    }

    /// What the search finds and what is newest. A search that fails is no reason to fail: the gap is named.
    async fn useful(&self, caller: &Caller, request: &HandoffRequest, text: String, filter: Filter, now: UnixMs) -> Useful {
        let mut useful = Useful::default();
        if request.include_recent == 0 {
            return useful;
        }
        let filter = Filter { thread: request.thread.clone(), ..filter };
        let limit = (request.include_recent * 2).clamp(HITS_WEIGHED_MIN, RECENT_MEMORIES_MAX);
        let search = SearchRequest { text, filter: filter.clone(), limit, explain: false };
        match self.memories.search(caller, search).await {
            Ok(answer) => {
                let best = answer.found.first().map_or(1.0, |found| found.hit.score).max(f64::MIN_POSITIVE);
                useful.degraded = answer.degraded;
                for found in answer.found {
                    useful.add(found.memory, Some((found.hit.score / best).clamp(0.0, 1.0)), now);
                }
            }
            Err(_) => useful.failed = true,
        }
        let list = ListRequest { filter, limit: NEWEST_MEMORIES_WEIGHED, ..ListRequest::default() };
        if let Ok(newest) = self.memories.list(caller, list).await {
            newest.items.into_iter().for_each(|memory| useful.add(memory, None, now));
        }
        useful
    }

    fn sealed(&self, request: &HandoffRequest, unsealed: Unsealed, gathered: Gathered) -> Result<(Envelope, Explanation)> {
        let secret = self.entropy.next();
        let salt = |id: MemoryId| salt_of(secret, id);
        let mut settings = Settings {
            strategy: request.strategy.clone(),
            tokenizer: request.tokenizer.clone(),
            format: request.format.clone(),
            salt: &salt,
            reserve_tokens: 0,
        };
        let (packing, explanation) = pack(&unsealed, gathered.clone(), &settings)?;
        match unsealed.clone().seal(packing) {
            Err(SealError::OverBudget { .. }) => {
                settings.reserve_tokens = RESERVE_TOKENS;
                let (packing, explanation): (Packing, Explanation) = pack(&unsealed, gathered, &settings)?;
                Ok((unsealed.seal(packing)?, explanation))
            }
            sealed => Ok((sealed?, explanation)),
        }
    }

    /// The envelope, and its digest in the log: that is what tells a replaced one (R4).
    async fn keep(&self, caller: &Caller, envelope: &Envelope, now: UnixMs) -> Result<()> {
        let mut command = Command::new(caller.workspace.clone(), now);
        command.puts.push(Put::NewEnvelope(Box::new(StoredEnvelope {
            id: envelope.id,
            root: envelope.root,
            digest: envelope.digest,
            bytes: envelope.canonical_bytes().to_vec(),
            change: spine_store::Change::ZERO,
        })));
        let mut event = EventDraft::new("envelope.made");
        event.actor.clone_from(&caller.agent);
        event.envelope = Some(envelope.id);
        event.data.insert("digest".to_owned(), envelope.digest.to_string().into());
        command.events.push(event);
        for outcome in self.store.apply(vec![command]).await? {
            outcome?;
        }
        Ok(())
    }
}

/// A salt for one memory of one envelope, from the envelope's own secret.
fn salt_of(secret: u128, id: MemoryId) -> Salt {
    let digest = spine_protocol::Digest::of(&[&secret.to_be_bytes(), &id.number().to_be_bytes()]);
    Salt::from_random(digest.first_128_bits())
}

fn from_memories(error: crate::memories::MemoryError) -> AssemblyError {
    match error {
        crate::memories::MemoryError::Store(error) => error.into(),
        other => ReadError::at("/memory_refs", other.to_string()).into(),
    }
}

/// What a handoff may draw on: its own subject's memories and nobody's in particular, never another's (R11).
fn subject_filter(subject: Option<&spine_protocol::Subject>) -> SubjectFilter {
    subject.map_or(SubjectFilter::General, |subject| SubjectFilter::OrGeneral(subject.clone()))
}

/// What travels word for word cannot be blacked out: a secret in it refuses the call.
fn check_core(unsealed: &Unsealed) -> Result<()> {
    let body = unsealed.body();
    let constraints = body.constraints.iter().map(|c| (format!("constraint `{}`", c.name), c.value.to_string()));
    let core = [("the intent".to_owned(), body.task.intent.clone()), ("the summary".to_owned(), body.task.summary.clone())];
    for (place, text) in core.into_iter().chain(constraints) {
        if let Some(secret) = find_secrets(&text).first() {
            return Err(AssemblyError::SecretInCore { place, kind: secret.kind.to_owned() });
        }
    }
    Ok(())
}

fn without_secrets(text: &str) -> (String, Vec<String>) {
    let (clean, kinds) = redacted(text);
    (clean, kinds.into_iter().map(str::to_owned).collect())
}

/// In the envelope, never in the store.
fn redact(offer: &mut Offer) {
    let body = &mut offer.memory.body;
    for text in [Some(&mut body.text), body.summary.as_mut(), body.title.as_mut()].into_iter().flatten() {
        let (clean, kinds) = without_secrets(text);
        *text = clean;
        offer.redacted_kinds.extend(kinds);
    }
    offer.redacted_kinds.sort();
    offer.redacted_kinds.dedup();
}

/// What the search found, and what is newest.
#[derive(Default)]
struct Useful {
    by_id: HashMap<MemoryId, (Memory, Option<f64>, Usefulness)>,
    failed: bool,
    degraded: Vec<String>,
}

impl Useful {
    fn add(&mut self, memory: Memory, relevance: Option<f64>, now: UnixMs) {
        let usefulness = usefulness(&memory, relevance, now);
        self.by_id.entry(memory.id).or_insert((memory, relevance, usefulness));
    }
}

fn usefulness(memory: &Memory, relevance: Option<f64>, now: UnixMs) -> Usefulness {
    Usefulness::of(relevance.unwrap_or(0.0), now.0 - memory.about_at().0, memory.body.priority)
}

/// Memories on their way into an envelope.
struct Gathering {
    found: Useful,
    now: UnixMs,
    offers: BTreeMap<MemoryId, Offer>,
    gaps: Vec<Gap>,
    requested: u32,
}

impl Gathering {
    fn offer(&mut self, memory: Memory, source: Source) {
        let relevance = self.found.by_id.get(&memory.id).and_then(|(_, relevance, _)| *relevance);
        let usefulness = usefulness(&memory, relevance, self.now);
        let offer = Offer { source, relevance, usefulness, redacted_kinds: Vec::new(), memory };
        self.offers.entry(offer.id()).or_insert(offer);
    }

    /// An explicit reference is there or becomes a gap; an inherited one that is gone is no longer asked for.
    fn resolve(&mut self, lookup: Lookup, references: &References, filter: &Filter) {
        let id = match &lookup {
            Lookup::Found(memory) => memory.id,
            Lookup::Missing(id, _) => *id,
        };
        let Some(source) = references.source(id).cloned() else { return };
        let asked = is_explicit(&source);
        self.requested += u32::from(asked);
        match lookup {
            Lookup::Found(memory) if filter.admits(&memory, self.now) => {
                if asked || !is_reasoning(&memory) {
                    self.offer(*memory, source);
                }
            }
            Lookup::Found(_) if asked => self.gaps.push(gap(&id.to_string(), "another subject")),
            Lookup::Missing(_, reason) if asked => self.gaps.push(gap(&id.to_string(), reason.as_str())),
            _ => {}
        }
    }

    /// The most useful of the rest. Reasoning travels only when asked for.
    fn offer_useful(&mut self, count: usize) {
        let rest = self.found.by_id.values().filter(|(memory, _, _)| {
            !self.offers.contains_key(&memory.id) && !is_reasoning(memory)
        });
        let mut ranked: Vec<(f64, Memory, Option<f64>)> =
            rest.map(|(memory, relevance, useful)| (useful.score(), memory.clone(), *relevance)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.id.cmp(&a.1.id)));
        for (_, memory, relevance) in ranked.into_iter().take(count) {
            let source = if relevance.is_some() { Source::Relevant } else { Source::Recent };
            self.offer(memory, source);
        }
    }

    /// By the strength of their sources, then by usefulness.
    fn into_offers(self) -> Vec<Offer> {
        let mut offers: Vec<Offer> = self.offers.into_values().collect();
        let rank = |offer: &Offer| strength(&offer.source);
        offers.sort_by(|a, b| {
            let useful = b.usefulness.score().total_cmp(&a.usefulness.score());
            rank(a).cmp(&rank(b)).then(useful).then(a.id().cmp(&b.id()))
        });
        offers
    }
}

fn is_reasoning(memory: &Memory) -> bool {
    memory.body.kind.as_str() == Kind::REASONING
}
