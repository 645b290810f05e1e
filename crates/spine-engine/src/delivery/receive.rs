//! Receiving: a lease for whoever asks first, by priority, then oldest first.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use spine_protocol::{AgentName, DeliveryId, WorkspaceName};
use spine_store::limits::PAGE_ROWS_MAX;
use spine_store::{Applied, DeliveryState, StoredEnvelope, UnixMs};

use super::act::{Act, Standing, command};
use super::bell::Topic;
use super::breaker::Admission;
use super::fence::Fence;
use super::inbox::read_or_pass_over;
use super::limits::{LOOK_AGAIN, RACE_ATTEMPTS_MAX, RECEIVE_MAX, WAIT_MAX};
use super::machine::{Event, Step, step};
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::patience::within;

/// What a receiver asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiveRequest {
    /// As whom.
    pub agent: AgentName,
    /// How many at most.
    pub max: usize,
    /// How long to wait for the first one.
    pub wait: Duration,
    /// Another lease time than the policy's.
    pub lease_ms: Option<u64>,
    /// Whether they are accepted by this very call.
    pub accept: bool,
    /// What the receiver's process calls itself.
    pub holder: Option<String>,
    /// Handoffs below this completeness are rejected.
    pub completeness_min: Option<f64>,
}

impl ReceiveRequest {
    /// One delivery, if there is one now.
    pub fn new(agent: AgentName) -> Self {
        Self {
            agent,
            max: 1,
            wait: Duration::ZERO,
            lease_ms: None,
            accept: false,
            holder: None,
            completeness_min: None,
        }
    }
}

/// A delivery in a receiver's hands.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// The delivery.
    pub delivery: Delivery,
    /// What is delivered.
    pub envelope: StoredEnvelope,
    /// The lease to show at every further step.
    pub fence: Fence,
}

impl Received {
    /// What it takes to give it back.
    pub fn handle(&self) -> Handle {
        Handle::of(&self.delivery, self.fence.clone())
    }
}

/// One lease, as much of it as giving it back takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    /// The delivery.
    pub id: DeliveryId,
    /// The lease on it.
    pub fence: Fence,
    ticket: u64,
}

impl Handle {
    fn of(leased: &Delivery, fence: Fence) -> Self {
        let ticket = leased.story.lease.as_ref().map_or(0, |lease| lease.ticket);
        Self { id: leased.row.id, fence, ticket }
    }
}

/// What one look for work gave.
#[derive(Default)]
struct Claimed {
    received: Vec<Received>,
    /// How many could be taken.
    found: usize,
}

impl Deliveries {
    /// Waits for work and takes it.
    pub async fn receive(&self, caller: &Caller, request: ReceiveRequest) -> Result<Vec<Received>> {
        if request.max > RECEIVE_MAX {
            let (field, found, max, unit) = ("max", request.max, RECEIVE_MAX, "deliveries");
            return Err(DeliveryError::TooLarge { field, found, max, unit });
        }
        let until = self.store.now().after(request.wait.min(WAIT_MAX));
        let topic = Topic::Inbox(caller.workspace.clone(), request.agent.clone());
        let mut races = 0;
        loop {
            let mut bell = self.bells.listen(topic.clone());
            let Claimed { received, found } = self.claim(caller, &request).await?;
            if received.is_empty() && found > 0 && races < RACE_ATTEMPTS_MAX {
                // Somebody else was first, or it was not complete enough: there may be more behind.
                races += 1;
                continue;
            }
            let now = self.store.now();
            if !received.is_empty() || now >= until || self.bells.is_stopped() {
                return Ok(received);
            }
            let pause = self.until_visible(&caller.workspace, &request.agent, now, until).await?;
            within(&self.timer, pause, bell.heard()).await;
        }
    }

    /// How long until there may be something without anybody ringing.
    async fn until_visible(
        &self,
        workspace: &WorkspaceName,
        agent: &AgentName,
        now: UnixMs,
        until: UnixMs,
    ) -> Result<Duration> {
        let next = self.store.next_visible(workspace, agent.clone()).await?;
        let next = next.filter(|at| *at > now).unwrap_or(until).min(until);
        let ms = u64::try_from(next.0 - now.0).unwrap_or_default();
        Ok(Duration::from_millis(ms).min(LOOK_AGAIN))
    }

