//! Searching for the most useful memories, and reading those that are picked.

use spine_protocol::Body;
use spine_store::{Filter, UnixMs};

use super::gather::{Question, questions};
use super::gathering::{Gathering, Useful};
use super::limits::{
    HITS_WEIGHED_MIN, NEWEST_MEMORIES_WEIGHED, RECENT_MEMORIES_MAX, SEARCH_WAIT_MAX,
};
use super::shortlist::Shortlist;
use super::{HandoffRequest, Handoffs};
use crate::Caller;
use crate::memories::{ListRequest, SearchRequest};
use crate::patience::within;

impl Handoffs {
    /// What the search finds. A search that fails is no reason to fail: the gap is named.
    pub(super) async fn found(
        &self,
        caller: &Caller,
        request: &HandoffRequest,
        body: &Body,
        filter: Filter,
        now: UnixMs,
    ) -> Useful {
        let mut useful = Useful::default();
        if request.include_recent == 0 {
            return useful;
        }
        let filter = Filter { thread: request.thread.clone(), ..filter };
        let limit = (request.include_recent * 2).clamp(HITS_WEIGHED_MIN, RECENT_MEMORIES_MAX);
        for Question { text, weight, hits_max } in questions(body) {
            let limit = hits_max.map_or(limit, |max| limit.min(max));
            let search = SearchRequest { text, filter: filter.clone(), limit, explain: false };
            let hits = self.memories.hits(caller, search, now);
            match within(&self.timer, SEARCH_WAIT_MAX, hits).await {
                Some(Ok(answer)) => useful.add_found(answer, weight),
                Some(Err(_)) | None => {
                    useful.failed = true;
                    break;
                }
            }
        }
        useful
    }

    /// Offers the most useful of what nobody asked for. What is newest is read only where it could be picked.
    pub(super) async fn offer_useful(
        &self,
        caller: &Caller,
        request: &HandoffRequest,
        filter: Filter,
        gathering: &mut Gathering,
    ) {
        if request.include_recent == 0 {
            return;
        }
        let filter = Filter { thread: request.thread.clone(), ..filter };
        let count = request.include_recent.min(RECENT_MEMORIES_MAX);
        let mut shortlist = Shortlist::new(gathering, count);
        let failed = self.read_wanted(caller, &filter, gathering.now(), &mut shortlist).await;
        if shortlist.wants_newest() {
            let limit = NEWEST_MEMORIES_WEIGHED;
            let list = ListRequest { filter, limit, ..ListRequest::default() };
            if let Ok(newest) = self.memories.list(caller, list).await {
                shortlist.add_newest(newest.items);
            }
        }
        let picked = shortlist.into_picked();
        gathering.offer_useful(picked);
        if failed {
            gathering.fail_search();
        }
    }

    /// Reads hits while one could be picked; whether that failed.
    async fn read_wanted(
        &self,
        caller: &Caller,
        filter: &Filter,
        now: UnixMs,
        shortlist: &mut Shortlist<'_>,
    ) -> bool {
        loop {
            let wanted = shortlist.take_wanted();
            if wanted.is_empty() {
                return false;
            }
            let read = self.memories.admitted(caller, wanted, filter, now);
            match within(&self.timer, SEARCH_WAIT_MAX, read).await {
                Some(Ok(memories)) => shortlist.add(memories),
                Some(Err(_)) | None => return true,
            }
        }
    }
}
