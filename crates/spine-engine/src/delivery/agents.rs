//! Agents: their options, their breakers, and whether they are given work.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use spine_protocol::{AgentName, DeliveryId, WorkspaceName};
use spine_store::{
    Collection, Command, ErrorKind, EventDraft, Put, QueueState, Record, RecordKey, UnixMs,
    all_records,
};

use super::act::{Standings, read_record, to_record};
use super::breaker::{Breaker, BreakerState};
use super::limits::{
    DESCRIPTION_CHARS_MAX, FALLBACKS_MAX, RACE_ATTEMPTS_MAX, VERSION_CHARS_MAX, VERSIONS_MAX,
};
use super::machine::Effect;
use super::policy::PolicyPart;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;

/// What an agent is registered with. An agent exists as soon as it is first used; this only sets its options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentOptions {
    /// What it is for, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The budget of what is handed to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How deliveries to it are tried.
    pub policy: PolicyPart,
    /// Who is asked when it does not answer, unless a handoff names others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<AgentName>,
    /// Where deliveries are pushed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
    /// Whether it is given no work for now.
    pub paused: bool,
}

impl AgentOptions {
    /// Whether each is within its limits.
    fn check(&self) -> Result<()> {
        self.policy.check()?;
        let chars = self.description.as_ref().map_or(0, |text| text.chars().count());
        let invalid = |field, problem| Err(DeliveryError::Invalid { field, problem });
        if self.max_tokens == Some(0) {
            return invalid("max_tokens", "must be at least 1".to_owned());
        }
        if chars > DESCRIPTION_CHARS_MAX {
            let problem = format!("must be at most {DESCRIPTION_CHARS_MAX} characters");
            return invalid("description", problem);
        }
        if self.fallbacks.len() > FALLBACKS_MAX {
            return invalid("fallbacks", format!("must be at most {FALLBACKS_MAX}"));
        }
        self.webhook.as_ref().map_or(Ok(()), Webhook::check)
    }
}

/// Where deliveries are pushed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// The address.
    pub url: String,
    /// What signs them.
    pub secret: String,
    /// The protocol versions that it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_versions: Option<Vec<String>>,
}

impl Webhook {
    fn check(&self) -> Result<()> {
        let versions = self.accept_versions.as_deref().unwrap_or_default();
        let are_short = versions.iter().all(|version| version.chars().count() <= VERSION_CHARS_MAX);
        if versions.len() <= VERSIONS_MAX && are_short {
            return Ok(());
        }
        let problem = format!(
            "accept_versions must be at most {VERSIONS_MAX}, of {VERSION_CHARS_MAX} characters each"
        );
        Err(DeliveryError::Invalid { field: "webhook", problem })
    }
}

/// An agent, its queue and its breaker.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentView {
    /// Its name.
    pub name: AgentName,
    /// Its options.
    pub options: AgentOptions,
    /// Its breaker.
    pub breaker: Breaker,
    /// What waits for it.
    pub queue: Option<QueueState>,
}

/// What a person does to a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerOrder {
    /// Closed, and counted anew.
    Reset,
    /// Open until reset.
    ForceOpen,
}

pub(super) fn breaker_key(agent: &AgentName) -> Result<RecordKey> {
    key(Collection::Breaker, agent.as_str())
}

pub(super) fn agent_key(agent: &AgentName) -> Result<RecordKey> {
    key(Collection::Agent, agent.as_str())
}

pub(crate) fn key(collection: Collection, name: &str) -> Result<RecordKey> {
    let wrong = |error: spine_protocol::ParseError| DeliveryError::Invalid {
        field: "name",
        problem: format!("must be {error}"),
    };
    Ok(RecordKey { collection, name: name.parse().map_err(wrong)? })
}

impl Deliveries {
    /// What an agent is registered with; the defaults if it is not.
    pub async fn agent_options(
        &self,
        workspace: &WorkspaceName,
        agent: &AgentName,
    ) -> Result<AgentOptions> {
        let record = self.store.records(workspace, vec![agent_key(agent)?]).await?.pop();
        record.as_ref().map_or(Ok(AgentOptions::default()), read_record)
    }

