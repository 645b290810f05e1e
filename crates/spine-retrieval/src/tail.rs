//! What a workspace has that the commit it knows does not: which memories, where their terms lead, and by how much the
//! frequencies on disk are off.

use std::collections::BTreeMap;

use crate::fast_map::FastMap;
use crate::term_key::TermCount;

/// Memories that were written, or that ended, since a commit.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// Each with the change that did it.
    members: BTreeMap<u32, u64>,
    terms: FastMap<u64, TailTerm>,
    /// Those of one state of a memory lie together; what a memory no longer says stays until the next commit.
    postings: Vec<Posting>,
}

/// What is known of a term here.
#[derive(Debug, Default)]
struct TailTerm {
    /// How many more documents have it than disk counts.
    error: i32,
    /// One more than the place of its newest posting; 0 where there is none.
    newest: u32,
}

#[derive(Debug)]
struct Posting {
    number: u32,
    count: u32,
    /// Of the same term, as `newest`.
    before: u32,
}

impl Tail {
    /// Takes the new state of a memory, or its end, with the change that brought it.
    pub(crate) fn mark(&mut self, number: u32, change: u64) {
        self.members.insert(number, change);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        self.members.contains_key(&number)
    }

    /// The lowest number in it.
    pub(crate) fn first(&self) -> Option<u32> {
        self.members.keys().next().copied()
    }

    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.members.keys().copied().collect()
    }

    /// Lets go of what a commit has, and answers what that was. Forgets all about terms: they are to be told again.
    pub(crate) fn settle(&mut self, committed_to: u64) -> Vec<u32> {
        let mut settled = Vec::new();
        self.members.retain(|number, change| {
            let stays = *change > committed_to;
            settled.extend((!stays).then_some(*number));
            stays
        });
        (self.terms, self.postings) = Default::default();
        settled
    }

    /// By how much the frequency on disk is off.
    pub(crate) fn frequency_error(&self, key: u64) -> i64 {
        self.terms.get(&key).map_or(0, |term| i64::from(term.error))
    }

    /// Counts terms once less than disk does.
    pub(crate) fn discount(&mut self, terms: impl Iterator<Item = TermCount>) {
        for term in terms {
            let known = self.terms.entry(term.key()).or_default();
            known.error = known.error.saturating_sub(1);
        }
    }

    /// Notes the terms of a memory, which disk does not count; where its postings begin.
    pub(crate) fn post(&mut self, number: u32, terms: &[TermCount]) -> u32 {
        // More than 32 bits would count do not fit into memory.
        let first = self.postings.len() as u32;
        for term in terms {
            let known = self.terms.entry(term.key()).or_default();
            known.error = known.error.saturating_add(1);
            self.postings.push(Posting { number, count: term.whole_count(), before: known.newest });
            known.newest = self.postings.len() as u32;
        }
        first
    }

    /// The memories that a term leads to, newest first, each with the place of its posting and how often the term stands in
    /// it. What a memory no longer says is among them.
    pub(crate) fn postings(&self, key: u64) -> impl Iterator<Item = (u32, u32, u32)> {
        let mut next = self.terms.get(&key).map_or(0, |term| term.newest);
        std::iter::from_fn(move || {
            let place = next.checked_sub(1)?;
            let posting = self.postings.get(place as usize)?;
            next = posting.before;
            Some((posting.number, place, posting.count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term_key::count_keys;

    const HERON: u64 = 7;
    const OTTER: u64 = 8;

    #[test]
    fn a_term_leads_to_what_has_it_and_is_counted_once_for_each() {
        let mut tail = Tail::default();
        let both = count_keys(vec![HERON, OTTER, OTTER]);
        assert_eq!(tail.post(1, &both), 0);
        assert_eq!(tail.post(2, &count_keys(vec![OTTER])), 2);
        let postings = |tail: &Tail, key| tail.postings(key).collect::<Vec<_>>();
        assert_eq!(postings(&tail, OTTER), [(2, 2, 1), (1, 1, 2)]);
        assert_eq!(postings(&tail, HERON), [(1, 0, 1)]);
        assert!(postings(&tail, 9).is_empty());
        tail.discount(both.into_iter());
        assert_eq!((tail.frequency_error(HERON), tail.frequency_error(OTTER)), (0, 1));
    }

    #[test]
    fn what_a_commit_has_is_let_go_and_all_terms_with_it() {
        let mut tail = Tail::default();
        for (number, change) in [(1, 4), (2, 5), (3, 6)] {
            tail.mark(number, change);
            tail.post(number, &count_keys(vec![HERON]));
        }
        assert_eq!(tail.settle(5), [1, 2]);
        assert_eq!((tail.numbers(), tail.first()), (vec![3], Some(3)));
        assert_eq!((tail.frequency_error(HERON), tail.postings(HERON).count()), (0, 0));
    }
}
