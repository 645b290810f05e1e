//! Candidates by words: plain BM25 over texts and dates.
//!
//! Few memories are scored one by one. Among many, the postings of the rarest terms lead to those that
//! can be among the best, until the terms that are left cannot lift any other memory so far; then these
//! are scored exactly. The result is the same either way.
//!
//! Common words have long postings and say little. Once a bound of postings is read, the words that are
//! left no longer bring new memories: those that lead so far are scored exactly, with every word. Which
//! words these are depends only on how often they stand in the workspace, and who leads only on the
//! memories themselves: never on another workspace, nor on how the index is cut into segments.

use std::cell::RefCell;

use crate::best::{Best, Scored, best_first};
use crate::date_words::DatePart;
use crate::fetching::FETCHED_TOGETHER;
use crate::limits::{KEPT_SUMS_MAX, MEMORIES_PER_READ};
use crate::narrowed::Passing;
use crate::question::QueryTerm;
use crate::recipe::{CANDIDATES, FIRST_B, FIRST_K1};
use crate::space::{Slot, Space};
use crate::term_key::COUNT_MAX;

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
        Passing::Few(numbers) => scorer.score_all(space, numbers, &mut best),
        _ => {
            let reached = Reader { space, workspace, scorer: &scorer, passing }.reach()?;
            scorer.score_reached(space, reached, &mut best);
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
    fn score_all(&self, space: &Space, numbers: &[u32], best: &mut Best<f64>) {
        for numbers in numbers.chunks(FETCHED_TOGETHER) {
            space.fetch_terms(numbers);
            numbers.iter().for_each(|number| self.score_one(space, *number, best));
        }
    }

    fn score_one(&self, space: &Space, number: u32, best: &mut Best<f64>) {
        let score = space.slot(number).map_or(0.0, |slot| self.score(space, slot));
        if score > 0.0 {
            best.push(score, number);
        }
    }

    /// The most promising first: what they score rules most others out, and a memory that is not looked at costs nothing.
    fn score_reached(&self, space: &Space, reached: Reached, best: &mut Best<f64>) {
        let Reached { mut sums, left } = reached;
        if sums.len() > CANDIDATES {
            sums.select_nth_unstable_by(CANDIDATES - 1, best_first);
        }
        let (leading, others) = sums.split_at(sums.len().min(CANDIDATES));
        let leading: Vec<u32> = leading.iter().map(|(_, number)| *number).collect();
        self.score_all(space, &leading, best);
        best.floor();
        for (sum, number) in others {
            let most = f64::from(*sum) * (1.0 + f64::from(SUM_ERROR)) + left + ROUNDING;
            if best.admits(most) {
                self.score_one(space, *number, best);
            }
        }
    }

    fn score(&self, space: &Space, slot: &Slot) -> f64 {
        let norm = self.norm(slot.length);
        let mut own = space.terms(slot).iter().peekable();
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

/// What leads to memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The postings of a word.
    Words,
    /// The dates of all memories.
    Dates,
}

/// The memories that a term leads to, and the most it can add to a score.
struct List<'q> {
    term: &'q QueryTerm,
    source: Source,
    most: f64,
    /// Live memories in it.
    memories: u64,
}

/// What a posting adds to a score.
struct Gains {
    /// `None` where every posting adds the same.
    saturation: Option<(f64, f64)>,
    most: f64,
}

impl Gains {
    fn new(list: &List<'_>, scorer: &Scorer<'_>) -> Self {
        let constant = FIRST_K1 * (1.0 - FIRST_B);
        let by_length = FIRST_K1 * FIRST_B / scorer.average;
        let saturation = (list.source == Source::Words).then_some((constant, by_length));
        Self { saturation, most: list.most }
    }

    #[inline]
    fn of(&self, length: u32, count: u32) -> f32 {
        let Some((constant, by_length)) = self.saturation else { return self.most as f32 };
        let count = f64::from(count.min(COUNT_MAX));
        (self.most * count / (count + constant + by_length * f64::from(length))) as f32
    }
}

