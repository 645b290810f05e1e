//! From an event to a committed step: read, ask the machine, apply; again when another writer was first.

use std::collections::BTreeMap;

use serde::Serialize;
use spine_protocol::{AgentName, DeliveryId, Digest, WorkspaceName};
use spine_store::{
    Applied, Change, Collection, Command, ErrorKind, EventDraft, Fact, Facts, IdempotencyDraft,
    IdempotencyRecord, Outcome, Put, Record, RecordKey, StoreError, UnixMs,
};

use super::agents::{AgentOptions, agent_key, breaker_key};
use super::bell::Topic;
use super::breaker::{Admission, Breaker};
use super::limits::RACE_ATTEMPTS_MAX;
use super::machine::{Effect, Event, Moment, Step, step};
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::idempotency::{self, request_digest};

/// An event for one delivery, with what the audit log is to say of it.
#[derive(Debug, Clone)]
pub(super) struct Act {
    pub(super) id: DeliveryId,
    pub(super) event: Event,
    pub(super) actor: Option<AgentName>,
    pub(super) data: Facts,
    /// What else is to happen in the same step, all or nothing.
    pub(super) with: Option<Box<Command>>,
    /// The answer to remember.
    pub(super) idempotency: Option<IdempotencyDraft>,
}

impl Act {
    pub(super) fn new(caller: &Caller, id: DeliveryId, event: Event) -> Self {
        let (actor, data) = (caller.agent.clone(), Facts::default());
        Self { id, event, actor, data, with: None, idempotency: None }
    }

    /// Where, behind its own, the step has the delivery that it makes.
    pub(super) fn place_of_delivery(&self) -> u64 {
        let mut puts = self.with.iter().flat_map(|command| &command.puts);
        let place = puts.position(|put| matches!(put, Put::Delivery(_)));
        place.map_or(0, |place| place as u64 + 1)
    }

    pub(super) fn noting<'v>(mut self, name: &'static str, value: impl Into<Fact<'v>>) -> Self {
        self.data.note(name, value);
        self
    }
}

/// How an agent stands, as far as its deliveries go.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    /// Given no work by a person.
    pub(super) paused: bool,
    /// Its breaker, if it is anything but at rest, and the record it is kept in.
    pub(super) breaker: Option<Box<(Record, Breaker)>>,
}

impl Standing {
    /// What its breaker lets through.
    pub(super) fn admission(&self, now: UnixMs) -> Admission {
        self.breaker.as_deref().map_or(Admission::All, |(_, breaker)| breaker.admits(now))
    }

    /// Until when it is not to be expected to take this delivery. The probe is what finds out.
    fn held_until(&self, id: DeliveryId, now: UnixMs) -> Option<UnixMs> {
        let probed = self.probe() == Some(id);
        match self.admission(now) {
            _ if self.paused => Some(UnixMs::MAX),
            Admission::None(until) if !probed => Some(until),
            _ => None,
        }
    }

    /// The delivery that is the probe.
    pub(super) fn probe(&self) -> Option<DeliveryId> {
        self.breaker.as_deref().and_then(|(_, breaker)| breaker.probe)
    }

    /// What makes this delivery the probe, in its own command: so that there is one.
    pub(super) fn probing(&self, id: DeliveryId, now: UnixMs) -> Option<Put> {
        let (record, breaker) = self.breaker.as_deref()?;
        let probing = to_record(record.key.clone(), &breaker.probing(id, now), Some(record));
        Some(Put::Record(Box::new(probing)))
    }
}

pub(super) type Standings = BTreeMap<AgentName, Standing>;

/// A delivery as it was read, or why it could not be.
type Known = (DeliveryId, std::result::Result<Delivery, StoreError>);

fn of_id(known: &[Known], id: DeliveryId) -> Option<&std::result::Result<Delivery, StoreError>> {
    let place = known.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    known.get(place).map(|(_, one)| one)
}

