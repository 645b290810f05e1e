//! Sending: from an envelope to a delivery in somebody's queue. Sending returns when that is on disk.

use serde::{Deserialize, Serialize};
use spine_protocol::{AgentName, DeliveryId, Digest, EnvelopeId, Priority};
use spine_store::{
    Applied, Change, Command, DeliveryState, EventDraft, IdempotencyRecord, OrderKey, Put, Receipt,
    STAGE_TARGET, UnixMs,
};
use tracing::{Instrument, info_span};

use super::act::{Standings, check_same};
use super::agents::AgentOptions;
use super::breaker::Admission;
use super::head::{Head, Size};
use super::limits::{BATCH_MAX, FALLBACKS_MAX};
use super::policy::{PolicyPart, later};
use super::story::{Delivery, Story};
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::assembly::{Assembled, HandoffRequest};
use crate::idempotency::{self, request_digest};
use crate::lineage::still_whole;

/// The name that stands for a channel.
pub(super) const BROADCAST: &str = "broadcast";

/// How an envelope is sent; every field has a default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SendOptions {
    /// To whom, instead of the envelope's own target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<AgentName>,
    /// Who is asked next, in this order, when attempts run out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallbacks: Option<Vec<AgentName>>,
    /// Whether somebody waits for it: then somebody must take it soon, and an open circuit fails at once.
    pub direct: bool,
    /// One at a time, in order, among those with the same key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_key: Option<OrderKey>,
    /// Its place in the queue, instead of the envelope's own priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// How it is tried.
    pub policy: PolicyPart,
    /// The pipeline that says who is next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
}

/// One envelope to send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendRequest {
    /// Which one.
    pub envelope: EnvelopeId,
    /// How.
    #[serde(default)]
    pub options: SendOptions,
}

/// What is to be sent, when all is known about it.
pub(super) struct Sending {
    pub(super) head: Head,
    pub(super) options: SendOptions,
    pub(super) publication: Option<String>,
}

impl Deliveries {
    /// Sends envelopes that are stored: all of them or none.
    pub async fn send(&self, caller: &Caller, requests: Vec<SendRequest>) -> Result<Vec<Delivery>> {
        let digest = request_digest(caller, "send", &(&caller.agent, &requests));
        if let Some(known) = idempotency::known(self.store.as_ref(), caller).await? {
            check_same(&known, &digest)?;
            return self.sent_before(caller, &known).await;
        }
        check_batch(requests.len())?;
        let mut sendings = Vec::with_capacity(requests.len());
        for SendRequest { envelope, options } in requests {
            sendings.push(Sending {
                head: self.head(caller, envelope).await?,
                options,
                publication: None,
            });
        }
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        command.guards.extend(sendings.iter().map(|sending| still_whole(sending.head.id)));
        let sent = self.plan(caller, sendings, &mut command).await?;
        let ids: Vec<DeliveryId> = sent.iter().map(|delivery| delivery.row.id).collect();
        command.idempotency = idempotency::record(caller, digest, &ids, command.at);
        self.commit_sent(caller, command, sent).await
    }

    /// Assembles an envelope and sends it, in one step.
    pub async fn hand_off(
        &self,
        caller: &Caller,
        request: HandoffRequest,
        options: SendOptions,
    ) -> Result<(Assembled, Delivery)> {
        self.hand_off_noting(caller, request, options, None).await
    }

    /// The same, with a note in the log.
    pub(super) async fn hand_off_noting(
        &self,
        caller: &Caller,
        request: HandoffRequest,
        options: SendOptions,
        note: Option<EventDraft>,
    ) -> Result<(Assembled, Delivery)> {
        let digest = request_digest(caller, "hand_off", &(&caller.agent, &request, &options));
        if let Some(known) = idempotency::known(self.store.as_ref(), caller).await? {
            check_same(&known, &digest)?;
            return self.handed_off_before(caller, &known).await;
        }
        let request = self.with_target_budget(caller, request).await?;
        let made = self.handoffs.prepare(caller, request).await?;
        let span = info_span!(
            target: STAGE_TARGET,
            "send",
            gen_ai.agent.name = made.envelope.target.as_str(),
            memory_spine.envelope.id = made.envelope.id.to_string(),
        );
        let sending = self.send_new(caller, &made, options, Some(digest), note);
        let sent = sending.instrument(span).await?;
        // The same request may have been first on another connection: then its envelope is the one that was stored.
        if sent.row.envelope != made.envelope.id {
            return Ok((self.handoffs.assembled(caller, sent.row.envelope).await?, sent));
        }
        Ok((made, sent))
    }

    /// Stores an envelope that was prepared and sends it, in one step.
    pub async fn send_assembled(
        &self,
        caller: &Caller,
        made: &Assembled,
        options: SendOptions,
    ) -> Result<Delivery> {
        self.send_new(caller, made, options, None, None).await
    }

