//! Broadcast: one envelope, a delivery for each receiver, independent of each other.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, PublicationId};
use spine_store::{
    Applied, Collection, Command, EventDraft, Put, Record, RecordKey, UnixMs, all_records,
};

use super::act::{check_same, read_named, read_record, to_record};
use super::agents::key;
use super::bell::Topic;
use super::head::Head;
use super::join::{Join, JoinRequest};
use super::limits::{LOOK_AGAIN, RECEIVERS_MAX, WAIT_MAX};
use super::send::{SendOptions, Sending, delivery_places};
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::idempotency::{self, request_digest};
use crate::lineage::still_whole;
use crate::patience::within;

/// A named place to publish to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Channel {
    /// Who gets what is published without naming receivers.
    pub subscribers: BTreeSet<AgentName>,
}

/// What is published.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishRequest {
    /// The envelope.
    pub envelope: EnvelopeId,
    /// To whom; the subscribers, if not said.
    #[serde(default)]
    pub receivers: Option<Vec<AgentName>>,
    /// What happens when they are done.
    #[serde(default)]
    pub join: Option<JoinRequest>,
    /// How each is sent.
    #[serde(default)]
    pub options: SendOptions,
}

/// One publication, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    /// Its id.
    pub id: PublicationId,
    /// Where.
    pub channel: String,
    /// What.
    pub envelope: EnvelopeId,
    /// The root of its lineage.
    pub root: EnvelopeId,
    /// By whom.
    pub by: Option<AgentName>,
    /// When.
    pub at: UnixMs,
    /// A delivery for each receiver.
    pub deliveries: Vec<DeliveryId>,
    /// What happens when they are done.
    pub join: Option<Join>,
}

impl Publication {
    /// Whether its join is still to come.
    pub fn is_to_be_joined(&self) -> bool {
        self.join.as_ref().is_some_and(|join| join.made.is_none())
    }
}

/// The same of a record: one that cannot be read is not thrown away.
pub(super) fn is_to_be_joined(record: &Record) -> bool {
    read_record::<Publication>(record).map_or(true, |publication| publication.is_to_be_joined())
}

/// A publication, and who has it.
#[derive(Debug, Clone, PartialEq)]
pub struct PublicationView {
    /// The publication.
    pub publication: Publication,
    /// Its deliveries.
    pub deliveries: Vec<Delivery>,
}

impl PublicationView {
    /// Whether nothing more is to come: every delivery is over or parked, and a join has been made.
    pub fn is_settled(&self) -> bool {
        !self.publication.is_to_be_joined()
            && !self.deliveries.iter().any(|delivery| delivery.state().is_open())
    }
}

impl Deliveries {
    /// A channel; one that nobody has used yet is empty.
    pub async fn channel(&self, caller: &Caller, name: &str) -> Result<Channel> {
        let key = key(Collection::Channel, name)?;
        let found = self.store.records(&caller.workspace, vec![key]).await?.pop();
        found.as_ref().map_or(Ok(Channel::default()), read_record)
    }

    /// Every channel that somebody subscribed to, by name.
    pub async fn channels(&self, caller: &Caller) -> Result<Vec<(String, Channel)>> {
        read_named(&all_records(&*self.store, &caller.workspace, Collection::Channel).await?)
    }

    /// Subscribes an agent, or ends its subscription. Twice is once.
    pub async fn subscribe(
        &self,
        caller: &Caller,
        name: &str,
        agent: &AgentName,
        subscribed: bool,
    ) -> Result<Channel> {
        let key = key(Collection::Channel, name)?;
        let change = |record: Option<&Record>| {
            let mut channel: Channel = record.map_or(Ok(Channel::default()), read_record)?;
            let changed = if subscribed {
                channel.subscribers.insert(agent.clone())
            } else {
                channel.subscribers.remove(agent)
            };
            check_receivers(channel.subscribers.len())?;
            let kind = if subscribed { "channel.subscribed" } else { "channel.unsubscribed" };
            Ok(changed.then(|| (to_record(key.clone(), &channel, record), kind)))
        };
        self.change_record(caller, &key, name, change).await?;
        self.channel(caller, name).await
    }

    /// Publishes an envelope: all deliveries and the join in one step.
    pub async fn publish(
        &self,
        caller: &Caller,
        channel: &str,
        request: PublishRequest,
    ) -> Result<PublicationView> {
        let digest = request_digest(caller, "publish", &(&caller.agent, channel, &request));
        if let Some(known) = idempotency::known(self.store.as_ref(), caller).await? {
            check_same(&known, &digest)?;
            return self.published_before(caller, &known.answer).await;
        }
        let head = self.head(caller, request.envelope).await?;
        let receivers = self.receivers(caller, channel, request.receivers.as_ref()).await?;
        let mut command = Command::new(caller.workspace.clone(), self.store.now());
        command.guards.push(still_whole(head.id));
        let id = self.publication_id(command.at);
        let sendings = receivers.into_iter().map(|agent| part(&head, agent, id, &request.options));
        let mut sent = self.plan(caller, sendings.collect(), &mut command).await?;
        let join = request.join.map(|join| join.planned(sent.len(), command.at)).transpose()?;
        let publication = Publication {
            id,
            channel: channel.to_owned(),
            envelope: head.id,
            root: head.root,
            by: caller.agent.clone(),
            at: command.at,
            deliveries: sent.iter().map(|delivery| delivery.row.id).collect(),
            join,
        };
        command.puts.push(Put::Record(Box::new(publication.to_record(None)?)));
        command.events.push(published(caller, &publication));
        command.idempotency = idempotency::record(caller, digest, &id, command.at);
        let places = delivery_places(&command);
        match self.apply_one(command).await? {
            Some(Applied::Now(receipt)) => {
                self.written(caller, &mut sent, &places, &receipt);
                Ok(PublicationView { publication, deliveries: sent })
            }
            Some(Applied::Before(known)) => self.published_before(caller, &known.answer).await,
            None => Err(DeliveryError::Contended),
        }
    }