impl Deliveries {
    /// One delivery, as it is.
    pub async fn get(&self, caller: &Caller, id: DeliveryId) -> Result<Delivery> {
        let found = self.store.deliveries(&caller.workspace, vec![id]).await?.pop();
        Ok(Delivery::of_row(found.ok_or(DeliveryError::Unknown { id })?)?)
    }

    /// One event for one delivery, once for each idempotency key. What is asked again gives the delivery as it is now.
    pub(super) async fn act_once(
        &self,
        caller: &Caller,
        operation: &str,
        request: &impl Serialize,
        mut act: Act,
    ) -> Result<Delivery> {
        let digest = request_digest(caller, operation, &(&caller.agent, act.id, request));
        if let Some(known) = idempotency::known(self.store.as_ref(), caller).await? {
            check_same(&known, &digest)?;
            return self.get(caller, act.id).await;
        }
        let id = act.id;
        act.idempotency = idempotency::record(caller, digest, &id, self.store.now());
        match self.act(&caller.workspace, act).await {
            Err(DeliveryError::IdempotencyConflict) => self.get(caller, id).await,
            outcome => outcome,
        }
    }

    /// One event for one delivery.
    pub(super) async fn act(&self, workspace: &WorkspaceName, act: Act) -> Result<Delivery> {
        self.act_on(workspace, None, act).await
    }

    /// The same for one that was just read.
    pub(super) async fn act_on(
        &self,
        workspace: &WorkspaceName,
        read: Option<Delivery>,
        act: Act,
    ) -> Result<Delivery> {
        let (id, read) = (act.id, read.into_iter().collect());
        let done = self.act_many_on(workspace, read, vec![act]).await?.pop();
        done.unwrap_or(Err(DeliveryError::Unknown { id }))
    }

    /// Many events, each by itself: one outcome for each, in order.
    pub(super) async fn act_many(
        &self,
        workspace: &WorkspaceName,
        acts: Vec<Act>,
    ) -> Result<Vec<Result<Delivery>>> {
        self.act_many_on(workspace, Vec::new(), acts).await
    }

