//! The dead-letter queue: what could not be delivered, kept for a person, and what a person can do about it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_protocol::{AgentName, DeliveryId, EnvelopeId};
use spine_store::{Command, DeliveryQuery, DeliveryState, Page, Put, UnixMs};

use super::act::{Act, check_same, event};
use super::head::Head;
use super::limits::BATCH_MAX;
use super::machine::{By, Event};
use super::send::{SendOptions, Sending};
use super::settle::{Ack, check_reason};
use super::story::{Delivery, ParkCause, ParkedReason};
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::assembly::HandoffRequest;
use crate::idempotency::{self, request_digest};
use crate::lineage::still_whole;

/// Which parked deliveries are meant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParkedFilter {
    /// In this agent's queue.
    pub target: Option<AgentName>,
    /// For this cause, or with these words in a reason.
    pub reason: Option<String>,
    /// Parked at this moment or later.
    pub since: Option<UnixMs>,
    /// Parked at this moment or earlier.
    pub until: Option<UnixMs>,
}

/// How many are reviewed at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Many {
    /// Which.
    pub filter: ParkedFilter,
    /// How many at most.
    pub max: Option<usize>,
    /// Only say which ones it would be.
    pub dry_run: bool,
    /// Why.
    pub reason: String,
    /// To another agent.
    pub target: Option<AgentName>,
    /// How many a second become visible.
    pub rate_per_s: Option<f64>,
}

/// What became of many.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reviewed {
    /// Those that were, or would be, reviewed.
    pub ids: Vec<DeliveryId>,
    /// Those that somebody else reviewed first.
    pub missed: Vec<DeliveryId>,
}

impl ParkedFilter {
    fn matches(&self, delivery: &Delivery) -> bool {
        let Some(wanted) = &self.reason else { return true };
        let wanted = wanted.to_lowercase();
        delivery.story.parked.iter().any(|parked| {
            parked.cause.as_str() == wanted || parked.reason.to_lowercase().contains(&wanted)
        })
    }
}

impl Deliveries {
    /// Deliveries that match, one page.
    pub async fn list(
        &self,
        caller: &Caller,
        query: DeliveryQuery,
    ) -> Result<Page<Delivery, DeliveryId>> {
        let page = self.store.list_deliveries(&caller.workspace, query).await?;
        let read = |row| Delivery::of_row(row).map_err(DeliveryError::from);
        let items = page.items.into_iter().map(read).collect::<Result<_>>()?;
        Ok(Page { items, next: page.next })
    }

    /// What is parked, oldest first, one page. A page may be short of what a reason leaves out.
    pub async fn parked(
        &self,
        caller: &Caller,
        filter: &ParkedFilter,
        after: Option<DeliveryId>,
        limit: usize,
    ) -> Result<Page<Delivery, DeliveryId>> {
        let query = DeliveryQuery {
            states: vec![DeliveryState::Parked],
            agent: filter.target.clone(),
            since: filter.since,
            until: filter.until,
            after,
            limit,
            newest_first: false,
        };
        let mut page = self.list(caller, query).await?;
        page.items.retain(|delivery| filter.matches(delivery));
        Ok(page)
    }

    /// Sets an envelope aside: what is open of it, or, if it was never sent, the envelope itself.
    pub async fn park_envelope(
        &self,
        caller: &Caller,
        envelope: EnvelopeId,
        reason: &str,
    ) -> Result<Vec<Delivery>> {
        check_reason(reason)?;
        let head = self.head(caller, envelope).await?;
        let deliveries = self.lineage_deliveries(caller, head.root).await?;
        let (mut parked, mut sent) = (Vec::new(), false);
        for delivery in deliveries.iter().filter(|delivery| delivery.row.envelope == envelope) {
            sent = true;
            if delivery.state().waits() {
                let event = Event::Park(ParkCause::Asked, by(caller, reason), None);
                let act = Act::new(caller, delivery.row.id, event).noting("reason", reason);
                parked.push(self.act(&caller.workspace, act).await?);
            }
        }
        if !sent {
            let cause = (ParkCause::Asked, reason);
            parked.push(self.park_unsent(caller, head, cause, None).await?);
        }
        Ok(parked)
    }

