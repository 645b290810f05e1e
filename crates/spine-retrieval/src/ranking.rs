//! From candidates to a ranking: words with context, meaning, and what is said around them.

use spine_protocol::MemoryId;
use spine_store::{Hit, ScorePart, UnixMs};

use crate::best::best_first;
use crate::fast_map::FastMap;
use crate::fetching::FETCHED_TOGETHER;
use crate::first_pass::{average_length, by_words};
use crate::meaning::{by_meaning, cosines};
use crate::narrowed::Passing;
use crate::question::{Named, QueryTerm, query_terms};
use crate::recipe::{DATE_WORDS, EXPANDED, MEANING_SPAN_MIN, REACH, Recipe, SECOND_B, SECOND_K1};
use crate::space::{Slot, Space};
use crate::term_key::TermCount;
use crate::vector::Vector;

/// Parts of a score, in the order in which they are explained.
const PARTS: [&str; 6] = ["words", "meaning", "author", "thread", "asks", "answer"];

/// What is looked for, ready to be compared.
pub(crate) struct Search<'s> {
    pub(crate) space: &'s Space,
    pub(crate) workspace: &'s str,
    pub(crate) recipe: &'s Recipe,
    pub(crate) text: &'s str,
    pub(crate) named: &'s Named,
    pub(crate) vector: Option<&'s Vector>,
    pub(crate) passing: &'s Passing,
}