    /// The same where some were just read: they are not read again, unless another writer was first.
    pub(super) async fn act_many_on(
        &self,
        workspace: &WorkspaceName,
        mut read: Vec<Delivery>,
        acts: Vec<Act>,
    ) -> Result<Vec<Result<Delivery>>> {
        let mut outcomes: Vec<Option<Result<Delivery>>> = vec![None; acts.len()];
        for _ in 0..RACE_ATTEMPTS_MAX {
            let open: Vec<usize> = indices(&outcomes);
            if open.is_empty() {
                break;
            }
            self.round(workspace, std::mem::take(&mut read), &acts, &open, &mut outcomes).await?;
        }
        let contended = || Err(DeliveryError::Contended);
        Ok(outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(contended)).collect())
    }

    /// One try for those acts that have no outcome yet.
    async fn round(
        &self,
        workspace: &WorkspaceName,
        read: Vec<Delivery>,
        acts: &[Act],
        open: &[usize],
        outcomes: &mut [Option<Result<Delivery>>],
    ) -> Result<()> {
        let chosen: Vec<(usize, &Act)> =
            open.iter().filter_map(|index| Some((*index, acts.get(*index)?))).collect();
        let known = self.known(workspace, read, &chosen).await?;
        let agents = known.iter().flat_map(|(_, one)| one).map(|one| &one.row.agent);
        let standings = self.standings(workspace, agents).await?;
        let mut planned = Vec::new();
        for (index, act) in chosen {
            let decided = match of_id(&known, act.id) {
                Some(Ok(before)) => self.decide(before, act, &standings).map(|step| (before, step)),
                Some(Err(damaged)) => Err(damaged.clone().into()),
                None => Err(DeliveryError::Unknown { id: act.id }),
            };
            match decided {
                Ok((_, Some(step))) => planned.push((index, act, step)),
                Ok((same, None)) => set(outcomes, index, Some(Ok(same.clone()))),
                Err(error) => set(outcomes, index, Some(Err(error))),
            }
        }
        self.commit(workspace, planned, &standings, outcomes).await
    }

    /// What these acts are about, in the order of the ids: a map would have room for many where most are about one.
    async fn known(
        &self,
        workspace: &WorkspaceName,
        read: Vec<Delivery>,
        acts: &[(usize, &Act)],
    ) -> Result<Vec<Known>> {
        let mut known: Vec<Known> = read.into_iter().map(|one| (one.row.id, Ok(one))).collect();
        known.sort_unstable_by_key(|(id, _)| *id);
        let ids = acts.iter().map(|(_, act)| act.id);
        let ids: Vec<DeliveryId> = ids.filter(|id| of_id(&known, *id).is_none()).collect();
        if !ids.is_empty() {
            let rows = self.store.deliveries(workspace, ids).await?;
            // One that cannot be read fails alone.
            known.extend(rows.into_iter().map(|row| (row.id, Delivery::of_row(row))));
            known.sort_unstable_by_key(|(id, _)| *id);
        }
        Ok(known)
    }

    /// The step to take, or nothing if the event changes nothing.
    fn decide(&self, before: &Delivery, act: &Act, standings: &Standings) -> Result<Option<Step>> {
        let now = self.store.now();
        let standing = standings.get(&before.row.agent);
        let held_until = standing.and_then(|standing| standing.held_until(act.id, now));
        let moment = self.moment(now, held_until);
        let taken = step(before, act.event.clone(), &moment);
        let taken = taken.map_err(|refusal| DeliveryError::refused(act.id, refusal))?;
        Ok(taken.is_change(before).then_some(taken))
    }

    pub(super) fn moment(&self, now: UnixMs, held_until: Option<UnixMs>) -> Moment<'_> {
        Moment { now, random: self.random(), identity: &self.identity, held_until }
    }

    async fn commit(
        &self,
        workspace: &WorkspaceName,
        planned: Vec<(usize, &Act, Step)>,
        standings: &Standings,
        outcomes: &mut [Option<Result<Delivery>>],
    ) -> Result<()> {
        if planned.is_empty() {
            return Ok(());
        }
        let now = self.store.now();
        let commands =
            planned.iter().map(|(_, act, step)| command(workspace, act, step, now)).collect();
        let applied = self.store.apply(commands).await?;
        let (mut places, mut taken) = (Vec::new(), Vec::new());
        for ((index, _, mut step), outcome) in planned.into_iter().zip(applied) {
            match committed(&mut step.after, outcome, now) {
                Some(Ok(())) => {
                    places.push(index);
                    taken.push(step);
                }
                Some(Err(error)) => set(outcomes, index, Some(Err(error))),
                None => {}
            }
        }
        self.follow_up(workspace, &taken, standings).await;
        for (index, step) in places.into_iter().zip(taken) {
            set(outcomes, index, Some(Ok(step.after)));
        }
        Ok(())
    }

    /// Breakers first: who is woken by a delivery's end may send the next one at once, and should find the breaker open.
    async fn follow_up(&self, workspace: &WorkspaceName, taken: &[Step], standings: &Standings) {
        let of_step = |step: &Step| {
            let id = step.after.row.id;
            step.effects.iter().map(move |effect| (id, effect.clone())).collect::<Vec<_>>()
        };
        let effects: Vec<(DeliveryId, Effect)> = taken.iter().flat_map(of_step).collect();
        // What was asked for is on disk, and that is the answer: a breaker that was not told does no harm.
        let _ = self.tell_breakers(workspace, &effects, standings).await;
        taken.iter().for_each(|step| self.ring(workspace, step));
    }

    /// Wakes whoever waits for this.
    pub(super) fn ring(&self, workspace: &WorkspaceName, step: &Step) {
        let delivery = &step.after;
        self.bells.ring(&Topic::Delivery(workspace.clone(), delivery.row.id));
        for effect in &step.effects {
            match effect {
                Effect::Offer(agent) => self.stir(workspace, agent),
                Effect::Left(agent) => self.stir_lane(workspace, delivery, agent),
                Effect::Ended => self.ring_for_end(workspace, delivery),
                _ => {}
            }
        }
    }

    /// Its publication may be complete.
    fn ring_for_end(&self, workspace: &WorkspaceName, ended: &Delivery) {
        if ended.story.publication.is_some() {
            self.bells.ring(&Topic::Due);
        }
        self.stir_lane(workspace, ended, &ended.row.agent);
    }

    /// The next of its lane can be taken.
    fn stir_lane(&self, workspace: &WorkspaceName, gone: &Delivery, agent: &AgentName) {
        if gone.row.order_key.is_some() {
            self.stir(workspace, agent);
        }
    }

    /// There is work for this agent that was not sent just now.
    fn stir(&self, workspace: &WorkspaceName, agent: &AgentName) {
        self.inboxes.stirred(workspace, agent);
        self.offer(workspace, agent);
    }

    /// There may be work for this agent.
    pub(super) fn offer(&self, workspace: &WorkspaceName, agent: &AgentName) {
        self.bells.ring(&Topic::Inbox(workspace.clone(), agent.clone()));
    }

    /// How each of these agents stands.
    pub(super) async fn standings(
        &self,
        workspace: &WorkspaceName,
        agents: impl Iterator<Item = &AgentName>,
    ) -> Result<Standings> {
        let mut keys = Vec::new();
        let mut standings = Standings::new();
        for agent in agents {
            if standings.insert(agent.clone(), Standing::default()).is_none() {
                keys.extend([breaker_key(agent)?, agent_key(agent)?]);
            }
        }
        for record in self.store.records(workspace, keys).await? {
            if let Ok(agent) = record.key.name.as_str().parse::<AgentName>() {
                let known = standings.entry(agent).or_default();
                *known = std::mem::take(known).with(record)?;
            }
        }
        Ok(standings)
    }
}