    /// A delivery that is parked from the start.
    pub(super) async fn park_unsent(
        &self,
        caller: &Caller,
        head: Head,
        (cause, reason): (ParkCause, &str),
        to: Option<AgentName>,
    ) -> Result<Delivery> {
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        let delivery = self.planned_parked(caller, head, (cause, reason), to, &mut command).await?;
        let parked = self.commit_sent(caller, command, vec![delivery]).await?.pop();
        parked.ok_or(DeliveryError::Contended)
    }

    pub(super) async fn planned_parked(
        &self,
        caller: &Caller,
        head: Head,
        (cause, reason): (ParkCause, &str),
        to: Option<AgentName>,
        command: &mut Command,
    ) -> Result<Delivery> {
        command.guards.push(still_whole(head.id));
        let options = SendOptions { to, ..SendOptions::default() };
        let sending = Sending { head, options, publication: None };
        let mut delivery = self.draft(caller, sending, command.at).await?;
        delivery.row.state = DeliveryState::Parked;
        delivery.row.due_at = None;
        let (at, reason, by) = (command.at, reason.to_owned(), caller.agent.clone());
        delivery.story.add_parked(ParkedReason { at, cause, reason, by });
        let act = Act::new(caller, delivery.row.id, Event::Due);
        command.puts.push(Put::Delivery(Box::new(delivery.to_row())));
        command.events.push(event("delivery.parked", &act, &delivery));
        Ok(delivery)
    }

    /// Tries a parked delivery again, with the same or another agent.
    pub async fn requeue(
        &self,
        caller: &Caller,
        id: DeliveryId,
        target: Option<AgentName>,
        reason: &str,
    ) -> Result<Delivery> {
        let request = (&target, reason);
        let event = Event::Requeue { by: by(caller, reason), target: target.clone(), after_ms: 0 };
        let act = Act::new(caller, id, event).noting("reason", reason);
        self.act_once(caller, "requeue", &request, act).await
    }

    /// A person did the work.
    pub async fn resolve(
        &self,
        caller: &Caller,
        id: DeliveryId,
        result: Value,
    ) -> Result<Delivery> {
        let before = self.get(caller, id).await?;
        let ack = Ack { result: Some(result), ..Ack::default() };
        let completion = self.completion(caller, &before, &ack).await?;
        let request = completion.digest;
        let act = Act::new(caller, id, Event::Resolve(by(caller, ""), completion));
        self.act_once(caller, "resolve", &request, act).await
    }

    /// A person gives it up.
    pub async fn discard(&self, caller: &Caller, id: DeliveryId, reason: &str) -> Result<Delivery> {
        check_reason(reason)?;
        let act = Act::new(caller, id, Event::Discard(by(caller, reason))).noting("reason", reason);
        self.act_once(caller, "discard", &reason, act).await
    }

    /// A person edits and sends again: a new child envelope, since envelopes are immutable, in place of the parked one.
    pub async fn resend(
        &self,
        caller: &Caller,
        id: DeliveryId,
        mut handoff: HandoffRequest,
        options: SendOptions,
    ) -> Result<(Delivery, Delivery)> {
        let digest = request_digest(caller, "resend", &(&caller.agent, id, &handoff, &options));
        if let Some(known) = idempotency::known(self.store.as_ref(), caller).await? {
            check_same(&known, &digest)?;
            return self.resent_before(caller, id, &known.answer).await;
        }
        let before = self.get(caller, id).await?;
        if before.state() != DeliveryState::Parked {
            return Err(DeliveryError::NotParked { id, state: before.state() });
        }
        if !handoff.parents.contains(&before.row.envelope) {
            handoff.parents.insert(0, before.row.envelope);
        }
        let request = self.with_target_budget(caller, handoff).await?;
        let made = self.handoffs.prepare(caller, request).await?;
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        made.add_to(caller, &mut command)?;
        let sending = Sending { head: Head::of(&made.envelope), options, publication: None };
        let sent = self.plan(caller, vec![sending], &mut command).await?;
        let reason = format!("sent again, edited, as {}", made.envelope.id);
        let event = Event::Replace(by(caller, &reason), made.envelope.id);
        let mut act = Act::new(caller, id, event).noting("next", &made.envelope.id.to_string());
        let sent = sent.into_iter().next().ok_or(DeliveryError::Contended)?;
        act.idempotency = idempotency::record(caller, digest, &sent.row.id, command.at);
        act.with = Some(Box::new(command));
        let place = act.place_of_delivery();
        let replaced = self.act(&caller.workspace, act).await?;
        self.arrived(caller, &sent);
        let sent = sent.written_with(&replaced, place);
        Ok((replaced, sent))
    }

