//! Agents that work is pushed to: who they are, when there is work for one, and that one could not be reached.

use std::time::Duration;

use spine_protocol::{AgentName, DeliveryId, WorkspaceName};
use spine_store::{Collection, UnixMs, all_records};

use super::act::{Act, read_record};
use super::agents::AgentOptions;
use super::bell::Topic;
use super::breaker::Admission;
use super::fence::Fence;
use super::limits::{LOOK_AGAIN, WAIT_MAX};
use super::machine::Event;
use super::settle::check_reason;
use super::story::Delivery;
use super::{Deliveries, Result};
use crate::Caller;
use crate::patience::within;

impl Deliveries {
    /// The agents of a workspace that work is pushed to.
    pub async fn pushed_agents(&self, workspace: &WorkspaceName) -> Result<Vec<AgentName>> {
        let mut agents = Vec::new();
        for record in all_records(&*self.store, workspace, Collection::Agent).await? {
            if read_record::<AgentOptions>(&record)?.webhook.is_some() {
                agents.extend(record.key.name.as_str().parse::<AgentName>().ok());
            }
        }
        Ok(agents)
    }

    /// Waits until an agent can be given work, without taking it. False when there is none within the time.
    pub async fn until_work(
        &self,
        workspace: &WorkspaceName,
        agent: &AgentName,
        wait: Duration,
    ) -> Result<bool> {
        let until = self.store.now().after(wait.min(WAIT_MAX));
        let topic = Topic::Inbox(workspace.clone(), agent.clone());
        loop {
            let mut bell = self.bells.listen(topic.clone());
            let now = self.store.now();
            if self.has_work(workspace, agent, now).await? {
                return Ok(true);
            }
            if now >= until || self.bells.is_stopped() {
                return Ok(false);
            }
            let pause = self.until_next(workspace, agent, now, until).await?;
            within(&self.timer, pause, bell.heard()).await;
        }
    }

    async fn has_work(
        &self,
        workspace: &WorkspaceName,
        agent: &AgentName,
        now: UnixMs,
    ) -> Result<bool> {
        let mut standings = self.standings(workspace, std::iter::once(agent)).await?;
        let standing = standings.remove(agent).unwrap_or_default();
        if standing.paused {
            return Ok(false);
        }
        let rows = match standing.admission(now) {
            Admission::None(_) => self.ready_probe(workspace, agent, &standing, now).await?,
            Admission::All | Admission::Probe => {
                self.store.ready_deliveries(workspace, agent.clone(), now, 1).await?
            }
        };
        Ok(!rows.is_empty())
    }

    /// What waits for something else than time, as a turn or a breaker, is looked at again soon.
    async fn until_next(
        &self,
        workspace: &WorkspaceName,
        agent: &AgentName,
        now: UnixMs,
        until: UnixMs,
    ) -> Result<Duration> {
        let between = |at: UnixMs| Duration::from_millis(u64::try_from(at.0 - now.0).unwrap_or(0));
        let pause = match self.store.next_visible(workspace, agent.clone()).await? {
            None => between(until),
            Some(at) if at > now => between(at),
            Some(_) => LOOK_AGAIN,
        };
        Ok(pause.min(between(until)))
    }

    /// The receiver could not be reached: as if nobody had taken it, so that its breaker counts it.
    pub async fn unreached(
        &self,
        caller: &Caller,
        id: DeliveryId,
        fence: Fence,
        reason: String,
        retry: bool,
    ) -> Result<Delivery> {
        check_reason(&reason)?;
        let event = Event::Unreached { fence, reason: reason.clone(), retry };
        self.act(&caller.workspace, Act::new(caller, id, event).noting("reason", &reason)).await
    }
}