impl Standing {
    fn with(self, record: Record) -> Result<Self> {
        if record.key.collection == Collection::Agent {
            return Ok(Self { paused: read_record::<AgentOptions>(&record)?.paused, ..self });
        }
        let breaker: Breaker = read_record(&record)?;
        let troubled = breaker != Breaker::default();
        Ok(Self { breaker: troubled.then(|| Box::new((record, breaker))), ..self })
    }
}

/// Whether a key stands for this request.
pub(super) fn check_same(known: &IdempotencyRecord, request: &Digest) -> Result<()> {
    if known.request == *request { Ok(()) } else { Err(DeliveryError::IdempotencyConflict) }
}

fn indices<T>(outcomes: &[Option<T>]) -> Vec<usize> {
    let open = outcomes.iter().enumerate().filter(|(_, outcome)| outcome.is_none());
    open.map(|(index, _)| index).collect()
}

fn set<T>(outcomes: &mut [Option<T>], index: usize, outcome: Option<T>) {
    if let Some(slot) = outcomes.get_mut(index) {
        *slot = outcome;
    }
}

/// The step as one command: the delivery on top of the version it was read at, and a line in the log for each part.
pub(super) fn command(workspace: &WorkspaceName, act: &Act, step: &Step, now: UnixMs) -> Command {
    let mut command = Command::new(workspace.clone(), now);
    command.puts.push(Put::Delivery(Box::new(step.after.to_row())));
    if let Some(with) = &act.with {
        command.guards.extend(with.guards.iter().cloned());
        command.puts.extend(with.puts.iter().cloned());
    }
    command.puts.extend(wake_publication(step, now));
    for effect in &step.effects {
        if let Effect::Log(kind) = effect {
            command.events.push(event(kind, act, &step.after));
        }
    }
    command.events.extend(act.with.iter().flat_map(|with| with.events.iter().cloned()));
    command.idempotency.clone_from(&act.idempotency);
    command
}

/// The end of a part wakes its publication in the same step, so that no crash can make a join miss it.
fn wake_publication(step: &Step, now: UnixMs) -> Option<Put> {
    let name = step.after.story.publication.as_ref()?;
    let name = name.parse().ok().filter(|_| step.effects.contains(&Effect::Ended))?;
    Some(Put::WakeRecord(RecordKey { collection: Collection::Publication, name }, now))
}

