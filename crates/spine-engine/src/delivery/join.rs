//! Joins: when enough parts of a publication are done, their results go on as the parents of one envelope.
//!
//! A join is durable: it is part of the publication's record, the end of every part wakes that record in its own step, and
//! making the joined envelope is guarded by the record, so that it happens once, whoever crashes when.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_protocol::{
    AgentName, DeliveryId, Envelope, EnvelopeId, MemoryId, NewHistory, RuleError, StateUpdate,
};
use spine_store::{
    Applied, Collection, Command, DeliveryState, EventDraft, Expected, Guard, IdempotencyKey, Put,
    Record, RowKey, UnixMs,
};

use super::act::read_record;
use super::bell::Topic;
use super::channel::Publication;
use super::head::Head;
use super::limits::{DUE_ROWS_MAX, PENDING_MS_MAX};
use super::policy::later;
use super::send::{SendOptions, Sending};
use super::story::{Delivery, ParkCause};
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::assembly::{Assembled, AssemblyError, HandoffRequest};
use crate::memories::NewMemory;

/// What is to happen when the parts are done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JoinRequest {
    /// The handoff to make of them; its parents are the results.
    pub handoff: HandoffRequest,
    /// How many must be done; all, if not said.
    #[serde(default)]
    pub need: Option<u32>,
    /// When to go on with what there is.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// How it is sent.
    #[serde(default)]
    pub options: SendOptions,
}

/// A join, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// How many must be done.
    pub need: u32,
    /// When to go on with what there is.
    pub until: Option<UnixMs>,
    /// To whom it goes.
    pub target: AgentName,
    /// The handoff to make and how to send it, as they were asked for.
    request: Value,
    /// What was made of it.
    pub made: Option<Made>,
}

/// A join that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// When.
    pub at: UnixMs,
    /// The envelope; none where the chain was at its end.
    pub envelope: Option<EnvelopeId>,
    /// Its delivery.
    pub delivery: DeliveryId,
    /// How many results are in it.
    pub done: u32,
}

impl JoinRequest {
    pub(super) fn planned(self, parts: usize, now: UnixMs) -> Result<Join> {
        let parts = u32::try_from(parts).unwrap_or(u32::MAX);
        let need = self.need.unwrap_or(parts);
        if !(1..=parts).contains(&need) {
            let problem = format!("must be from 1 to the number of receivers, {parts}");
            return Err(DeliveryError::Invalid { field: "need", problem });
        }
        let until = self.timeout_ms.map(|ms| later(now, ms.min(PENDING_MS_MAX)));
        let target = self.options.to.clone().unwrap_or_else(|| self.handoff.target.clone());
        let request = serde_json::to_value((&self.handoff, &self.options)).unwrap_or_default();
        Ok(Join { need, until, target, request, made: None })
    }
}

impl Join {
    /// When to look at it without being woken.
    pub(super) fn due_at(&self) -> Option<UnixMs> {
        self.until.filter(|_| self.made.is_none())
    }

    /// Whether it is time: enough are done, or no more can come, or the time is up.
    pub fn is_ready(&self, parts: &[Delivery], now: UnixMs) -> bool {
        let done = parts.iter().filter(|part| part.state() == DeliveryState::Done).count();
        done >= self.need as usize
            || !parts.iter().any(|part| part.state().waits())
            || self.until.is_some_and(|until| until <= now)
    }
}

impl Deliveries {
    /// Looks at every publication that is due.
    pub(super) async fn run_due_records(&self) -> Result<()> {
        let mut outcome = Ok(());
        for (workspace, record) in self.store.due_records(self.store.now(), DUE_ROWS_MAX).await? {
            if record.key.collection == Collection::Publication {
                // One that cannot be joined now holds up no other.
                outcome = outcome.and(self.look_at(&Caller::of(workspace), record).await);
            }
        }
        outcome
    }

    async fn look_at(&self, caller: &Caller, record: Record) -> Result<()> {
        let publication: Publication = read_record(&record)?;
        let view = self.publication(caller, publication.id).await?;
        let open = publication.join.clone().filter(|join| join.made.is_none());
        let ready = open.filter(|join| join.is_ready(&view.deliveries, self.store.now()));
        let outcome = match ready {
            Some(join) => {
                self.make_join(caller, &record, &publication, join, &view.deliveries).await
            }
            None => self.keep_waiting(caller, &record, &publication, &view.deliveries).await,
        };
        let topic = Topic::Publication(caller.workspace.clone(), publication.id.to_string());
        self.bells.ring(&topic);
        outcome
    }

