//! Deliveries in the model.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::future::ready;
use std::ops::Bound::{Excluded, Unbounded};

use spine_protocol::{AgentName, DeliveryId, EnvelopeId, WorkspaceName};

use super::ModelStore;
use super::reads::{answer, in_order};
use super::workspace::{Step, Undo, Workspace};
use crate::limits::{QUEUES_MAX, check_read_many, page_rows};
use crate::{
    Change, Delivery, DeliveryQuery, DeliveryReads, DeliveryState, Expected, Page, QueueState,
    RowKey, StoreError, StoreFuture, UnixMs,
};

impl Workspace {
    pub(super) fn put_delivery(
        &mut self,
        delivery: &Delivery,
        step: &mut Step,
    ) -> Result<(), StoreError> {
        self.expect(&RowKey::Delivery(delivery.id), Expected::on_top_of(delivery.change))?;
        let before = self.deliveries.get(&delivery.id);
        let (change, updated_at) = (self.newest, step.at);
        let stays = |before: &&Delivery| !delivery.joins_lane(before);
        let sequence = before.filter(stays).map_or(change, |before| before.sequence);
        let written = Delivery { sequence, change, updated_at, ..delivery.clone() };
        self.set_delivery(delivery.id, Some(written), step);
        Ok(())
    }

    pub(super) fn drop_delivery(
        &mut self,
        id: DeliveryId,
        change: Change,
        step: &mut Step,
    ) -> Result<(), StoreError> {
        self.expect(&RowKey::Delivery(id), Expected::At(change))?;
        self.set_delivery(id, None, step);
        Ok(())
    }

    fn set_delivery(&mut self, id: DeliveryId, delivery: Option<Delivery>, step: &mut Step) {
        let before = match delivery {
            Some(delivery) => self.deliveries.insert(id, delivery),
            None => self.deliveries.remove(&id),
        };
        step.undo.push(Undo::Delivery(id, before.map(Box::new)));
    }

    fn pending(&self, agent: &AgentName) -> impl Iterator<Item = &Delivery> {
        let own = self.deliveries.values().filter(move |d| d.agent == *agent);
        own.filter(|delivery| delivery.state == DeliveryState::Pending)
    }

    /// Whether an older one under the same order key is still open.
    fn must_wait(&self, delivery: &Delivery) -> bool {
        let older = |other: &Delivery| {
            other.agent == delivery.agent
                && other.order_key == delivery.order_key
                && other.state.is_open()
                && other.sequence < delivery.sequence
        };
        delivery.order_key.is_some() && self.deliveries.values().any(older)
    }

    fn ready(&self, agent: &AgentName, now: UnixMs, limit: usize) -> Vec<Delivery> {
        let visible = self.pending(agent).filter(|delivery| delivery.visible_at <= now);
        let mut ready: Vec<&Delivery> = visible.filter(|d| !self.must_wait(d)).collect();
        ready.sort_by_key(|delivery| (Reverse(delivery.priority as u8), delivery.sequence));
        ready.into_iter().take(limit).cloned().collect()
    }

    fn listed_deliveries(&self, query: &DeliveryQuery) -> Page<Delivery, DeliveryId> {
        let after = query.after.map_or(Unbounded, Excluded);
        let deliveries = in_order(&self.deliveries, after, query.newest_first);
        let admitted = deliveries.filter(|delivery| query.admits(delivery));
        Page::of(admitted.cloned(), page_rows(query.limit), |delivery| delivery.id)
    }

    fn queue_states(&self) -> Vec<QueueState> {
        let mut queues = BTreeMap::new();
        let counts = |delivery: &&Delivery| {
            delivery.state.is_open() || delivery.state == DeliveryState::Parked
        };
        for Delivery { agent, state, visible_at, .. } in self.deliveries.values().filter(counts) {
            let queue = queues.entry(agent).or_insert_with(|| QueueState::new(agent.clone()));
            queue.add(*state, 1, Some(*visible_at));
        }
        queues.into_values().take(QUEUES_MAX).collect()
    }
}

impl DeliveryReads for ModelStore {
    fn deliveries(
        &self,
        workspace: &WorkspaceName,
        ids: Vec<DeliveryId>,
    ) -> StoreFuture<'_, Vec<Delivery>> {
        let rows = self.read(workspace, |w| {
            ids.iter().filter_map(|id| w.deliveries.get(id).cloned()).collect()
        });
        Box::pin(ready(check_read_many(ids.len()).map(|()| rows)))
    }

    fn ready_deliveries(
        &self,
        workspace: &WorkspaceName,
        agent: AgentName,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Delivery>> {
        answer(self.read(workspace, |w| w.ready(&agent, now, page_rows(limit))))
    }

    fn next_visible(
        &self,
        workspace: &WorkspaceName,
        agent: AgentName,
    ) -> StoreFuture<'_, Option<UnixMs>> {
        answer(self.read(workspace, |w| w.pending(&agent).map(|d| d.visible_at).min()))
    }

    fn due_deliveries(
        &self,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(WorkspaceName, Delivery)>> {
        let workspaces = self.lock();
        let all = workspaces.iter().flat_map(|(n, w)| w.deliveries.values().map(move |d| (n, d)));
        let mut due: Vec<_> = all.filter(|(_, d)| d.due_at.is_some_and(|due| due <= now)).collect();
        due.sort_by_key(|(_, delivery)| delivery.due_at);
        let due = due.into_iter().take(page_rows(limit));
        answer(due.map(|(name, delivery)| (name.clone(), delivery.clone())).collect())
    }

    fn lineage_deliveries(
        &self,
        workspace: &WorkspaceName,
        root: EnvelopeId,
        after: Option<DeliveryId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<Delivery, DeliveryId>> {
        answer(self.read(workspace, |w| {
            let later = w.deliveries.range((after.map_or(Unbounded, Excluded), Unbounded));
            let of_root = later.map(|(_, delivery)| delivery).filter(|d| d.root == root);
            Page::of(of_root.cloned(), page_rows(limit), |delivery| delivery.id)
        }))
    }

    fn list_deliveries(
        &self,
        workspace: &WorkspaceName,
        query: DeliveryQuery,
    ) -> StoreFuture<'_, Page<Delivery, DeliveryId>> {
        answer(self.read(workspace, |w| w.listed_deliveries(&query)))
    }

    fn queues(&self, workspace: &WorkspaceName) -> StoreFuture<'_, Vec<QueueState>> {
        answer(self.read(workspace, Workspace::queue_states))
    }

    fn old_roots(
        &self,
        workspace: &WorkspaceName,
        after: Option<EnvelopeId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<EnvelopeId, EnvelopeId>> {
        answer(self.read(workspace, |w| {
            let later = w.envelopes.range((after.map_or(Unbounded, Excluded), Unbounded));
            let roots =
                later.filter(|(_, envelope)| envelope.id == envelope.root && !envelope.pruned);
            Page::of(roots.map(|(id, _)| *id), page_rows(limit), |id| *id)
        }))
    }
}
