//! The newest events of each workspace, as they stand in the log: whoever follows it finds them here, and reads rows only
//! where it is behind.

use std::collections::VecDeque;
use std::sync::Arc;

use lru::LruCache;
use spine_protocol::WorkspaceName;
use spine_store::{Change, Event, EventDraft, Page, Receipt, UnixMs};

/// What an event weighs beside its texts.
const EVENT_BYTES: usize = 500;

/// Those of all workspaces, within bounds.
pub(crate) struct EventTails {
    tails: LruCache<WorkspaceName, Tail>,
    bytes: usize,
    bytes_max: usize,
}

/// Everything that happened behind one change.
struct Tail {
    behind: Change,
    events: VecDeque<Arc<Event>>,
    bytes: usize,
}

impl EventTails {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { tails: LruCache::unbounded(), bytes: 0, bytes_max }
    }

    /// What happened behind a change, unless some of that is only in the log.
    pub(crate) fn page(
        &mut self,
        workspace: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> Option<Page<Arc<Event>, Change>> {
        let tail = self.tails.get(workspace).filter(|tail| tail.behind <= after)?;
        let first = tail.events.partition_point(|event| event.change <= after);
        Some(Page::of(tail.events.range(first..).cloned(), limit, |event| event.change))
    }

    /// The events of a command that is on disk now. Commands are noted in their order, and all of them.
    pub(crate) fn note(
        &mut self,
        workspace: &WorkspaceName,
        at: UnixMs,
        drafts: Vec<EventDraft>,
        first: Change,
        receipt: &Receipt,
    ) {
        if drafts.is_empty() {
            return;
        }
        let behind = Change(first.0.saturating_sub(1));
        let new = || Tail { behind, events: VecDeque::new(), bytes: 0 };
        let tail = self.tails.get_or_insert_mut_ref(workspace, new);
        for (change, draft) in (first.0..).map(Change).zip(drafts) {
            let event = draft.into_event(change, at, receipt);
            let bytes = weight(&event);
            tail.events.push_back(Arc::new(event));
            tail.bytes += bytes;
            self.bytes += bytes;
        }
        self.shrink();
    }

    /// What is in the log was changed, or may have been.
    pub(crate) fn forget(&mut self, workspace: &WorkspaceName) {
        let forgotten = self.tails.pop(workspace);
        self.bytes -= forgotten.map_or(0, |tail| tail.bytes);
    }

    pub(crate) fn clear(&mut self) {
        self.tails.clear();
        self.bytes = 0;
    }

    /// First goes what nobody wrote to or read for the longest time, then what is oldest.
    fn shrink(&mut self) {
        while self.bytes > self.bytes_max && self.tails.len() > 1 {
            self.bytes -= self.tails.pop_lru().map_or(0, |(_, tail)| tail.bytes);
        }
        let Some((_, tail)) = self.tails.iter_mut().next() else { return };
        while self.bytes > self.bytes_max {
            let Some(oldest) = tail.events.pop_front() else { return };
            let bytes = weight(&oldest);
            (tail.behind, tail.bytes) = (oldest.change, tail.bytes - bytes);
            self.bytes -= bytes;
        }
    }
}

fn weight(event: &Event) -> usize {
    EVENT_BYTES + event.data.size_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM_FOR_THREE: usize = 3 * EVENT_BYTES;

    fn note(tails: &mut EventTails, workspace: &str, first: u64, kinds: &[&'static str]) {
        let drafts = kinds.iter().map(|kind| EventDraft::new(kind)).collect();
        let receipt = Receipt { first_change: Change(first), first_memory: None, memories: 0 };
        tails.note(&workspace.parse().unwrap(), UnixMs(1), drafts, Change(first), &receipt);
    }

    fn check(tails: &mut EventTails, after: u64, expected: Option<(&[u64], bool)>) {
        let page = tails.page(&"a".parse().unwrap(), Change(after), 2);
        let found = page.map(|page| {
            let changes: Vec<u64> = page.items.iter().map(|event| event.change.0).collect();
            (changes, page.next.is_some())
        });
        assert_eq!(found, expected.map(|(changes, more)| (changes.to_vec(), more)));
    }

    #[test]
    fn only_who_is_near_the_end_is_answered() {
        let mut tails = EventTails::new(ROOM_FOR_THREE);
        check(&mut tails, 0, None);
        note(&mut tails, "a", 5, &["one", "two"]);
        check(&mut tails, 3, None);
        check(&mut tails, 4, Some((&[5, 6], false)));
        // A change of its own, without an event, came between.
        note(&mut tails, "a", 8, &["three", "four"]);
        check(&mut tails, 4, None);
        check(&mut tails, 5, Some((&[6, 8], true)));
        check(&mut tails, 8, Some((&[9], false)));
        check(&mut tails, 9, Some((&[], false)));
    }

    #[test]
    fn those_of_another_workspace_make_room_first() {
        let mut tails = EventTails::new(ROOM_FOR_THREE);
        note(&mut tails, "b", 1, &["one", "two"]);
        note(&mut tails, "a", 1, &["one", "two"]);
        check(&mut tails, 0, Some((&[1, 2], false)));
        assert_eq!((tails.tails.len(), tails.bytes), (1, 2 * EVENT_BYTES));
        tails.forget(&"a".parse().unwrap());
        assert_eq!((tails.tails.len(), tails.bytes), (0, 0));
    }
}