/// Those that add most, first; among equal ones the order is still a fixed one.
fn lists(terms: &[QueryTerm]) -> Vec<List<'_>> {
    let text = terms.iter().map(|term| {
        let most = term.count * term.text_idf * (FIRST_K1 + 1.0);
        List { term, source: Source::Words, most, memories: term.in_texts }
    });
    let dated = terms.iter().filter(|term| term.date != DatePart::Nothing);
    let date = dated.map(|term| {
        let most = term.count * term.date_idf;
        List { term, source: Source::Dates, most, memories: term.in_dates }
    });
    let mut lists: Vec<List<'_>> = text.chain(date).collect();
    lists.sort_by(|a, b| b.most.total_cmp(&a.most));
    lists
}

/// Memories with what is known of their scores.
struct Reached {
    /// Each a lower bound of its memory's score.
    sums: Vec<Scored<f32>>,
    /// The most that any of them can be higher.
    left: f64,
}

/// Reads postings.
struct Reader<'r> {
    space: &'r Space,
    workspace: &'r str,
    scorer: &'r Scorer<'r>,
    passing: &'r Passing,
}

impl Reader<'_> {
    /// A set of memories that holds the best by words: surely, or nearly where the bound is reached.
    fn reach(&self) -> tantivy::Result<Reached> {
        let (space, limits) = (self.space, &self.space.limits);
        let lists = lists(self.scorer.terms);
        let mut left: f64 = lists.iter().map(|list| list.most).sum();
        let mut room = limits.read_postings_max.max(space.live as u64 / MEMORIES_PER_READ);
        let mut sums = Sums::new(space.numbers());
        for (place, list) in lists.iter().enumerate() {
            // Looking costs as much as reading a short list.
            if list.memories > sums.touched.len() as u64 && sums.are_enough(left) {
                return self.close_in(sums, left, lists.get(place..).unwrap_or_default());
            }
            if list.memories > room && sums.touched.len() >= limits.leading_memories_max {
                return Ok(sums.leading(left, limits.leading_memories_max));
            }
            self.read(list, &mut sums)?;
            room = room.saturating_sub(list.memories);
            left -= list.most;
        }
        sums.keep_within_reach(left);
        Ok(Reached { sums: sums.figures().collect(), left })
    }

    /// The best are among those that were met. The lists that are left are read while that costs less than scoring all
    /// that could still be among the best.
    fn close_in(
        &self,
        mut sums: Sums,
        mut left: f64,
        unread: &[List<'_>],
    ) -> tantivy::Result<Reached> {
        sums.closed = true;
        sums.keep_within_reach(left);
        for list in unread {
            if list.memories > sums.touched.len() as u64 * POSTINGS_PER_SCORE {
                break;
            }
            self.read(list, &mut sums)?;
            left -= list.most;
            sums.keep_within_reach(left);
        }
        Ok(Reached { sums: sums.figures().collect(), left })
    }

    fn read(&self, list: &List<'_>, sums: &mut Sums) -> tantivy::Result<()> {
        let gains = Gains::new(list, self.scorer);
        if list.source == Source::Dates {
            self.read_dates(list.term.date, &gains, sums);
            return Ok(());
        }
        self.read_tail(list, &gains, sums);
        self.read_committed(list, &gains, sums)
    }

    fn read_dates(&self, part: DatePart, gains: &Gains, sums: &mut Sums) {
        let all_pass = self.all_pass();
        for number in self.space.dated(part) {
            if sums.takes(number) && (all_pass || self.passing.contains(self.space, number)) {
                sums.add(number, gains.of(0, 1));
            }
        }
    }

    /// Whether every live memory may be found.
    fn all_pass(&self) -> bool {
        matches!(self.passing, Passing::All { .. }) && self.space.expiring == 0
    }

    /// Adds what is not on disk, in the same steps as what is: the sums must be the same bit by bit.
    fn read_tail(&self, list: &List<'_>, gains: &Gains, sums: &mut Sums) {
        let (space, all_pass) = (self.space, self.all_pass());
        for (number, length, count) in space.posted_in_tail(list.term.key) {
            if sums.takes(number) && (all_pass || self.passing.contains(space, number)) {
                sums.add(number, gains.of(length, count));
            }
        }
    }

    fn read_committed(
        &self,
        list: &List<'_>,
        gains: &Gains,
        sums: &mut Sums,
    ) -> tantivy::Result<()> {
        let space = self.space;
        let key = (self.workspace, list.term.text.as_str());
        let all_pass = self.all_pass();
        space.committed.postings(key, |segment, document, count| {
            let documents = space.documents.get(segment);
            let number = documents.and_then(|all| all.get(document as usize)).copied();
            let Some(number) = number.filter(|number| *number != 0) else { return };
            if !sums.takes(number) {
                return;
            }
            let Some(length) = space.posted_length(number) else { return };
            if all_pass || self.passing.contains(space, number) {
                sums.add(number, gains.of(length, count));
            }
        })
    }
}

