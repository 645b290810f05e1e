//! From references and hits to the memories that could travel.

use std::collections::{BTreeMap, HashMap};

use spine_protocol::{Gap, MemoryId, Source};
use spine_store::{Filter, Kind, Memory, UnixMs};

use super::gather::References;
use super::offer::Offer;
use super::pack::gap;
use super::value::{Usefulness, is_explicit, strength};
use crate::memories::Lookup;

/// What the search found, and what is newest.
#[derive(Default)]
pub(super) struct Useful {
    by_id: HashMap<MemoryId, (Memory, Option<f64>, Usefulness)>,
    /// Whether the search gave no answer.
    pub failed: bool,
    /// What the search had to do without.
    pub degraded: Vec<String>,
}

impl Useful {
    pub fn add(&mut self, memory: Memory, relevance: Option<f64>, now: UnixMs) {
        let usefulness = usefulness(&memory, relevance, now);
        self.by_id.entry(memory.id).or_insert((memory, relevance, usefulness));
    }
}

fn usefulness(memory: &Memory, relevance: Option<f64>, now: UnixMs) -> Usefulness {
    Usefulness::of(relevance.unwrap_or(0.0), now.0 - memory.about_at().0, memory.body.priority)
}

/// Memories on their way into an envelope.
pub(super) struct Gathering {
    found: Useful,
    now: UnixMs,
    offers: BTreeMap<MemoryId, Offer>,
    /// Explicit references that lead nowhere.
    pub gaps: Vec<Gap>,
    /// How many explicit references there are.
    pub requested: u32,
}

impl Gathering {
    pub fn new(found: Useful, now: UnixMs) -> Self {
        Self { found, now, offers: BTreeMap::new(), gaps: Vec::new(), requested: 0 }
    }

    pub fn offer(&mut self, memory: Memory, source: Source) {
        let relevance = self.found.by_id.get(&memory.id).and_then(|(_, relevance, _)| *relevance);
        let usefulness = usefulness(&memory, relevance, self.now);
        let offer = Offer { source, relevance, usefulness, redacted_kinds: Vec::new(), memory };
        self.offers.entry(offer.id()).or_insert(offer);
    }

    /// An explicit reference is there or becomes a gap; an inherited one that is gone is no longer asked for.
    pub fn resolve(&mut self, lookup: Lookup, references: &References, filter: &Filter) {
        let id = match &lookup {
            Lookup::Found(memory) => memory.id,
            Lookup::Missing(id, _) => *id,
        };
        let Some(source) = references.source(id).cloned() else { return };
        let asked = is_explicit(&source);
        self.requested += u32::from(asked);
        match lookup {
            Lookup::Found(memory) if filter.admits(&memory, self.now) => {
                self.offer_unless_reasoning(*memory, source)
            }
            Lookup::Found(_) if asked => self.gaps.push(gap(&id.to_string(), "another subject")),
            Lookup::Missing(_, reason) if asked => {
                self.gaps.push(gap(&id.to_string(), reason.as_str()))
            }
            _ => {}
        }
    }

    /// Reasoning travels only when asked for.
    fn offer_unless_reasoning(&mut self, memory: Memory, source: Source) {
        if is_explicit(&source) || !is_reasoning(&memory) {
            self.offer(memory, source);
        }
    }

    /// The most useful of the rest.
    pub fn offer_useful(&mut self, count: usize) {
        let rest = self.found.by_id.values().filter(|(memory, _, _)| {
            !self.offers.contains_key(&memory.id) && !is_reasoning(memory)
        });
        let mut ranked: Vec<(f64, Memory, Option<f64>)> = rest
            .map(|(memory, relevance, useful)| (useful.score(), memory.clone(), *relevance))
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.id.cmp(&a.1.id)));
        for (_, memory, relevance) in ranked.into_iter().take(count) {
            let source = if relevance.is_some() { Source::Relevant } else { Source::Recent };
            self.offer(memory, source);
        }
    }

    /// By the strength of their sources, then by usefulness.
    pub fn into_offers(self) -> Vec<Offer> {
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