    async fn claim(&self, caller: &Caller, request: &ReceiveRequest) -> Result<Claimed> {
        let workspace = &caller.workspace;
        let now = self.store.now();
        let mut standings = self.standings(workspace, std::iter::once(&request.agent)).await?;
        let standing = standings.remove(&request.agent).unwrap_or_default();
        let inbox = self.inboxes.open(workspace, &request.agent);
        let wanted = match standing.admission(now) {
            _ if standing.paused => return Ok(Claimed::default()),
            Admission::All => request.max,
            Admission::Probe => request.max.min(1),
            Admission::None(_) => {
                return Box::pin(self.claim_probe(caller, request, &standing)).await;
            }
        };
        let mut in_hands = inbox.take(self, workspace, &request.agent, wanted, now).await?;
        let deliveries = std::mem::take(&mut in_hands.found);
        let found = deliveries.len();
        let (taken, unhanded) = self.lease(caller, request, deliveries, &standing).await?;
        drop(in_hands);
        let received = self.handed(caller, request, taken).await?;
        unhanded.disarm();
        Ok(Claimed { received, found })
    }

    /// A direct handoff that is the probe can be taken though the circuit is open to all others.
    async fn claim_probe(
        &self,
        caller: &Caller,
        request: &ReceiveRequest,
        standing: &Standing,
    ) -> Result<Claimed> {
        let (workspace, now) = (&caller.workspace, self.store.now());
        let rows = self.ready_probe(workspace, &request.agent, standing, now).await?;
        let found = rows.into_iter().filter_map(read_or_pass_over).collect();
        let (taken, unhanded) = self.lease(caller, request, found, standing).await?;
        let received = self.handed(caller, request, taken).await?;
        unhanded.disarm();
        Ok(Claimed { received, found: 0 })
    }

    /// The probe, if it waits to be taken.
    pub(super) async fn ready_probe(
        &self,
        workspace: &WorkspaceName,
        agent: &AgentName,
        standing: &Standing,
        now: UnixMs,
    ) -> Result<Vec<spine_store::Delivery>> {
        let Some(id) = standing.probe() else { return Ok(Vec::new()) };
        let mut rows = self.store.deliveries(workspace, vec![id]).await?;
        rows.retain(|row| {
            row.state == DeliveryState::Pending && row.agent == *agent && row.visible_at <= now
        });
        if rows.iter().any(|row| row.order_key.is_some()) {
            // A probe waits for its turn like any other.
            let limit = PAGE_ROWS_MAX;
            let ready = self.store.ready_deliveries(workspace, agent.clone(), now, limit).await?;
            rows.retain(|row| ready.iter().any(|ready| ready.id == row.id));
        }
        Ok(rows)
    }

    /// Leases those of the rows that are still as they were read.
    async fn lease(
        &self,
        caller: &Caller,
        request: &ReceiveRequest,
        found: Vec<Delivery>,
        standing: &Standing,
    ) -> Result<(Vec<Delivery>, Unhanded<'_>)> {
        let workspace = &caller.workspace;
        let now = self.store.now();
        let (mut steps, mut commands) = (Vec::new(), Vec::new());
        for before in found {
            let Some((act, step)) = self.leased(caller, request, &before, now) else { continue };
            let mut command = command(workspace, &act, &step, now);
            if standing.admission(now) == Admission::Probe {
                command.puts.extend(standing.probing(act.id, now));
            }
            commands.push(command);
            steps.push(step);
        }
        let mut unhanded = Unhanded::new(self, workspace, &steps);
        if commands.is_empty() {
            return Ok((Vec::new(), unhanded));
        }
        let outcomes = self.store.apply(commands).await?;
        let mut taken = Vec::with_capacity(steps.len());
        let mut effects = Vec::new();
        for (step, outcome) in steps.into_iter().zip(outcomes) {
            if let Ok(Applied::Now(receipt)) = outcome {
                self.ring(workspace, &step);
                let Step { after: mut delivery, effects: mut more } = step;
                (delivery.row.change, delivery.row.updated_at) = (receipt.put_change(0), now);
                effects.extend(more.drain(..).map(|effect| (delivery.row.id, effect)));
                taken.push(delivery);
            }
        }
        unhanded.keep(&taken);
        if standing.breaker.is_some() {
            self.tell_breakers(workspace, &effects, &Default::default()).await?;
        }
        Ok((taken, unhanded))
    }

