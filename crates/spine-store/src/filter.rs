//! Which memories are meant: the same words for a list and for a search.

use spine_protocol::{MemoryId, Subject};

use crate::{Author, Kind, Memory, Tag, ThreadName, UnixMs};

/// Whom the memories may be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubjectFilter {
    /// This subject and nobody else.
    Only(Subject),
    /// This subject, or nobody in particular: what a handoff for a subject may draw on.
    OrGeneral(Subject),
    /// Nobody in particular: what a handoff without a subject may draw on.
    General,
}

impl SubjectFilter {
    fn admits(&self, subject: Option<&Subject>) -> bool {
        match self {
            Self::Only(wanted) => subject == Some(wanted),
            Self::OrGeneral(wanted) => subject.is_none_or(|subject| subject == wanted),
            Self::General => subject.is_none(),
        }
    }
}

/// Narrows a list or a search. Every part that is given must hold; an empty filter admits all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// One of these ids.
    pub ids: Option<Vec<MemoryId>>,
    /// In this thread.
    pub thread: Option<ThreadName>,
    /// About whom.
    pub subject: Option<SubjectFilter>,
    /// One of these kinds; none given is any.
    pub kinds: Vec<Kind>,
    /// All of these tags.
    pub tags: Vec<Tag>,
    /// Written by this author.
    pub author: Option<Author>,
    /// About this moment or later.
    pub about_from: Option<UnixMs>,
    /// About a moment before this.
    pub about_before: Option<UnixMs>,
    /// Pinned, or not.
    pub pinned: Option<bool>,
}

impl Filter {
    /// Whether a live memory passes. An expired one never does.
    pub fn admits(&self, memory: &Memory, now: UnixMs) -> bool {
        let body = &memory.body;
        !body.is_expired(now)
            && self.ids.as_ref().is_none_or(|ids| ids.contains(&memory.id))
            && self.thread.as_ref().is_none_or(|thread| body.thread.as_ref() == Some(thread))
            && self.subject.as_ref().is_none_or(|filter| filter.admits(body.subject.as_ref()))
            && (self.kinds.is_empty() || self.kinds.contains(&body.kind))
            && self.tags.iter().all(|tag| body.tags.contains(tag))
            && self.author.as_ref().is_none_or(|author| body.author.as_ref() == Some(author))
            && self.pinned.is_none_or(|pinned| body.pinned == pinned)
            && self.admits_time(memory.about_at())
    }

    fn admits_time(&self, about: UnixMs) -> bool {
        self.about_from.is_none_or(|from| from <= about)
            && self.about_before.is_none_or(|before| about < before)
    }
}

/// In which order a list goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Last stored first.
    #[default]
    NewestFirst,
    /// First stored first: how a thread is read.
    OldestFirst,
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// Which memories.
    pub filter: Filter,
    /// What counts as expired.
    pub now: UnixMs,
    /// In which order.
    pub order: Order,
    /// Go on behind this one.
    pub after: Option<MemoryId>,
    /// At most so many.
    pub limit: usize,
}
