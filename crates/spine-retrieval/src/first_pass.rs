//! Candidates by words: plain BM25 over texts and dates.
//!
//! Few memories are scored one by one. Among many, the postings of the rarest terms lead to those that
//! can be among the best, until the terms that are left cannot lift any other memory so far; then these
//! are scored exactly. The result is the same either way, and does not depend on how the index is cut
//! into segments.

use crate::best::{Best, Scored};
use crate::committed::Source;
use crate::date_words::DatePart;
use crate::narrowed::Passing;
use crate::question::QueryTerm;
use crate::recipe::{CANDIDATES, FIRST_B, FIRST_K1};
use crate::space::{Slot, Space};

/// Room for rounding when partial sums, added in another order, are compared.
const ROUNDING: f64 = 1e-9;

/// The best memories by words, best first.
pub(crate) fn by_words(
    space: &Space,
    workspace: &str,
    terms: &[QueryTerm],
    passing: &Passing,
) -> tantivy::Result<Vec<Scored<f64>>> {
    let scorer = Scorer { terms, average: average_length(space) };
    let mut best = Best::new(CANDIDATES);
    match passing {
        Passing::Few(numbers) => scorer.score_all(space, numbers.iter().copied(), &mut best),
        _ => {
            let reached = reach(space, workspace, &scorer, passing)?;
            scorer.score_all(space, reached.into_iter(), &mut best);
        }
    }
    Ok(best.into_sorted())
}

/// The mean number of terms of a memory.
pub(crate) fn average_length(space: &Space) -> f64 {
    (space.total_length as f64 / space.live.max(1) as f64).max(1.0)
}

struct Scorer<'q> {
    terms: &'q [QueryTerm],
    average: f64,
}

impl Scorer<'_> {
    fn score_all(&self, space: &Space, numbers: impl Iterator<Item = u32>, best: &mut Best<f64>) {
        for number in numbers {
            let score = space.slot(number).map_or(0.0, |slot| self.score(slot));
            if score > 0.0 {
                best.push(score, number);
            }
        }
    }

    fn score(&self, slot: &Slot) -> f64 {
        let norm = self.norm(slot.length);
        let mut own = slot.terms.iter().peekable();
        let mut score = 0.0;
        for term in self.terms {
            while own.next_if(|count| count.key() < term.key).is_some() {}
            if let Some(count) = own.next_if(|count| count.key() == term.key) {
                score += term.count * term.text_idf * saturated(count.count(), norm);
            }
            if term.date.names(slot.date) {
                score += term.count * term.date_idf;
            }
        }
        score
    }

    fn norm(&self, length: u32) -> f64 {
        FIRST_K1 * (1.0 - FIRST_B + FIRST_B * f64::from(length) / self.average)
    }
}

fn saturated(count: f64, norm: f64) -> f64 {
    count * (FIRST_K1 + 1.0) / (count + norm)
}

/// A list of postings and the most it can add to a score.
struct List<'q> {
    term: &'q QueryTerm,
    source: Source,
    most: f64,
}

fn lists(terms: &[QueryTerm]) -> Vec<List<'_>> {
    let text = terms.iter().map(|term| {
        let most = term.count * term.text_idf * (FIRST_K1 + 1.0);
        List { term, source: Source::Words, most }
    });
    let dated = terms.iter().filter(|term| term.date != DatePart::Nothing);
    let date =
        dated.map(|term| List { term, source: Source::Dates, most: term.count * term.date_idf });
    let mut lists: Vec<List<'_>> = text.chain(date).collect();
    lists.sort_by(|a, b| b.most.total_cmp(&a.most));
    lists
}

/// A set of memories that holds the best by words.
fn reach(
    space: &Space,
    workspace: &str,
    scorer: &Scorer<'_>,
    passing: &Passing,
) -> tantivy::Result<Vec<u32>> {
    let lists = lists(scorer.terms);
    let mut left: f64 = lists.iter().map(|list| list.most).sum();
    let mut sums = Sums::new(space.numbers());
    sums.add_tail(space, scorer, passing);
    for list in &lists {
        sums.add_list(space, workspace, list, scorer, passing)?;
        left -= list.most;
        if sums.lowest_of_best().is_some_and(|lowest| lowest > left + ROUNDING) {
            break;
        }
    }
    Ok(sums.within_reach(left))
}

/// Partial scores, each a lower bound of a memory's score.
struct Sums {
    sums: Vec<f32>,
    touched: Vec<u32>,
}

impl Sums {
    fn new(numbers: usize) -> Self {
        Self { sums: vec![0.0; numbers], touched: Vec::new() }
    }

    #[inline]
    fn add(&mut self, number: u32, value: f32) {
        if let Some(sum) = self.sums.get_mut(number as usize) {
            if *sum == 0.0 {
                self.touched.push(number);
            }
            *sum += value;
        }
    }

    fn add_tail(&mut self, space: &Space, scorer: &Scorer<'_>, passing: &Passing) {
        for number in space.tail.keys().filter(|number| passing.contains(space, **number)) {
            let score = space.slot(*number).map_or(0.0, |slot| scorer.score(slot));
            if score > 0.0 {
                self.add(*number, score as f32);
            }
        }
    }

    fn add_list(
        &mut self,
        space: &Space,
        workspace: &str,
        list: &List<'_>,
        scorer: &Scorer<'_>,
        passing: &Passing,
    ) -> tantivy::Result<()> {
        let key = (list.source, workspace, list.term.text.as_str());
        let all_pass = matches!(passing, Passing::All { .. }) && space.expiring == 0;
        space.committed.postings(key, |segment, document, count| {
            let documents = space.documents.get(segment);
            let number = documents.and_then(|all| all.get(document as usize)).copied();
            let Some(number) = number.filter(|number| *number != 0) else { return };
            let Some(length) = space.posted_length(number) else { return };
            if all_pass || passing.contains(space, number) {
                self.add(number, gain(list, scorer, length, count) as f32);
            }
        })
    }

    fn lowest_of_best(&self) -> Option<f64> {
        let mut best = Best::new(CANDIDATES);
        for number in &self.touched {
            best.push(self.sums.get(*number as usize).copied().unwrap_or_default(), *number);
        }
        best.floor().map(f64::from).map(|lowest| lowest * (1.0 - f64::from(SUM_ERROR)))
    }

    /// Those that could still be among the best if all that is left were theirs.
    fn within_reach(self, left: f64) -> Vec<u32> {
        let lowest = self.lowest_of_best().unwrap_or_default();
        let needed = ((lowest - left) * (1.0 - f64::from(SUM_ERROR)) - ROUNDING) as f32;
        let Self { sums, mut touched } = self;
        touched.retain(|number| sums.get(*number as usize).is_some_and(|sum| *sum >= needed));
        touched
    }
}

/// More than adding a few hundred single-precision numbers can be off.
const SUM_ERROR: f32 = 1e-4;

fn gain(list: &List<'_>, scorer: &Scorer<'_>, length: u32, count: u32) -> f64 {
    match list.source {
        Source::Dates => list.most,
        Source::Words => {
            let saturated = saturated(f64::from(count), scorer.norm(length));
            list.term.count * list.term.text_idf * saturated
        }
    }
}