    fn leased(
        &self,
        caller: &Caller,
        request: &ReceiveRequest,
        before: &Delivery,
        now: UnixMs,
    ) -> Option<(Act, Step)> {
        let (holder, lease_ms, accept) = (request.holder.clone(), request.lease_ms, request.accept);
        let event = Event::Lease { holder, lease_ms, accept };
        let mut act = Act::new(caller, before.row.id, event.clone());
        act.actor = Some(request.agent.clone());
        Some((act, step(before, event, &self.moment(now, None)).ok()?))
    }

    /// With their envelopes; what is not complete enough for this receiver goes back to its sender.
    async fn handed(
        &self,
        caller: &Caller,
        request: &ReceiveRequest,
        taken: Vec<Delivery>,
    ) -> Result<Vec<Received>> {
        let mut received = Vec::with_capacity(taken.len());
        for delivery in taken {
            let fence = self.fence_of(&delivery);
            let (id, found) = (delivery.row.id, delivery.story.completeness);
            if let Some(min) = request.completeness_min.filter(|min| found < *min) {
                let reason = format!("its completeness is {found:.2}, the receiver wants {min:.2}");
                let event = Event::Reject { fence, reason, question: None };
                Box::pin(self.act(&caller.workspace, Act::new(caller, id, event))).await?;
                continue;
            }
            let envelope = self.store.envelope(&caller.workspace, delivery.row.envelope).await?;
            let missing = || DeliveryError::NotFound {
                kind: "envelope",
                name: delivery.row.envelope.to_string(),
            };
            let envelope = envelope.ok_or_else(missing)?;
            received.push(Received { delivery, envelope, fence });
        }
        Ok(received)
    }

    /// Gives back what was taken and could not be handed over, soon and without spending an attempt. Does not wait, so
    /// that it can be called where somebody goes away.
    pub fn give_back(&self, caller: &Caller, lease: Handle) {
        lock(&self.orphans).push(Orphan { workspace: caller.workspace.clone(), lease });
        self.bells.ring(&Topic::Due);
    }

    /// Gives back what never reached its receiver. Part of what is due.
    pub(super) async fn release_orphans(&self) -> Result<()> {
        let mut orphans = std::mem::take(&mut *lock(&self.orphans));
        while let Some(orphan) = orphans.pop() {
            let released = self.release(&orphan).await;
            if released.is_err() {
                // Those that are left are given back next time.
                orphans.push(orphan);
                lock(&self.orphans).append(&mut orphans);
                return released;
            }
        }
        Ok(())
    }

    async fn release(&self, orphan: &Orphan) -> Result<()> {
        let Orphan { workspace, lease: Handle { id, fence, ticket } } = orphan;
        let caller = Caller::of(workspace.clone());
        let act = Act::new(&caller, *id, Event::Release(fence.clone(), *ticket));
        match self.act(workspace, act).await {
            // It moved on by itself.
            Ok(_) | Err(DeliveryError::LeaseLost { .. } | DeliveryError::Over { .. }) => Ok(()),
            Err(DeliveryError::Cancelled { .. } | DeliveryError::Unknown { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// A lease whose receiver had gone when it was given.
#[derive(Debug, Clone)]
pub(super) struct Orphan {
    workspace: WorkspaceName,
    lease: Handle,
}

/// Leases on their way. Dropped before they are handed over, they are given back: the poller has gone, and that costs
/// no attempt.
struct Unhanded<'a> {
    engine: &'a Deliveries,
    orphans: Vec<Orphan>,
}

impl<'a> Unhanded<'a> {
    fn new(engine: &'a Deliveries, workspace: &WorkspaceName, steps: &[Step]) -> Self {
        let orphan = |step: &Step| Orphan {
            workspace: workspace.clone(),
            lease: Handle::of(&step.after, engine.fence_of(&step.after)),
        };
        Self { engine, orphans: steps.iter().map(orphan).collect() }
    }

    fn keep(&mut self, taken: &[Delivery]) {
        self.orphans
            .retain(|orphan| taken.iter().any(|delivery| delivery.row.id == orphan.lease.id));
    }

    fn disarm(mut self) {
        self.orphans.clear();
    }
}

impl Drop for Unhanded<'_> {
    fn drop(&mut self) {
        if !self.orphans.is_empty() {
            lock(&self.engine.orphans).append(&mut self.orphans);
            self.engine.bells.ring(&Topic::Due);
        }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