    async fn send_new(
        &self,
        caller: &Caller,
        made: &Assembled,
        options: SendOptions,
        request: Option<Digest>,
        note: Option<EventDraft>,
    ) -> Result<Delivery> {
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        made.add_to(caller, &mut command)?;
        command.events.extend(note.map(|note| made.noted(note)));
        let sending = Sending { head: Head::of(&made.envelope), options, publication: None };
        let sent = self.plan(caller, vec![sending], &mut command).await?;
        let ids: Vec<DeliveryId> = sent.iter().map(|delivery| delivery.row.id).collect();
        let at = command.at;
        command.idempotency =
            request.and_then(|digest| idempotency::record(caller, digest, &ids, at));
        let sent = self.commit_sent(caller, command, sent).await?.pop();
        sent.ok_or(DeliveryError::Contended)
    }

    /// The budget that the target is registered with counts where the call gives none.
    pub(super) async fn with_target_budget(
        &self,
        caller: &Caller,
        mut request: HandoffRequest,
    ) -> Result<HandoffRequest> {
        if request.max_tokens.is_none() && request.target_max_tokens.is_none() {
            let options = self.agent_options(&caller.workspace, &request.target).await?;
            request.target_max_tokens = options.max_tokens;
        }
        Ok(request)
    }

    pub(super) async fn head(&self, caller: &Caller, id: EnvelopeId) -> Result<Head> {
        let stored = self.store.envelope(&caller.workspace, id).await?;
        let unknown = || DeliveryError::NotFound { kind: "envelope", name: id.to_string() };
        Head::of_stored(&stored.ok_or_else(unknown)?)
    }

    /// Adds the deliveries to a command.
    pub(super) async fn plan(
        &self,
        caller: &Caller,
        sendings: Vec<Sending>,
        command: &mut Command,
    ) -> Result<Vec<Delivery>> {
        let mut planned = Vec::with_capacity(sendings.len());
        for sending in sendings {
            planned.push(self.planned(caller, sending, command).await?);
        }
        Ok(planned)
    }

    /// A delivery that nobody knows of yet.
    pub(super) async fn draft(
        &self,
        caller: &Caller,
        sending: Sending,
        now: UnixMs,
    ) -> Result<Delivery> {
        sending.check()?;
        let agent = self.agent_options(&caller.workspace, sending.target()).await?;
        Ok(new_delivery(self, caller, sending, &agent, now))
    }

    async fn planned(
        &self,
        caller: &Caller,
        sending: Sending,
        command: &mut Command,
    ) -> Result<Delivery> {
        let size = sending.head.size;
        let mut delivery = self.draft(caller, sending, command.at).await?;
        if delivery.story.direct {
            let asked = std::iter::once(&delivery.row.agent).chain(&delivery.story.fallbacks);
            let standings = self.standings(&caller.workspace, asked).await?;
            command.puts.extend(route(&mut delivery, &standings, command.at)?);
        }
        command.puts.push(Put::Delivery(Box::new(delivery.to_row())));
        command.events.push(sent_event(caller, &delivery, &size));
        Ok(delivery)
    }

    pub(super) async fn commit_sent(
        &self,
        caller: &Caller,
        command: Command,
        mut sent: Vec<Delivery>,
    ) -> Result<Vec<Delivery>> {
        let places = delivery_places(&command);
        match self.apply_one(command).await? {
            Some(Applied::Now(receipt)) => {
                self.written(caller, &mut sent, &places, &receipt);
                Ok(sent)
            }
            Some(Applied::Before(known)) => self.sent_before(caller, &known).await,
            None => Err(DeliveryError::Contended),
        }
    }

    /// New deliveries as they are on disk now; whoever waits for them is woken.
    pub(super) fn written(
        &self,
        caller: &Caller,
        sent: &mut [Delivery],
        places: &[usize],
        receipt: &Receipt,
    ) {
        for (delivery, place) in sent.iter_mut().zip(places) {
            delivery.row.change = receipt.put_change(*place);
            delivery.row.sequence = delivery.row.change;
            self.arrived(caller, delivery);
        }
    }

    pub(super) fn arrived(&self, caller: &Caller, delivery: &Delivery) {
        self.inboxes.arrived(&caller.workspace, delivery);
        self.offer(&caller.workspace, &delivery.row.agent);
    }

    async fn sent_before(
        &self,
        caller: &Caller,
        known: &IdempotencyRecord,
    ) -> Result<Vec<Delivery>> {
        let ids: Vec<DeliveryId> = serde_json::from_slice(&known.answer)
            .map_err(|_| DeliveryError::IdempotencyConflict)?;
        let rows = self.store.deliveries(&caller.workspace, ids.clone()).await?;
        // A key may be kept for longer than what was sent under it.
        let pruned = ids.into_iter().find(|id| !rows.iter().any(|row| row.id == *id));
        if let Some(id) = pruned {
            return Err(DeliveryError::Unknown { id });
        }
        rows.into_iter().map(|row| Ok(Delivery::of_row(row)?)).collect()
    }