/// Partial scores, each a lower bound of a memory's score.
struct Sums {
    sums: Vec<f32>,
    touched: Vec<u32>,
    /// Whether no further memory is taken.
    closed: bool,
}

thread_local! {
    /// Zeros for the next search: fresh memory would cost as much as reading the postings.
    static ZEROS: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

impl Drop for Sums {
    /// Only what was touched is not zero.
    fn drop(&mut self) {
        if self.sums.len() > KEPT_SUMS_MAX {
            return;
        }
        self.drop_where(|_| true);
        ZEROS.replace(std::mem::take(&mut self.sums));
    }
}

impl Sums {
    fn new(numbers: usize) -> Self {
        let mut sums = ZEROS.take();
        sums.resize(numbers, 0.0);
        Self { sums, touched: Vec::new(), closed: false }
    }

    #[inline]
    fn takes(&self, number: u32) -> bool {
        !self.closed || self.sums.get(number as usize).is_some_and(|sum| *sum != 0.0)
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

    /// Whether the best so far cannot be overtaken by what was never met.
    fn are_enough(&self, left: f64) -> bool {
        self.lowest_of_best().is_some_and(|lowest| lowest > left + ROUNDING)
    }

    fn figures(&self) -> impl Iterator<Item = Scored<f32>> {
        let sum = |number: &u32| self.sums.get(*number as usize).copied().unwrap_or_default();
        self.touched.iter().map(move |number| (sum(number), *number))
    }

    fn lowest_of_best(&self) -> Option<f64> {
        let mut best = Best::new(CANDIDATES);
        self.figures().for_each(|(sum, number)| best.push(sum, number));
        best.floor().map(f64::from).map(|lowest| lowest * (1.0 - f64::from(SUM_ERROR)))
    }

    /// Keeps those that could still be among the best if all that is left were theirs.
    fn keep_within_reach(&mut self, left: f64) {
        let lowest = self.lowest_of_best().unwrap_or_default();
        let needed = ((lowest - left) * (1.0 - f64::from(SUM_ERROR)) - ROUNDING) as f32;
        self.drop_where(|sum| sum < needed);
    }

    fn drop_where(&mut self, is_dropped: impl Fn(f32) -> bool) {
        let Self { sums, touched, .. } = self;
        touched.retain(|number| {
            let dropped = sums.get_mut(*number as usize).filter(|sum| is_dropped(**sum));
            dropped.map(|sum| *sum = 0.0).is_none()
        });
    }

    /// Those that lead so far.
    fn leading(&self, left: f64, limit: usize) -> Reached {
        let mut best = Best::new(limit);
        self.figures().for_each(|(sum, number)| best.push(sum, number));
        Reached { sums: best.into_kept(), left }
    }
}

/// Scoring a memory costs as much as reading so many postings: it is somewhere else in memory, and they are in a row.
const POSTINGS_PER_SCORE: u64 = 64;

/// More than adding a few hundred single-precision numbers can be off.
const SUM_ERROR: f32 = 1e-4;