    /// Nothing to do before its time, unless it is woken again. A part that ends meanwhile wakes a record that is awake already:
    /// so that this does not put it to sleep for good, it depends on every part being as it was seen.
    async fn keep_waiting(
        &self,
        caller: &Caller,
        record: &Record,
        publication: &Publication,
        parts: &[Delivery],
    ) -> Result<()> {
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        command.guards.extend(parts.iter().map(|part| Guard {
            key: RowKey::Delivery(part.row.id),
            expected: Expected::At(part.row.change),
        }));
        command.puts.push(Put::Record(Box::new(publication.to_record(Some(record))?)));
        // Another engine may have looked as well: then it has kept it waiting.
        self.apply_one(command).await.map(|_| ())
    }

    async fn make_join(
        &self,
        caller: &Caller,
        record: &Record,
        publication: &Publication,
        join: Join,
        parts: &[Delivery],
    ) -> Result<()> {
        let (handoff, options): (HandoffRequest, SendOptions) =
            serde_json::from_value(join.request.clone()).map_err(damaged)?;
        let sender = Caller { agent: publication.by.clone(), ..caller.clone() };
        let results = self.results(caller, publication, &join, parts).await?;
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        let joined = match results {
            Ok(results) => {
                self.joined(&sender, publication, handoff, parts, results, &mut command).await
            }
            Err(error) => Err(error),
        };
        let delivery = match joined {
            Ok(made) => self.plan_join(&sender, &made, options, &mut command).await?,
            Err(error) => {
                let head = self.head(caller, publication.envelope).await?;
                let reason = format!("the join could not be made: {error}");
                let cause = (cause_of(&error), reason.as_str());
                let to = Some(join.target.clone());
                command = Command::new(command.workspace, command.at);
                Some(self.planned_parked(&sender, head, cause, to, &mut command).await?)
            }
        };
        let delivery = delivery.ok_or(DeliveryError::Contended)?;
        let done = parts.iter().filter(|part| part.state() == DeliveryState::Done).count();
        let made = Made {
            at: command.at,
            envelope: Some(delivery.row.envelope).filter(|id| *id != publication.envelope),
            delivery: delivery.row.id,
            done: u32::try_from(done).unwrap_or(u32::MAX),
        };
        let after =
            Publication { join: Some(Join { made: Some(made), ..join }), ..publication.clone() };
        command.puts.push(Put::Record(Box::new(after.to_record(Some(record))?)));
        command.events.push(joined_event(&after, &delivery));
        if let Some(Applied::Now(_)) = self.apply_one(command).await? {
            self.arrived(caller, &delivery);
        }
        Ok(())
    }