    async fn resent_before(
        &self,
        caller: &Caller,
        id: DeliveryId,
        answer: &[u8],
    ) -> Result<(Delivery, Delivery)> {
        let sent =
            serde_json::from_slice(answer).map_err(|_| DeliveryError::IdempotencyConflict)?;
        Ok((self.get(caller, id).await?, self.get(caller, sent).await?))
    }

    /// Requeues many, one after the other at a rate.
    pub async fn requeue_many(&self, caller: &Caller, many: &Many) -> Result<Reviewed> {
        let gap_ms = gap_ms(many.rate_per_s)?;
        let event = |nth: usize| Event::Requeue {
            by: by(caller, &many.reason),
            target: many.target.clone(),
            after_ms: (nth as f64 * gap_ms) as u64,
        };
        self.review_many(caller, many, event).await
    }

    /// Gives many up.
    pub async fn discard_many(&self, caller: &Caller, many: &Many) -> Result<Reviewed> {
        check_reason(&many.reason)?;
        self.review_many(caller, many, |_| Event::Discard(by(caller, &many.reason))).await
    }

    async fn review_many(
        &self,
        caller: &Caller,
        many: &Many,
        event: impl Fn(usize) -> Event,
    ) -> Result<Reviewed> {
        let ids = self.chosen(caller, many).await?;
        if many.dry_run {
            return Ok(Reviewed { ids, missed: Vec::new() });
        }
        let act = |(nth, id): (usize, &DeliveryId)| {
            Act::new(caller, *id, event(nth)).noting("reason", many.reason.as_str())
        };
        let acts = ids.iter().enumerate().map(act).collect();
        let mut reviewed = Reviewed::default();
        for (id, outcome) in ids.into_iter().zip(self.act_many(&caller.workspace, acts).await?) {
            match outcome {
                Ok(_) => reviewed.ids.push(id),
                Err(DeliveryError::NotParked { .. } | DeliveryError::Unknown { .. }) => {
                    reviewed.missed.push(id);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(reviewed)
    }

    async fn chosen(&self, caller: &Caller, many: &Many) -> Result<Vec<DeliveryId>> {
        let max = many.max.unwrap_or(BATCH_MAX);
        if !(1..=BATCH_MAX).contains(&max) {
            let problem = format!("expected a number from 1 to {BATCH_MAX}");
            return Err(DeliveryError::Invalid { field: "max", problem });
        }
        let (mut ids, mut after) = (Vec::new(), None);
        while ids.len() < max {
            let page = self.parked(caller, &many.filter, after, BATCH_MAX).await?;
            ids.extend(page.items.iter().map(|delivery| delivery.row.id));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        ids.truncate(max);
        Ok(ids)
    }
}

pub(super) fn by(caller: &Caller, reason: &str) -> By {
    By { agent: caller.agent.clone(), reason: reason.to_owned() }
}

fn gap_ms(rate_per_s: Option<f64>) -> Result<f64> {
    match rate_per_s {
        None => Ok(0.0),
        Some(rate) if rate.is_finite() && rate > 0.0 => Ok(1000.0 / rate),
        Some(_) => {
            let problem = "must be more than 0".to_owned();
            Err(DeliveryError::Invalid { field: "rate_per_s", problem })
        }
    }
}