    /// Sets an agent's options. Whether it is paused is not one of those: a restart that registers it leaves that alone.
    pub async fn register(
        &self,
        caller: &Caller,
        agent: &AgentName,
        options: AgentOptions,
    ) -> Result<AgentView> {
        options.check()?;
        let change =
            |before: AgentOptions| AgentOptions { paused: before.paused, ..options.clone() };
        self.change_agent(caller, agent, "agent.registered", change).await?;
        self.agent(caller, agent).await
    }

    /// Gives an agent no work, or work again.
    pub async fn pause(
        &self,
        caller: &Caller,
        agent: &AgentName,
        paused: bool,
    ) -> Result<AgentView> {
        let kind = if paused { "agent.paused" } else { "agent.resumed" };
        let change = |options: AgentOptions| AgentOptions { paused, ..options };
        self.change_agent(caller, agent, kind, change).await?;
        self.offer(&caller.workspace, agent);
        self.agent(caller, agent).await
    }

    async fn change_agent(
        &self,
        caller: &Caller,
        agent: &AgentName,
        kind: &'static str,
        change: impl Fn(AgentOptions) -> AgentOptions,
    ) -> Result<()> {
        let key = agent_key(agent)?;
        let change = |record: Option<&Record>| {
            let before: AgentOptions = record.map_or(Ok(AgentOptions::default()), read_record)?;
            let after = change(before.clone());
            let changed = after != before || record.is_none();
            Ok(changed.then(|| (to_record(key.clone(), &after, record), kind)))
        };
        self.change_record(caller, &key, agent.as_str(), change).await
    }

    /// Resets a breaker, or holds it open.
    pub async fn order_breaker(
        &self,
        caller: &Caller,
        agent: &AgentName,
        order: BreakerOrder,
    ) -> Result<AgentView> {
        let (key, now) = (breaker_key(agent)?, self.store.now());
        let change = |record: Option<&Record>| {
            let before: Breaker = record.map_or(Ok(Breaker::default()), read_record)?;
            let (after, kind) = match order {
                BreakerOrder::Reset => (Breaker::default(), "breaker.reset"),
                BreakerOrder::ForceOpen => (before.forced_open(now), "breaker.forced_open"),
            };
            Ok((after != before).then(|| (to_record(key.clone(), &after, record), kind)))
        };
        self.change_record(caller, &key, agent.as_str(), change).await?;
        self.offer(&caller.workspace, agent);
        self.agent(caller, agent).await
    }