impl Search<'_> {
    /// The best hits, best first.
    pub(crate) fn run(&self, limit: usize, explain: bool) -> tantivy::Result<Vec<Hit>> {
        let terms = query_terms(self.space, self.workspace, self.named, self.text)?;
        let candidates = self.candidates(&terms)?;
        let base = self.base(&candidates, &terms);
        let lifts = self.thread_lifts(&base);
        let sum = |of_base: &OfBase| {
            let parts = self.parts(of_base, &base, &lifts);
            (parts.iter().map(|(_, adds)| adds).sum(), of_base.0)
        };
        let mut ranked: Vec<(f64, u32)> = base.iter().map(sum).collect();
        ranked.sort_unstable_by(best_first);
        ranked.truncate(limit);
        let parts = |number| {
            let of_base = (number, found(&base, number).filter(|_| explain)?);
            Some(named_parts(&self.parts(&of_base, &base, &lifts)))
        };
        let hits = ranked.into_iter();
        Ok(hits.filter_map(|(score, n)| self.hit(n, score, parts(n).unwrap_or_default())).collect())
    }

    fn hit(&self, number: u32, score: f64, parts: Vec<ScorePart>) -> Option<Hit> {
        let slot = self.space.slot(number)?;
        let (id, about) = (MemoryId::new(u64::from(number))?, UnixMs(slot.about_ms));
        let (version, priority) = (slot.version, slot.priority);
        Some(Hit { id, version, about, priority, score, parts })
    }

    /// By number.
    fn candidates(&self, terms: &[QueryTerm]) -> tantivy::Result<Vec<u32>> {
        let mut found = Vec::new();
        if self.recipe.words > 0.0 || self.vector.is_none() {
            let first = by_words(self.space, self.workspace, terms, self.passing)?;
            let expanded = first.iter().take(EXPANDED).flat_map(|hit| self.space.neighbours(hit.1));
            found.extend(expanded.filter(|number| self.passing.contains(self.space, *number)));
            found.extend(first.iter().map(|(_, number)| *number));
        }
        if let Some(vector) = self.vector {
            let near = by_meaning(self.space, vector, self.passing);
            found.extend(near.into_iter().map(|(_, number)| number));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Words and meaning of each candidate, each weighted; together its base score.
    fn base(&self, candidates: &[u32], terms: &[QueryTerm]) -> Vec<OfBase> {
        let words = self.words(candidates, terms);
        let meanings = self.meanings(candidates);
        let weight = if self.vector.is_some() { self.recipe.words } else { 1.0 };
        let each = candidates.iter().zip(words).zip(meanings);
        each.map(|((number, words), meaning)| {
            let meaning = (meaning, self.recipe.meaning * meaning);
            (*number, BaseScore { words: (words, weight * words), meaning })
        })
        .collect()
    }

    /// BM25F over own words, neighbours' words and date, over the best of the candidates.
    fn words(&self, candidates: &[u32], terms: &[QueryTerm]) -> Vec<f64> {
        let near = self.recipe.neighbour_words;
        let neighbours = 2.0 * REACH as f64;
        let average = average_length(self.space) * (1.0 + near * neighbours);
        let average = average + DATE_WORDS * self.recipe.dates;
        let mut scores: Vec<f64> = Vec::with_capacity(candidates.len());
        for numbers in candidates.chunks(FETCHED_TOGETHER) {
            self.space.fetch_terms(numbers);
            scores.extend(numbers.iter().map(|number| self.context_score(*number, terms, average)));
        }
        let highest = scores.iter().copied().fold(1e-9, f64::max);
        scores.into_iter().map(|score| score / highest).collect()
    }

    fn context_score(&self, number: u32, terms: &[QueryTerm], average: f64) -> f64 {
        let Some(slot) = self.space.slot(number) else { return 0.0 };
        let near: Vec<&Slot> =
            self.space.neighbours(number).filter_map(|other| self.space.slot(other)).collect();
        let near_length: f64 = near.iter().map(|slot| f64::from(slot.length)).sum();
        let length = f64::from(slot.length)
            + self.recipe.neighbour_words * near_length
            + DATE_WORDS * self.recipe.dates;
        let norm = SECOND_K1 * (1.0 - SECOND_B + SECOND_B * length / average);
        let (mut own, mut around) = (vec![0.0; terms.len()], vec![0.0; terms.len()]);
        add_counts(self.space.terms(slot), terms, &mut own);
        near.iter().for_each(|slot| add_counts(self.space.terms(slot), terms, &mut around));
        let gain = |((term, own), around): ((&QueryTerm, f64), f64)| {
            let dated = f64::from(u8::from(term.date.names(slot.date)));
            let found = own + self.recipe.neighbour_words * around + self.recipe.dates * dated;
            term.count * term.context_idf * found * (SECOND_K1 + 1.0) / (found + norm)
        };
        terms.iter().zip(own).zip(around).map(gain).sum()
    }

    /// Cosines, from the lowest of the candidates, 0, to the highest, 1.
    fn meanings(&self, candidates: &[u32]) -> Vec<f64> {
        let Some(vector) = self.vector else { return vec![0.0; candidates.len()] };
        let cosines = cosines(self.space, vector, candidates);
        let cosines: Vec<f64> = cosines.into_iter().map(f64::from).collect();
        let lowest = cosines.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = cosines.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let span = (highest - lowest).max(MEANING_SPAN_MIN);
        cosines.into_iter().map(|cosine| (cosine - lowest) / span).collect()
    }

    /// The best base score of each thread.
    fn thread_lifts(&self, base: &[OfBase]) -> FastMap<u32, f64> {
        let mut lifts = FastMap::default();
        for (number, score) in base {
            let thread = self.space.slot(*number).map_or(0, |slot| slot.thread);
            let best: &mut f64 = lifts.entry(thread).or_default();
            *best = best.max(score.total());
        }
        lifts
    }

    /// Value and what it adds, in the order of `PARTS`.
    fn parts(
        &self,
        &(number, score): &OfBase,
        base: &[OfBase],
        lifts: &FastMap<u32, f64>,
    ) -> [(f64, f64); 6] {
        let Some(slot) = self.space.slot(number) else { return Default::default() };
        let author = f64::from(u8::from(self.named.authors.contains(&slot.author)));
        let lift = self.lift(slot, score, lifts);
        let (asks, answer) = (f64::from(slot.asks), self.answered(number, base));
        [
            score.words,
            score.meaning,
            (author, self.recipe.author * author),
            (lift, self.recipe.thread * lift),
            (asks, -self.recipe.asks * asks),
            (answer, self.recipe.answer * answer),
        ]
    }

    /// A memory without a thread is a thread of its own.
    fn lift(&self, slot: &Slot, score: BaseScore, lifts: &FastMap<u32, f64>) -> f64 {
        let shared = lifts.get(&slot.thread).copied();
        shared.filter(|_| slot.thread != crate::names::NO_NAME).unwrap_or(score.total())
    }

    /// How well the question just before fits, if it is one.
    fn answered(&self, number: u32, base: &[OfBase]) -> f64 {
        let Some(before) = self.space.before(number) else { return 0.0 };
        let asks = self.space.slot(before).map_or(0.0, |slot| f64::from(slot.asks));
        asks * found(base, before).map_or(0.0, BaseScore::total)
    }
}

/// A candidate with its base score.
type OfBase = (u32, BaseScore);

/// The base score of a candidate; they come by number.
fn found(base: &[OfBase], number: u32) -> Option<BaseScore> {
    let place = base.binary_search_by_key(&number, |(number, _)| *number).ok()?;
    base.get(place).map(|(_, score)| *score)
}

/// Value and what it adds.
#[derive(Debug, Clone, Copy)]
struct BaseScore {
    words: (f64, f64),
    meaning: (f64, f64),
}

impl BaseScore {
    fn total(self) -> f64 {
        self.words.1 + self.meaning.1
    }
}

/// Adds how often each term stands in a memory; both are sorted, so one walk does.
fn add_counts(own: &[TermCount], terms: &[QueryTerm], counts: &mut [f64]) {
    let mut own = own.iter().peekable();
    for (term, count) in terms.iter().zip(counts) {
        while own.next_if(|count| count.key() < term.key).is_some() {}
        *count += own.next_if(|count| count.key() == term.key).map_or(0.0, |count| count.count());
    }
}

fn named_parts(parts: &[(f64, f64); 6]) -> Vec<ScorePart> {
    let named = PARTS.into_iter().zip(parts);
    named.map(|(name, (value, adds))| ScorePart { name, value: *value, adds: *adds }).collect()
}
