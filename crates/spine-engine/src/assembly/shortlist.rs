//! The most useful memories that nobody asked for, with as few of them read as can be.
//!
//! How useful a hit is by itself is known before it is read; what it repeats of others is not, and can only lower its worth.
//! Hits are read from the most useful on, until no unread one could be among the picks. So the picks are those that reading
//! all would give.

use spine_protocol::MemoryId;
use spine_store::Memory;

use super::gathering::Gathering;
use super::limits::HITS_READ_AHEAD;
use super::redundancy::{Carried, Picked, Weighed, most_useful_together};
use super::value::Usefulness;

/// Memories on their way to be picked.
pub(super) struct Shortlist<'g> {
    gathering: &'g Gathering,
    carried: Carried,
    count: usize,
    /// The most useful last.
    unread: Vec<(f64, MemoryId)>,
    /// The most useful first.
    read: Vec<(Memory, Weighed)>,
    picks: Vec<Picked>,
}

impl<'g> Shortlist<'g> {
    /// Of what the search found and nobody asked for.
    pub fn new(gathering: &'g Gathering, count: usize) -> Self {
        let now = gathering.now();
        let mut unread: Vec<(f64, MemoryId)> =
            gathering.hints_left().map(|(id, hint)| (hint.score(now), id)).collect();
        unread.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let carried = gathering.carried();
        Self { gathering, carried, count, unread, read: Vec::new(), picks: Vec::new() }
    }

    /// What to read next; nothing once no unread hit could be picked.
    pub fn take_wanted(&mut self) -> Vec<MemoryId> {
        let hopeless = self.unread.partition_point(|(score, _)| !self.could_use(*score));
        let later = self.unread.len().saturating_sub(self.count + HITS_READ_AHEAD);
        let later = if self.read.is_empty() { later } else { 0 };
        let wanted = self.unread.split_off(hopeless.max(later));
        wanted.into_iter().rev().map(|(_, id)| id).collect()
    }

    /// Whether what is newest could be picked, though the search did not find it.
    pub fn wants_newest(&self) -> bool {
        self.could_use(Usefulness { relevance: 0.0, recency: 1.0, priority: 1.0 }.score())
    }

    /// Whether a memory that scores so much at most could be picked. Equal ones may be: the newer goes first.
    fn could_use(&self, score_max: f64) -> bool {
        let last = self.picks.get(self.count.saturating_sub(1));
        last.is_none_or(|last| score_max >= last.worth)
    }

    /// Takes hits that were read.
    pub fn add(&mut self, memories: impl IntoIterator<Item = Memory>) {
        for memory in memories.into_iter().filter(|memory| self.gathering.is_left(memory)) {
            let useful = self.gathering.usefulness(&memory).score();
            let weighed = Weighed::new(useful, &memory.body.text, &self.carried);
            self.read.push((memory, weighed));
        }
        self.read.sort_by(|(a, of_a), (b, of_b)| {
            of_b.useful.total_cmp(&of_a.useful).then(b.id.cmp(&a.id))
        });
        let weighed: Vec<&Weighed> = self.read.iter().map(|(_, weighed)| weighed).collect();
        self.picks = most_useful_together(&weighed, self.count);
    }

    /// Takes what is newest; what the search found is here already, or could not be picked.
    pub fn add_newest(&mut self, memories: Vec<Memory>) {
        let gathering = self.gathering;
        self.add(memories.into_iter().filter(|memory| gathering.relevance(memory.id).is_none()));
    }

    /// The picks, best first.
    pub fn into_picked(self) -> Vec<Memory> {
        let mut read: Vec<Option<Memory>> =
            self.read.into_iter().map(|(memory, _)| Some(memory)).collect();
        let picked = |pick: &Picked| read.get_mut(pick.index).and_then(Option::take);
        self.picks.iter().filter_map(picked).collect()
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use spine_protocol::Priority;
    use spine_store::{Change, Hit, MemoryBody, SearchAnswer, UnixMs};

    use super::super::gathering::Useful;
    use super::*;

    const NOW: UnixMs = UnixMs(1_768_469_400_000);
    const DAY_MS: i64 = 86_400_000;

    fn memory(rng: &mut Rng, number: u64) -> Memory {
        let words: Vec<String> = (0..rng.usize(1..9)).map(|_| rng.u8(..30).to_string()).collect();
        let kind = if rng.u8(..9) == 0 { "reasoning" } else { "note" };
        let body = MemoryBody {
            text: words.join(" "),
            kind: kind.parse().unwrap(),
            priority: Priority::ALL[rng.usize(..Priority::ALL.len())],
            ..MemoryBody::default()
        };
        let at = UnixMs(NOW.0 - rng.i64(0..60) * DAY_MS);
        let id = MemoryId::new(number).unwrap();
        Memory { id, version: 1, change: Change(number), created_at: at, updated_at: at, body }
    }

    fn hits(rng: &mut Rng, memories: &[Memory]) -> SearchAnswer {
        let lowest = rng.f64();
        let hit = |memory: &Memory| Hit {
            id: memory.id,
            version: memory.version,
            about: memory.about_at(),
            priority: memory.body.priority,
            score: lowest + (f64::from(rng.u8(..20)) / 20.0) * (1.0 - lowest),
            parts: Vec::new(),
        };
        let mut hits: Vec<Hit> = memories.iter().map(hit).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        SearchAnswer { hits, degraded: Vec::new() }
    }

    fn ids(shortlist: Shortlist<'_>) -> Vec<MemoryId> {
        shortlist.into_picked().iter().map(|memory| memory.id).collect()
    }

    #[test]
    fn reading_few_picks_the_same_as_reading_all() {
        let (mut read, mut all) = (0, 0);
        for seed in 0..200 {
            let rng = &mut Rng::with_seed(seed);
            let found: Vec<Memory> = (1..=rng.u64(0..200)).map(|n| memory(rng, n)).collect();
            let newest: Vec<Memory> = (150..250).map(|n| memory(rng, n)).collect();
            let mut useful = Useful::default();
            useful.add_found(hits(rng, &found), 1.0);
            let gathering = Gathering::new(useful, NOW);
            let count = rng.usize(1..30);
            let mut whole = Shortlist::new(&gathering, count);
            whole.add(found.clone());
            whole.add_newest(newest.clone());
            let mut sparing = Shortlist::new(&gathering, count);
            loop {
                let wanted = sparing.take_wanted();
                if wanted.is_empty() {
                    break;
                }
                read += wanted.len();
                sparing.add(found.iter().filter(|memory| wanted.contains(&memory.id)).cloned());
            }
            if sparing.wants_newest() {
                sparing.add_newest(newest);
            }
            all += found.len();
            assert_eq!(ids(sparing), ids(whole), "seed {seed}");
        }
        assert!(read < all * 2 / 3, "{read} of {all} were read");
    }
}