    /// Reads a record, decides about it, and puts what was decided; again when another writer was first.
    pub(super) async fn change_record(
        &self,
        caller: &Caller,
        key: &RecordKey,
        about: &str,
        change: impl Fn(Option<&Record>) -> Result<Option<(Record, &'static str)>>,
    ) -> Result<()> {
        for _ in 0..RACE_ATTEMPTS_MAX {
            let before = self.store.records(&caller.workspace, vec![key.clone()]).await?.pop();
            let Some((record, kind)) = change(before.as_ref())? else { return Ok(()) };
            let mut command = Command::new(caller.workspace.clone(), self.store.now());
            command.puts.push(Put::Record(Box::new(record)));
            let mut event = EventDraft::new(kind);
            event.actor.clone_from(&caller.agent);
            event.data.note(key.collection.as_str(), about);
            command.events.push(event);
            if self.apply_one(command).await?.is_some() {
                return Ok(());
            }
        }
        Err(DeliveryError::Contended)
    }

    /// Applies one command; nothing when another writer was first.
    pub(crate) async fn apply_one(&self, command: Command) -> Result<Option<spine_store::Applied>> {
        let outcome = self.store.apply(vec![command]).await?.pop();
        match outcome.transpose() {
            Err(error) if error.kind() == ErrorKind::GuardFailed => Ok(None),
            outcome => Ok(outcome?),
        }
    }

    /// An agent, its queue and its breaker.
    pub async fn agent(&self, caller: &Caller, name: &AgentName) -> Result<AgentView> {
        let queues = self.store.queues(&caller.workspace).await?;
        let queue = queues.into_iter().find(|queue| queue.agent == *name);
        self.view(caller, name.clone(), queue).await
    }

    /// Every agent that is registered or that work waits for.
    pub async fn agents(&self, caller: &Caller) -> Result<Vec<AgentView>> {
        self.agents_with(caller, BTreeSet::new()).await
    }

    /// The same, and these.
    pub async fn agents_with(
        &self,
        caller: &Caller,
        mut names: BTreeSet<AgentName>,
    ) -> Result<Vec<AgentView>> {
        let mut queues = self.store.queues(&caller.workspace).await?;
        names.extend(queues.iter().map(|queue| queue.agent.clone()));
        for collection in [Collection::Agent, Collection::Breaker] {
            let records = all_records(&*self.store, &caller.workspace, collection).await?;
            names.extend(records.iter().filter_map(|record| record.key.name.as_str().parse().ok()));
        }
        let mut views = Vec::with_capacity(names.len());
        for name in names {
            let queue = queues.iter().position(|queue| queue.agent == name);
            let queue = queue.map(|index| queues.swap_remove(index));
            views.push(self.view(caller, name, queue).await?);
        }
        Ok(views)
    }

    async fn view(
        &self,
        caller: &Caller,
        name: AgentName,
        queue: Option<QueueState>,
    ) -> Result<AgentView> {
        let keys = vec![agent_key(&name)?, breaker_key(&name)?];
        let (mut options, mut breaker) = (AgentOptions::default(), Breaker::default());
        for record in self.store.records(&caller.workspace, keys).await? {
            match record.key.collection {
                Collection::Agent => options = read_record(&record)?,
                _ => breaker = read_record(&record)?,
            }
        }
        Ok(AgentView { name, options, breaker, queue })
    }

    /// Lets the breakers know what came of some steps. Not in the same command: a count that a crash loses does no harm,
    /// and a hundred deliveries that fail together must not wait for each other.
    pub(super) async fn tell_breakers(
        &self,
        workspace: &WorkspaceName,
        effects: &[(DeliveryId, Effect)],
        standings: &Standings,
    ) -> Result<()> {
        let at_rest = |agent: &AgentName| standings.get(agent).is_some_and(|s| s.breaker.is_none());
        let news = |effect: &Effect| !matches!(effect, Effect::Alive(agent) if at_rest(agent));
        let told_of = effects.iter().map(|(_, effect)| effect).filter(|effect| news(effect));
        let agents: BTreeSet<&AgentName> = told_of.filter_map(Effect::about_breaker).collect();
        let caller = Caller::of(workspace.clone());
        for agent in agents {
            let (key, now) = (breaker_key(agent)?, self.store.now());
            let change = |record: Option<&Record>| {
                let before: Breaker = record.map_or(Ok(Breaker::default()), read_record)?;
                let about = effects.iter().filter(|(_, e)| e.about_breaker() == Some(agent));
                let after = about
                    .fold(before.clone(), |breaker, (id, effect)| told(&breaker, *id, effect, now));
                let kind = kind_of(before.state, after.state);
                Ok((after != before).then(|| (to_record(key.clone(), &after, record), kind)))
            };
            self.change_record(&caller, &key, agent.as_str(), change).await?;
            self.offer(workspace, agent);
        }
        Ok(())
    }
}

fn told(breaker: &Breaker, id: DeliveryId, effect: &Effect, now: UnixMs) -> Breaker {
    match effect {
        Effect::Alive(_) => breaker.alive(),
        Effect::Dropped(_) => breaker.dropped(id, now),
        Effect::Exhausted(_) => breaker.exhausted(now),
        _ => breaker.clone(),
    }
}

fn kind_of(before: BreakerState, after: BreakerState) -> &'static str {
    match (before, after) {
        (BreakerState::Closed, BreakerState::Closed) => "breaker.counted",
        (_, BreakerState::Closed) => "breaker.closed",
        (_, BreakerState::Open) => "breaker.opened",
        (_, BreakerState::HalfOpen) => "breaker.probing",
    }
}

impl Effect {
    fn about_breaker(&self) -> Option<&AgentName> {
        match self {
            Self::Alive(agent) | Self::Dropped(agent) | Self::Exhausted(agent) => Some(agent),
            _ => None,
        }
    }
}