pub(super) fn event(kind: &'static str, act: &Act, delivery: &Delivery) -> EventDraft {
    let mut draft = EventDraft::new(kind);
    draft.actor.clone_from(&act.actor);
    draft.envelope = Some(delivery.row.envelope);
    draft.delivery = Some(delivery.row.id);
    draft.data.clone_from(&act.data);
    draft.data.note("agent", delivery.row.agent.as_str());
    if delivery.row.epoch > 0 {
        draft.data.note("epoch", delivery.row.epoch);
    }
    note_health(kind, delivery, &mut draft.data);
    draft
}

/// What health counts, and cannot see from the log otherwise.
fn note_health(kind: &str, delivery: &Delivery, data: &mut Facts) {
    let story = &delivery.story;
    match kind {
        // The row still says when it was written before: an earlier acceptance is older than that.
        "delivery.accepted" if story.accepted_at >= Some(delivery.row.updated_at) => {
            let (accepted, taken) =
                (story.accepted_at, story.lease.as_ref().map(|lease| lease.since));
            note_time(data, "after_ms", Some(story.sent_at), accepted);
            note_time(data, "queued_ms", Some(story.sent_at), taken);
            note_time(data, "handover_ms", taken, accepted);
        }
        "delivery.done" => {
            let done = story.ending.as_ref().map(|ending| ending.at);
            note_time(data, "after_ms", Some(story.sent_at), done);
            note_time(data, "work_ms", story.accepted_at, done);
        }
        "delivery.parked" => {
            let cause = story.parked.last().map(|reason| reason.cause.as_str());
            cause.into_iter().for_each(|cause| data.note("cause", cause));
        }
        _ => {}
    }
}

/// How long it was from one moment to another, where both are known.
fn note_time(data: &mut Facts, name: &'static str, from: Option<UnixMs>, until: Option<UnixMs>) {
    let Some((from, until)) = from.zip(until) else { return };
    let ms = u64::try_from(until.0 - from.0).unwrap_or_default();
    data.note(name, ms);
}

/// Makes the delivery what is on disk now; nothing when another writer was first.
fn committed(after: &mut Delivery, outcome: Outcome, now: UnixMs) -> Option<Result<()>> {
    match outcome {
        Ok(Applied::Now(receipt)) => {
            (after.row.change, after.row.updated_at) = (receipt.put_change(0), now);
            Some(Ok(()))
        }
        Ok(Applied::Before(_)) => Some(Err(DeliveryError::IdempotencyConflict)),
        Err(error) if error.kind() == ErrorKind::GuardFailed => None,
        Err(error) => Some(Err(error.into())),
    }
}

/// A record of the engine's own, read as what it is.
pub(crate) fn read_record<T: serde::de::DeserializeOwned>(record: &Record) -> Result<T> {
    let damaged = |error: serde_json::Error| {
        spine_store::StoreError::new(ErrorKind::Corrupt, format!("{:?}: {error}", record.key))
    };
    Ok(serde_json::from_slice(&record.value).map_err(damaged)?)
}

/// The same of many, each with its name.
pub(super) fn read_named<T: serde::de::DeserializeOwned>(
    records: &[Record],
) -> Result<Vec<(String, T)>> {
    let read = |record: &Record| Ok((record.key.name.as_str().to_owned(), read_record(record)?));
    records.iter().map(read).collect()
}

/// A record of the engine's own, to put on top of the one that was read.
pub(crate) fn to_record<T: serde::Serialize>(
    key: RecordKey,
    value: &T,
    before: Option<&Record>,
) -> Record {
    // Our records are maps, lists, texts and numbers: they always have a spelling.
    let value = serde_json::to_vec(value).unwrap_or_default();
    let change = before.map_or(Change::ZERO, |before| before.change);
    Record { key, value, due_at: before.and_then(|before| before.due_at), change }
}
