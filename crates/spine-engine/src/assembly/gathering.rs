//! From references and hits to the memories that could travel.

use std::collections::{BTreeMap, HashMap};

use spine_protocol::{Gap, MemoryId, Source};
use spine_store::{Filter, Kind, Memory, UnixMs};

use super::gather::References;
use super::offer::Offer;
use super::pack::gap;
use super::redundancy::most_useful_together;
use super::value::{Usefulness, is_explicit, strength};
use crate::memories::{Lookup, SearchResult};

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
    /// The hits of one search; a memory that several found counts by its best.
    pub fn add_found(&mut self, answer: SearchResult, weight: f64, now: UnixMs) {
        let best = answer.found.first().map_or(1.0, |found| found.hit.score).max(f64::MIN_POSITIVE);
        for found in answer.found {
            let relevance = (found.hit.score / best).clamp(0.0, 1.0) * weight;
            self.add(found.memory, Some(relevance), now);
        }
        self.degraded = answer.degraded;
    }

    pub fn add(&mut self, memory: Memory, relevance: Option<f64>, now: UnixMs) {
        let known = self.by_id.get(&memory.id).and_then(|(_, relevance, _)| *relevance);
        if known.is_none_or(|known| relevance.is_some_and(|relevance| relevance > known)) {
            let relevance = relevance.or(known);
            let usefulness = usefulness(&memory, relevance, now);
            self.by_id.insert(memory.id, (memory, relevance, usefulness));
        }
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

    /// The most useful of the rest, each for what it adds to those before it.
    pub fn offer_useful(&mut self, count: usize) {
        let is_left =
            |memory: &Memory| !self.offers.contains_key(&memory.id) && !is_reasoning(memory);
        let mut rest: Vec<&(Memory, Option<f64>, Usefulness)> =
            self.found.by_id.values().filter(|(memory, _, _)| is_left(memory)).collect();
        rest.sort_by(|a, b| b.2.score().total_cmp(&a.2.score()).then(b.0.id.cmp(&a.0.id)));
        let weighed: Vec<(f64, &str)> = rest
            .iter()
            .map(|(memory, _, useful)| (useful.score(), memory.body.text.as_str()))
            .collect();
        let carried: Vec<&str> =
            self.offers.values().map(|offer| offer.memory.body.text.as_str()).collect();
        let picked = most_useful_together(&weighed, &carried, count);
        let chosen: Vec<(Memory, Option<f64>)> = picked
            .into_iter()
            .filter_map(|index| {
                rest.get(index).map(|(memory, relevance, _)| (memory.clone(), *relevance))
            })
            .collect();
        for (memory, relevance) in chosen {
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
