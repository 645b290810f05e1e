//! Handing on: the receiver's own choice of a successor, or the one that a pipeline names, in the same step as its completion.

use serde::{Deserialize, Serialize};
use spine_protocol::{AgentName, DeliveryId, NewHistory, RuleError};
use spine_store::Command;

use super::act::Act;
use super::fence::Fence;
use super::head::Head;
use super::machine::{Completion, Event};
use super::send::{SendOptions, Sending};
use super::settle::{Ack, Done};
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::assembly::limits::PARENTS_MAX;
use crate::assembly::{AssemblyError, HandoffRequest};

/// Whom the work goes on to, and with what.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Next {
    /// The handoff; its parent is the delivery that is done.
    pub handoff: HandoffRequest,
    /// How it is sent.
    #[serde(default)]
    pub options: SendOptions,
}

impl Deliveries {
    /// Who is next: the receiver's choice, else the pipeline's.
    pub(super) async fn successor(
        &self,
        caller: &Caller,
        delivery: &Delivery,
        ack: &Ack,
        completion: &Completion,
    ) -> Result<Option<Box<Next>>> {
        let next = match (&ack.next, &delivery.story.pipeline) {
            (Some(next), _) => Some(next.clone()),
            (None, Some(name)) => self.next_in_pipeline(caller, name, delivery, ack).await?,
            (None, None) => None,
        };
        Ok(next.map(|next| continued(next, delivery, completion)))
    }

    pub(super) async fn complete_into(
        &self,
        caller: &Caller,
        id: DeliveryId,
        fence: Fence,
        mut completion: Completion,
        next: Box<Next>,
    ) -> Result<Done> {
        let before = self.get(caller, id).await?;
        let receiver = Caller { agent: Some(before.row.agent.clone()), ..caller.clone() };
        let request = self.with_target_budget(caller, next.handoff.clone()).await?;
        let made = match self.handoffs.prepare(&receiver, request).await {
            Err(error) => return Err(self.refused_hop(caller, &before, fence, &next, error).await),
            Ok(made) => made,
        };
        completion.next = Some(made.envelope.id);
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        made.add_to(&receiver, &mut command)?;
        let (head, options) = (Head::of(&made.envelope), next.options);
        let sending = Sending { head, options, publication: None };
        let sent = self.plan(&receiver, vec![sending], &mut command).await?;
        let mut act = Act::new(caller, id, Event::Complete(fence, completion));
        act.with = Some(Box::new(command));
        let place = act.place_of_delivery();
        let delivery = self.act(&caller.workspace, act).await?;
        sent.iter().for_each(|next| self.arrived(caller, next));
        let next = match sent.into_iter().next() {
            // Another completion by the same lease may have won meanwhile: then its successor counts.
            Some(sent) if delivery.story.next() == Some(sent.row.envelope) => {
                Some(sent.written_with(&delivery, place))
            }
            _ => self.delivery_of_next(caller, &delivery).await?,
        };
        Ok(Done { delivery, next })
    }

    /// What the same lease was answered before.
    pub(super) async fn done_before(
        &self,
        caller: &Caller,
        delivery: &Delivery,
        fence: &Fence,
    ) -> Result<Option<Done>> {
        let ending = delivery.story.ending.as_ref();
        let same = ending.is_some_and(|ending| ending.epoch == Some(fence.epoch))
            && delivery.state() == spine_store::DeliveryState::Done
            && *fence == self.fence_of(delivery);
        if !same {
            return Ok(None);
        }
        let next = self.delivery_of_next(caller, delivery).await?;
        Ok(Some(Done { delivery: delivery.clone(), next }))
    }

    pub(super) async fn delivery_of_next(
        &self,
        caller: &Caller,
        delivery: &Delivery,
    ) -> Result<Option<Delivery>> {
        let Some(next) = delivery.story.next() else { return Ok(None) };
        let found = self.lineage_deliveries(caller, delivery.row.root).await?;
        Ok(found.into_iter().find(|other| other.row.envelope == next))
    }

    /// R7: a chain at its limit ends. The parent is parked with what was refused, so that a person can decide.
    pub(super) async fn refused_hop(
        &self,
        caller: &Caller,
        delivery: &Delivery,
        fence: Fence,
        next: &Next,
        error: AssemblyError,
    ) -> DeliveryError {
        let AssemblyError::Rule(rule) = &error else { return error.into() };
        if !matches!(**rule, RuleError::HopLimit { .. }) {
            return error.into();
        }
        let agents = self.agents_of_chain(caller, delivery).await.unwrap_or_default();
        let cycle = cycle_of(&agents, &next.handoff.target);
        let message = format!("{rule}{}", shown(&cycle));
        let (reason, refused) = (message.clone(), serde_json::to_value(next).ok());
        let event = Event::HopLimit { fence, reason, refused };
        let act = Act::new(caller, delivery.row.id, event);
        match self.act(&caller.workspace, act).await {
            Ok(_) => DeliveryError::HopLimit { message, agents, cycle },
            Err(error) => error,
        }
    }

    /// The agents from the root to this delivery, along first parents.
    async fn agents_of_chain(
        &self,
        caller: &Caller,
        delivery: &Delivery,
    ) -> Result<Vec<AgentName>> {
        const STEPS_MAX: usize = 1_000;
        let mut agents = vec![delivery.row.agent.clone()];
        let mut at = Some(delivery.row.envelope);
        for _ in 0..STEPS_MAX {
            let Some(id) = at else { break };
            let envelope = self.handoffs.stored(caller, id).await?;
            agents.push(envelope.from.clone());
            at = envelope.parents.first().map(|parent| parent.id);
        }
        agents.reverse();
        Ok(agents)
    }
}

/// The successor's request, with the completed delivery as parent and as a step on record.
fn continued(mut next: Box<Next>, delivery: &Delivery, completion: &Completion) -> Box<Next> {
    let handoff = &mut next.handoff;
    if !handoff.parents.contains(&delivery.row.envelope) && handoff.parents.len() < PARENTS_MAX {
        handoff.parents.insert(0, delivery.row.envelope);
    }
    let done = completion.action.clone();
    if done.is_some() || completion.digest.is_some() {
        handoff.history.push(NewHistory {
            agent: delivery.row.agent.clone(),
            action: done.unwrap_or_else(|| "completed its part".to_owned()),
            why: completion.why.clone(),
            memory_id: None,
            result_digest: completion.digest,
            at: None,
        });
    }
    next
}

/// The agents that a chain goes round through, if its next receiver has been there before.
fn cycle_of(agents: &[AgentName], next: &AgentName) -> Vec<AgentName> {
    let Some(last) = agents.iter().rposition(|agent| agent == next) else { return Vec::new() };
    agents.get(last..).unwrap_or_default().to_vec()
}

fn shown(cycle: &[AgentName]) -> String {
    let Some(first) = cycle.first() else { return String::new() };
    let names: Vec<&str> = cycle.iter().chain([first]).map(AgentName::as_str).collect();
    format!("; the chain goes round: {}", names.join(" → "))
}