    async fn receivers(
        &self,
        caller: &Caller,
        channel: &str,
        named: Option<&Vec<AgentName>>,
    ) -> Result<BTreeSet<AgentName>> {
        let receivers = match named {
            Some(named) => named.iter().cloned().collect(),
            None => self.channel(caller, channel).await?.subscribers,
        };
        check_receivers(receivers.len())?;
        if receivers.is_empty() { Err(DeliveryError::NoReceivers) } else { Ok(receivers) }
    }

    async fn published_before(&self, caller: &Caller, answer: &[u8]) -> Result<PublicationView> {
        let id = serde_json::from_slice(answer).map_err(|_| DeliveryError::IdempotencyConflict)?;
        self.publication(caller, id).await
    }

    fn publication_id(&self, now: UnixMs) -> PublicationId {
        let unix_ms = u64::try_from(now.0).unwrap_or_default();
        PublicationId::from_parts(unix_ms, self.entropy.next())
    }

    /// A publication, and who has it.
    pub async fn publication(&self, caller: &Caller, id: PublicationId) -> Result<PublicationView> {
        let unknown = || DeliveryError::NotFound { kind: "publication", name: id.to_string() };
        let key = publication_key(id)?;
        let record = self.store.records(&caller.workspace, vec![key]).await?.pop();
        let publication: Publication = read_record(&record.ok_or_else(unknown)?)?;
        let ids = publication.deliveries.clone();
        let rows = self.store.deliveries(&caller.workspace, ids).await?;
        let read = |row| Delivery::of_row(row).map_err(DeliveryError::from);
        let deliveries = rows.into_iter().map(read).collect::<Result<_>>()?;
        Ok(PublicationView { publication, deliveries })
    }

    /// Those that deliveries are parts of, as they are kept.
    pub(super) async fn publications_of(
        &self,
        caller: &Caller,
        deliveries: &[Delivery],
    ) -> Result<Vec<Record>> {
        let names: BTreeSet<&String> =
            deliveries.iter().filter_map(|delivery| delivery.story.publication.as_ref()).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let keys = names.into_iter().filter_map(|name| key(Collection::Publication, name).ok());
        let keys = keys.collect();
        Ok(self.store.records(&caller.workspace, keys).await?)
    }

    /// The publication when everything is settled, or as it is when the time is up.
    pub async fn wait_publication(
        &self,
        caller: &Caller,
        id: PublicationId,
        timeout: Duration,
    ) -> Result<PublicationView> {
        let end = self.store.now().after(timeout.min(WAIT_MAX));
        let topic = Topic::Publication(caller.workspace.clone(), id.to_string());
        loop {
            let mut bell = self.bells.listen(topic.clone());
            let view = self.publication(caller, id).await?;
            let now = self.store.now();
            if view.is_settled() || now >= end || self.bells.is_stopped() {
                return Ok(view);
            }
            let left = Duration::from_millis(u64::try_from(end.0 - now.0).unwrap_or_default());
            within(&self.timer, left.min(LOOK_AGAIN), bell.heard()).await;
        }
    }
}

impl Publication {
    pub(super) fn to_record(&self, before: Option<&Record>) -> Result<Record> {
        let due_at = self.join.as_ref().and_then(Join::due_at);
        Ok(Record { due_at, ..to_record(publication_key(self.id)?, self, before) })
    }
}

pub(super) fn publication_key(id: PublicationId) -> Result<RecordKey> {
    key(Collection::Publication, &id.to_string())
}

fn part(head: &Head, agent: AgentName, id: PublicationId, options: &SendOptions) -> Sending {
    let options = SendOptions { to: Some(agent), ..options.clone() };
    Sending { head: head.clone(), options, publication: Some(id.to_string()) }
}

fn published(caller: &Caller, publication: &Publication) -> EventDraft {
    let mut event = EventDraft::new("publication.made");
    event.actor.clone_from(&caller.agent);
    event.envelope = Some(publication.envelope);
    event.data.note("publication", &publication.id.to_string());
    event.data.note("channel", publication.channel.as_str());
    event.data.note("receivers", publication.deliveries.len());
    event
}

fn check_receivers(found: usize) -> Result<()> {
    if found <= RECEIVERS_MAX {
        return Ok(());
    }
    let (field, max, unit) = ("receivers", RECEIVERS_MAX, "agents");
    Err(DeliveryError::TooLarge { field, found, max, unit })
}