    async fn handed_off_before(
        &self,
        caller: &Caller,
        known: &IdempotencyRecord,
    ) -> Result<(Assembled, Delivery)> {
        let sent = self.sent_before(caller, known).await?.pop();
        let sent = sent.ok_or(DeliveryError::IdempotencyConflict)?;
        Ok((self.handoffs.assembled(caller, sent.row.envelope).await?, sent))
    }
}

/// Where among its puts a command has its deliveries.
pub(super) fn delivery_places(command: &Command) -> Vec<usize> {
    let puts = command.puts.iter().enumerate();
    puts.filter(|(_, put)| matches!(put, Put::Delivery(_))).map(|(place, _)| place).collect()
}

impl Sending {
    fn target(&self) -> &AgentName {
        self.options.to.as_ref().unwrap_or(&self.head.target)
    }

    fn check(&self) -> Result<()> {
        if self.target().as_str() == BROADCAST {
            return Err(DeliveryError::BroadcastTarget);
        }
        let found = self.options.fallbacks.as_ref().map_or(0, Vec::len);
        if found > FALLBACKS_MAX {
            let (field, max, unit) = ("fallbacks", FALLBACKS_MAX, "agents");
            return Err(DeliveryError::TooLarge { field, found, max, unit });
        }
        self.options.policy.check()
    }
}

fn new_delivery(
    engine: &Deliveries,
    caller: &Caller,
    sending: Sending,
    agent: &AgentOptions,
    now: UnixMs,
) -> Delivery {
    let target = sending.target().clone();
    let Sending { head, options, publication } = sending;
    let policy = engine.policy.with(&agent.policy).with(&options.policy);
    let story = Box::new(Story {
        sender: caller.agent.clone(),
        sent_at: now,
        target: target.clone(),
        policy,
        direct: options.direct,
        fallbacks: options.fallbacks.unwrap_or_else(|| agent.fallbacks.clone()),
        publication,
        pipeline: options.pipeline,
        expires_at: head.expires_at,
        deadline: head.deadline,
        completeness: head.completeness,
        subject: head.subject,
        has_schema: head.has_schema,
        pending_until: later(now, policy.pending_ms_max),
        take_by: options.direct.then(|| later(now, policy.take_ms)),
        absent: true,
        ..Story::blank(now, target.clone())
    });
    let priority = options.priority.unwrap_or(head.priority);
    let row = spine_store::Delivery {
        id: engine.new_id(now),
        envelope: head.id,
        root: head.root,
        agent: target,
        state: DeliveryState::Pending,
        priority,
        order_key: options.order_key,
        sequence: Change::ZERO,
        visible_at: now,
        due_at: None,
        epoch: 0,
        incarnation: 0,
        story: Vec::new(),
        result: None,
        updated_at: now,
        change: Change::ZERO,
    };
    let mut delivery = Delivery { row, story };
    delivery.row.due_at = super::machine::due_at(&delivery);
    delivery
}

/// While the circuit is open, somebody who waits is told at once, or a fallback takes its place. After its time one
/// handoff is the probe.
fn route(delivery: &mut Delivery, standings: &Standings, now: UnixMs) -> Result<Option<Put>> {
    let admission = |agent: &AgentName| {
        standings.get(agent).map_or(Admission::All, |standing| standing.admission(now))
    };
    let retry_at = match admission(&delivery.row.agent) {
        Admission::All => return Ok(None),
        Admission::Probe => {
            let standing = standings.get(&delivery.row.agent);
            return Ok(standing.and_then(|standing| standing.probing(delivery.row.id, now)));
        }
        Admission::None(retry_at) => retry_at,
    };
    let open = delivery.story.fallbacks.iter().position(|agent| admission(agent) == Admission::All);
    let Some(index) = open else {
        let agent = delivery.row.agent.clone();
        let retry_after_ms = u64::try_from(retry_at.0 - now.0).unwrap_or_default();
        return Err(DeliveryError::CircuitOpen { agent, retry_at, retry_after_ms });
    };
    let mut skipped: Vec<AgentName> = delivery.story.fallbacks.drain(..=index).collect();
    if let Some(agent) = skipped.pop() {
        delivery.row.agent = agent;
    }
    Ok(None)
}

fn sent_event(caller: &Caller, delivery: &Delivery, size: &Size) -> EventDraft {
    let mut event = EventDraft::new("delivery.sent");
    event.actor.clone_from(&caller.agent);
    event.envelope = Some(delivery.row.envelope);
    event.delivery = Some(delivery.row.id);
    event.data.note("agent", delivery.row.agent.as_str());
    size.note(&mut event.data);
    if delivery.row.agent != delivery.story.target {
        event.data.note("instead_of", delivery.story.target.as_str());
    }
    event
}

/// Whether so many can be done at once.
pub(super) fn check_batch(found: usize) -> Result<()> {
    if found <= BATCH_MAX {
        return Ok(());
    }
    let (field, max, unit) = ("the batch", BATCH_MAX, "entries");
    Err(DeliveryError::TooLarge { field, found, max, unit })
}
