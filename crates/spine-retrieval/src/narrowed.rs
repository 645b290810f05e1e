//! A filter in the workspace's own numbers, and what passes it.

use spine_store::{Filter, SubjectFilter, UnixMs};

use crate::names::{NO_NAME, Names};
use crate::space::{Slot, Space};

/// Which memories may be found.
pub(crate) enum Passing {
    /// Every live one that has not expired.
    All { now_ms: i64 },
    /// Every live one about one of these that has not expired.
    About { subjects: Vec<u32>, now_ms: i64 },
    /// These, by number.
    Few(Vec<u32>),
    /// Those that are marked.
    Many { marks: Vec<bool> },
}

impl Passing {
    pub(crate) fn new(space: &Space, filter: &Filter, now: UnixMs) -> Self {
        if *filter == Filter::default() && space.live > space.limits.direct_memories_max {
            return Self::All { now_ms: now.0 };
        }
        if let Some(passing) = Self::about(space, filter, now) {
            return passing;
        }
        let Some(narrowed) = Narrowed::new(space, filter, now) else {
            return Self::Few(Vec::new());
        };
        let few = narrowed.numbers(space);
        if few.len() <= space.limits.direct_memories_max {
            return Self::Few(few);
        }
        let mut marks = vec![false; space.numbers()];
        for number in &few {
            marks.get_mut(*number as usize).into_iter().for_each(|mark| *mark = true);
        }
        Self::Many { marks }
    }

    /// A handoff asks for a subject and nothing else. Then each memory is asked when it is met: marking all beforehand
    /// would cost more than the search. `None` where the filter asks for more, or so few pass that they are listed.
    fn about(space: &Space, filter: &Filter, now: UnixMs) -> Option<Self> {
        let wanted = filter.subject.as_ref()?;
        let nothing_else = Filter { subject: Some(wanted.clone()), ..Filter::default() };
        let subjects = subjects(&space.names.subjects, wanted);
        let count = space.subject_count(&subjects);
        if *filter != nothing_else || count <= space.limits.direct_memories_max {
            return None;
        }
        let now_ms = now.0;
        let all = count == space.live;
        Some(if all { Self::All { now_ms } } else { Self::About { subjects, now_ms } })
    }

    /// Whether a memory may be found.
    #[inline]
    pub(crate) fn contains(&self, space: &Space, number: u32) -> bool {
        match self {
            Self::All { now_ms } => {
                space.slot(number).is_some_and(|slot| slot.expires_ms > *now_ms)
            }
            Self::About { subjects, now_ms } => {
                let fresh = |slot: &Slot| slot.expires_ms > *now_ms;
                subjects.contains(&space.subject(number))
                    && (space.expiring == 0 || space.slot(number).is_some_and(fresh))
            }
            Self::Few(numbers) => numbers.binary_search(&number).is_ok(),
            Self::Many { marks } => marks.get(number as usize).copied().unwrap_or_default(),
        }
    }
}

struct Narrowed<'f> {
    filter: &'f Filter,
    now_ms: i64,
    thread: Option<u32>,
    author: Option<u32>,
    kinds: Vec<u32>,
    tags: Vec<u32>,
    /// Subjects that are admitted; `NO_NAME` is nobody in particular.
    subjects: Option<Vec<u32>>,
    ids: Option<Vec<u32>>,
}

impl<'f> Narrowed<'f> {
    /// `None` when a name in the filter occurs nowhere: nothing can pass.
    fn new(space: &Space, filter: &'f Filter, now: UnixMs) -> Option<Self> {
        let names = &space.names;
        let kinds: Vec<u32> =
            filter.kinds.iter().filter_map(|kind| names.kinds.number(kind.as_str())).collect();
        if kinds.is_empty() && !filter.kinds.is_empty() {
            return None;
        }
        let tag = |tag: &spine_store::Tag| names.tags.number(tag.as_str());
        Some(Self {
            filter,
            now_ms: now.0,
            thread: known(&names.threads, filter.thread.as_ref().map(|thread| thread.as_str()))?,
            author: known(&names.authors, filter.author.as_ref().map(|author| author.as_str()))?,
            kinds,
            tags: filter.tags.iter().map(tag).collect::<Option<_>>()?,
            subjects: filter.subject.as_ref().map(|filter| subjects(&names.subjects, filter)),
            ids: filter.ids.as_ref().map(|ids| sorted_numbers(ids)),
        })
    }

    fn numbers(&self, space: &Space) -> Vec<u32> {
        let passing = |number: &u32| space.slot(*number).is_some_and(|slot| self.admits(slot));
        if let Some(ids) = &self.ids {
            return ids.iter().copied().filter(passing).collect();
        }
        if let Some(thread) = self.thread {
            let members = space.threads().get(thread as usize).map_or(&[][..], Vec::as_slice);
            return members.iter().copied().filter(passing).collect();
        }
        space.live_slots().filter(|(_, slot)| self.admits(slot)).map(|(number, _)| number).collect()
    }

    fn admits(&self, slot: &Slot) -> bool {
        slot.expires_ms > self.now_ms
            && self.thread.is_none_or(|thread| slot.thread == thread)
            && self.author.is_none_or(|author| slot.author == author)
            && (self.kinds.is_empty() || self.kinds.contains(&slot.kind))
            && self.tags.iter().all(|tag| slot.tags.contains(tag))
            && self.subjects.as_ref().is_none_or(|subjects| subjects.contains(&slot.subject))
            && self.filter.pinned.is_none_or(|pinned| slot.pinned == pinned)
            && self.filter.about_from.is_none_or(|from| from.0 <= slot.about_ms)
            && self.filter.about_before.is_none_or(|before| slot.about_ms < before.0)
    }
}

/// The number of a wanted name: `None` when it is wanted and unknown.
fn known(names: &Names, wanted: Option<&str>) -> Option<Option<u32>> {
    wanted.map_or(Some(None), |name| names.number(name).map(Some))
}

fn subjects(names: &Names, filter: &SubjectFilter) -> Vec<u32> {
    match filter {
        SubjectFilter::Only(subject) => names.number(subject.as_str()).into_iter().collect(),
        SubjectFilter::OrGeneral(subject) => {
            names.number(subject.as_str()).into_iter().chain([NO_NAME]).collect()
        }
        SubjectFilter::General => vec![NO_NAME],
    }
}

fn sorted_numbers(ids: &[spine_protocol::MemoryId]) -> Vec<u32> {
    let mut numbers: Vec<u32> = ids.iter().filter_map(|id| id.number().try_into().ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
