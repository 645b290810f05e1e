//! From references and hits to the memories that could travel.

use std::collections::{BTreeMap, HashMap};

use spine_protocol::{Gap, MemoryId, Priority, Source};
use spine_store::{Filter, Kind, Memory, SearchAnswer, UnixMs};

use super::gather::References;
use super::offer::Offer;
use super::pack::gap;
use super::redundancy::Carried;
use super::value::{Usefulness, is_explicit, strength};
use crate::memories::Lookup;

/// What the search found, not read yet.
#[derive(Default)]
pub(super) struct Useful {
    by_id: HashMap<MemoryId, Hint>,
    /// Whether the search gave no answer.
    pub failed: bool,
    /// What the search had to do without.
    pub degraded: Vec<String>,
}

/// What is known of a memory before it is read.
#[derive(Clone, Copy)]
pub(super) struct Hint {
    pub relevance: f64,
    about: UnixMs,
    priority: Priority,
}

impl Hint {
    /// Its usefulness.
    pub fn score(&self, now: UnixMs) -> f64 {
        Usefulness::of(self.relevance, now.0 - self.about.0, self.priority).score()
    }
}

impl Useful {
    /// The hits of one search; a memory that several found counts by its best.
    pub fn add_found(&mut self, answer: SearchAnswer, weight: f64) {
        let best = answer.hits.first().map_or(1.0, |hit| hit.score).max(f64::MIN_POSITIVE);
        for hit in answer.hits {
            let relevance = (hit.score / best).clamp(0.0, 1.0) * weight;
            let known = self.by_id.get(&hit.id);
            if known.is_none_or(|known| relevance > known.relevance) {
                let hint = Hint { relevance, about: hit.about, priority: hit.priority };
                self.by_id.insert(hit.id, hint);
            }
        }
        self.degraded = answer.degraded;
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
        let relevance = self.relevance(memory.id);
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

    /// Hits that nobody asked for, in no order.
    pub fn hints_left(&self) -> impl Iterator<Item = (MemoryId, Hint)> + '_ {
        let left = self.found.by_id.iter().filter(|(id, _)| !self.offers.contains_key(id));
        left.map(|(id, hint)| (*id, *hint))
    }

    /// Whether a memory that nobody asked for may travel.
    pub fn is_left(&self, memory: &Memory) -> bool {
        !self.offers.contains_key(&memory.id) && !is_reasoning(memory)
    }

    /// Its closeness to the task, if the search found it.
    pub fn relevance(&self, id: MemoryId) -> Option<f64> {
        self.found.by_id.get(&id).map(|hint| hint.relevance)
    }

    pub fn usefulness(&self, memory: &Memory) -> Usefulness {
        usefulness(memory, self.relevance(memory.id), self.now)
    }

    pub fn now(&self) -> UnixMs {
        self.now
    }

    /// The words of what travels already.
    pub fn carried(&self) -> Carried {
        let mut carried = Carried::default();
        self.offers.values().for_each(|offer| carried.add(&offer.memory.body.text));
        carried
    }

    pub fn offer_useful(&mut self, picked: Vec<Memory>) {
        for memory in picked {
            let found = self.relevance(memory.id).is_some();
            self.offer(memory, if found { Source::Relevant } else { Source::Recent });
        }
    }

    /// Whether the search gave no answer, or not all of it.
    pub fn search_failed(&self) -> bool {
        self.found.failed
    }

    pub fn fail_search(&mut self) {
        self.found.failed = true;
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