    /// Each result as a memory and as an envelope of its own, from its receiver.
    async fn results(
        &self,
        caller: &Caller,
        publication: &Publication,
        join: &Join,
        parts: &[Delivery],
    ) -> Result<std::result::Result<Vec<Assembled>, AssemblyError>> {
        let mut results = Vec::new();
        for part in parts.iter().filter(|part| part.state() == DeliveryState::Done) {
            let memory = self.result_memory(caller, publication, part).await?;
            let receiver = Caller { agent: Some(part.row.agent.clone()), ..caller.clone() };
            let request = result_handoff(publication, &join.target, part, memory);
            match self.handoffs.prepare(&receiver, request).await {
                Ok(made) => results.push(made),
                Err(AssemblyError::Store(error)) => return Err(error.into()),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(results))
    }

    /// Stored once, however often a crash makes us try.
    async fn result_memory(
        &self,
        caller: &Caller,
        publication: &Publication,
        part: &Delivery,
    ) -> Result<Option<MemoryId>> {
        let Some(text) = result_text(part) else { return Ok(None) };
        let key = format!("join:{}:{}", publication.id, part.row.id);
        let receiver = Caller {
            agent: Some(part.row.agent.clone()),
            idempotency_key: key.parse::<IdempotencyKey>().ok(),
            ..caller.clone()
        };
        let memory = NewMemory {
            title: Some(format!("Result of {} in {}", part.row.agent, publication.channel)),
            text,
            kind: "result".parse().unwrap_or_default(),
            thread: publication.id.to_string().parse().ok(),
            subject: part.story.subject.clone(),
            ..NewMemory::default()
        };
        match self.handoffs.memories().store(&receiver, memory).await {
            Ok(stored) => Ok(Some(stored.memory.id)),
            Err(crate::memories::MemoryError::Store(error)) => Err(error.into()),
            // Too large for a memory: the history names its digest, the delivery has it whole.
            Err(_) => Ok(None),
        }
    }

    /// Nobody waits for it: while its target's circuit is open, it waits in the queue.
    async fn plan_join(
        &self,
        sender: &Caller,
        made: &Assembled,
        options: SendOptions,
        command: &mut Command,
    ) -> Result<Option<Delivery>> {
        for direct in [options.direct, false] {
            let options = SendOptions { direct, ..options.clone() };
            let sending = Sending { head: Head::of(&made.envelope), options, publication: None };
            match self.plan(sender, vec![sending], command).await {
                Err(DeliveryError::CircuitOpen { .. }) => {}
                planned => return Ok(planned?.pop()),
            }
        }
        Ok(None)
    }

    async fn joined(
        &self,
        sender: &Caller,
        publication: &Publication,
        mut handoff: HandoffRequest,
        parts: &[Delivery],
        results: Vec<Assembled>,
        command: &mut Command,
    ) -> std::result::Result<Assembled, AssemblyError> {
        let envelopes: Vec<Envelope> = results.iter().map(|made| made.envelope.clone()).collect();
        handoff.parents = match envelopes.is_empty() {
            true => vec![publication.envelope],
            false => envelopes.iter().map(|envelope| envelope.id).collect(),
        };
        handoff.state.progress.extend(missing(parts));
        let made = self.handoffs.prepare_with(sender, handoff, &envelopes).await?;
        for part in results.iter().chain([&made]) {
            part.add_to(sender, command)?;
        }
        Ok(made)
    }
}

fn result_handoff(
    publication: &Publication,
    target: &AgentName,
    part: &Delivery,
    memory: Option<MemoryId>,
) -> HandoffRequest {
    let agent = &part.row.agent;
    let ending = part.story.ending.as_ref();
    let action = ending.and_then(|ending| ending.action.clone());
    HandoffRequest {
        include_recent: 0,
        include_pins: false,
        memory_refs: memory.into_iter().collect(),
        parents: vec![publication.envelope],
        history: vec![NewHistory {
            agent: agent.clone(),
            action: action.unwrap_or_else(|| "completed its part".to_owned()),
            why: ending.and_then(|ending| ending.why.clone()),
            memory_id: memory,
            result_digest: ending.and_then(|ending| ending.result_digest),
            at: None,
        }],
        state: StateUpdate::default(),
        ..HandoffRequest::new(target.clone(), format!("Take the result of {agent} into account."))
    }
}

/// Text as it is, anything else as JSON.
fn result_text(part: &Delivery) -> Option<String> {
    let value: Value = serde_json::from_slice(part.row.result.as_deref()?).ok()?;
    match value {
        Value::Null => None,
        Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
        other => serde_json::to_string_pretty(&other).ok(),
    }
}

/// What is not in the join is named.
fn missing(parts: &[Delivery]) -> impl Iterator<Item = String> {
    let missing = parts.iter().filter(|part| part.state() != DeliveryState::Done);
    missing.map(|part| format!("No result from {} ({}).", part.row.agent, part.state().as_str()))
}

fn cause_of(error: &AssemblyError) -> ParkCause {
    match error {
        AssemblyError::Rule(rule) if matches!(**rule, RuleError::HopLimit { .. }) => {
            ParkCause::HopLimit
        }
        _ => ParkCause::JoinFailed,
    }
}

fn joined_event(publication: &Publication, delivery: &Delivery) -> EventDraft {
    let mut event = EventDraft::new("publication.joined");
    event.envelope = Some(delivery.row.envelope);
    event.delivery = Some(delivery.row.id);
    event.data.note("publication", &publication.id.to_string());
    event
}

fn damaged(error: serde_json::Error) -> DeliveryError {
    spine_store::StoreError::new(spine_store::ErrorKind::Corrupt, error.to_string()).into()
}
