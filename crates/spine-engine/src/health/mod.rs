//! Health: figures, one verdict, alerts.
//!
//! Figures are a fold over the event log and nothing else, so that they cost a handoff nothing and survive a restart.
//! Alerts are a state machine over the same log; where it stands is a record in the store, and every step of it is a
//! guarded command: two engines on one store open an alert once.

mod alert;
mod alerts;
mod figures;
pub mod limits;
mod minute;
mod noted;
mod orders;
mod report;
mod sketch;
mod stage;
mod totals;
mod verdict;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use spine_protocol::{AgentName, AlertId, WorkspaceName};
use spine_store::{
    Change, Collection, Command, Event, EventQuery, Put, Record, RecordKey, Store, UnixMs,
    all_records,
};

pub use alert::{Acknowledged, Alert, Owed, Sent, Silenced, Turn};
pub use alerts::{AlertChange, AlertKind, Opening, Watch};
pub use figures::{Figures, MINUTE_MS, Minutes, Window};
pub use minute::{Counts, Minute, UTILISATION_CLASSES};
pub use report::{QueueTotal, Report, TargetReport};
pub use sketch::Sketch;
pub use stage::Stage;
pub use totals::{LATENCY_BUCKETS_S, TargetTotals, Totals};
pub use verdict::{OpenBreaker, Reason, Thresholds, Verdict, reasons, verdict};

use crate::Entropy;
use crate::delivery::{Deliveries, DeliveryError, read_record, to_record};
use alerts::topic;
use limits::{ALERTS_KEPT_MAX, EVENTS_READ_BACK_MAX, EVENTS_ROWS, RACE_ATTEMPTS_MAX};
use noted::Noted;

type Result<T> = std::result::Result<T, DeliveryError>;

/// Everything about health. Clones share what was read.
#[derive(Clone)]
pub struct Health {
    store: Arc<dyn Store>,
    deliveries: Deliveries,
    entropy: Arc<Entropy>,
    thresholds: Thresholds,
    /// What happened from then on is in the totals.
    began: UnixMs,
    /// Whether there is anybody to tell.
    has_webhooks: bool,
    rooms: Arc<Mutex<Rooms>>,
}

/// Several ask at once: one reads the log, the others find it read.
type Rooms = BTreeMap<WorkspaceName, Arc<tokio::sync::Mutex<Room>>>;

/// What is known of one workspace.
#[derive(Default)]
struct Room {
    figures: Figures,
    /// The newest event in the figures; none before they were read back.
    read: Option<Change>,
    /// What was counted since the process began.
    totals: Totals,
    /// From when on figures are known.
    since: Option<UnixMs>,
    /// The first event that is in the figures.
    first: Option<Change>,
    /// Where the alerts stand, and the record it is kept in.
    watch: Option<(Option<Record>, Watch)>,
    /// Pending deliveries when somebody last looked in a minute.
    depths: BTreeMap<i64, BTreeMap<AgentName, u64>>,
}

/// Somebody is to be told.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// The alert as it was then: open, or resolved.
    pub alert: Alert,
    /// Where.
    pub workspace: WorkspaceName,
    /// What is told.
    pub turn: Turn,
    /// The webhooks that need not be told any more.
    pub settled: Vec<String>,
}

impl Health {
    /// Over a store and its deliveries.
    pub fn new(
        store: Arc<dyn Store>,
        deliveries: Deliveries,
        entropy: Arc<Entropy>,
        thresholds: Thresholds,
    ) -> Self {
        let began = store.now();
        let (has_webhooks, rooms) = (false, Arc::default());
        Self { store, deliveries, entropy, thresholds, began, has_webhooks, rooms }
    }

    /// From now on somebody is told of alerts: what they are owed is on record until they were told.
    #[must_use]
    pub fn with_webhooks(self, has_webhooks: bool) -> Self {
        Self { has_webhooks, ..self }
    }

    /// What figures are compared with.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// Reads what happened, opens and resolves alerts, and says whom to tell.
    pub async fn look(&self, workspace: &WorkspaceName) -> Result<Vec<Notice>> {
        let room = self.room(workspace);
        let mut room = room.lock().await;
        for _ in 0..RACE_ATTEMPTS_MAX {
            let changes = self.catch_up(workspace, &mut room).await?;
            match self.commit(workspace, &mut room, changes).await {
                Ok(Some(notices)) => return Ok(notices),
                // Another engine was first, or it is not known what was written: go on from what is there.
                outcome => {
                    room.watch = None;
                    outcome?;
                }
            }
        }
        Err(DeliveryError::Contended)
    }

    /// Whether time alone may change something: an alert is open.
    pub async fn is_unsettled(&self, workspace: &WorkspaceName) -> bool {
        let room = self.room(workspace);
        let room = room.lock().await;
        room.watch.as_ref().is_some_and(|(_, watch)| watch.has_open())
    }

    /// What was counted in a workspace since this process began.
    pub async fn totals(&self, workspace: &WorkspaceName) -> Totals {
        self.room(workspace).lock().await.totals.clone()
    }

    /// When this process began to count.
    pub fn began(&self) -> UnixMs {
        self.began
    }

    /// How many alerts of each kind are open and not silenced.
    pub async fn open_alerts(&self, workspace: &WorkspaceName) -> BTreeMap<AlertKind, u64> {
        let room = self.room(workspace);
        let room = room.lock().await;
        let now = self.store.now();
        room.watch.as_ref().map(|(_, watch)| watch.open_alerts(now)).unwrap_or_default()
    }

    fn room(&self, workspace: &WorkspaceName) -> Arc<tokio::sync::Mutex<Room>> {
        // What a panic left behind is still a map of rooms.
        let mut rooms = self.rooms.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        rooms.entry(workspace.clone()).or_default().clone()
    }

    fn new_id(&self, at: UnixMs) -> AlertId {
        AlertId::from_parts(u64::try_from(at.0).unwrap_or_default(), self.entropy.next())
    }

    async fn catch_up(
        &self,
        workspace: &WorkspaceName,
        room: &mut Room,
    ) -> Result<Vec<AlertChange>> {
        if room.read.is_none() {
            self.read_back(workspace, room).await?;
        }
        let (record, mut watch) = match room.watch.take() {
            Some(known) => known,
            None => self.read_watch(workspace, room.first).await?,
        };
        let mut changes = Vec::new();
        let mut after = room.read.unwrap_or_default().min(Change(watch.seen));
        loop {
            let page = self.store.events(workspace, after, EVENTS_ROWS).await?;
            for event in &page.items {
                room.note(event);
                if event.change.0 > watch.seen {
                    watch.note(event, &|at| self.new_id(at), &mut changes);
                }
                after = event.change;
            }
            if page.next.is_none() {
                break;
            }
        }
        self.pass_time(room, &mut watch, &mut changes);
        room.watch = Some((record, watch));
        Ok(changes)
    }

    fn pass_time(&self, room: &mut Room, watch: &mut Watch, changes: &mut Vec<AlertChange>) {
        let now = self.store.now();
        room.figures.forget_old(now);
        watch.quiet(now, changes);
        let share = room.figures.all.over(Window::FiveMinutes, now).completeness();
        let below = self.thresholds.completeness_alert;
        watch.completeness(share, below, now, &|at| self.new_id(at), changes);
    }

    /// Counts what the log has of the last day, from its newest event back.
    async fn read_back(&self, workspace: &WorkspaceName, room: &mut Room) -> Result<()> {
        let now = self.store.now();
        let oldest = UnixMs(now.0 - Window::Day.minutes() * MINUTE_MS);
        let (mut after, mut newest) = (Change::ZERO, Change::ZERO);
        for _ in 0..EVENTS_READ_BACK_MAX / EVENTS_ROWS {
            let query = EventQuery {
                after,
                newest_first: true,
                limit: EVENTS_ROWS,
                ..EventQuery::default()
            };
            let page = self.store.events_of(workspace, query).await?;
            let wanted = page.items.iter().take_while(|event| event.at >= oldest);
            for event in wanted {
                newest = newest.max(event.change);
                room.count(event, event.at >= self.began);
            }
            let more = page.items.last().is_some_and(|event| event.at >= oldest);
            match page.next.filter(|_| more) {
                Some(next) => after = next,
                None => break,
            }
        }
        room.read = Some(newest);
        Ok(())
    }

    async fn read_watch(
        &self,
        workspace: &WorkspaceName,
        first: Option<Change>,
    ) -> Result<(Option<Record>, Watch)> {
        let record = self.store.records(workspace, vec![watch_key()?]).await?.pop();
        let watch = match &record {
            Some(record) => read_record(record)?,
            // Older events were never watched: they are no news.
            None => Watch::after(first.map_or(0, |first| first.0.saturating_sub(1))),
        };
        Ok((record, watch))
    }

    /// Puts the changes and where the machine stands, in one step; nothing when another engine was first.
    async fn commit(
        &self,
        workspace: &WorkspaceName,
        room: &mut Room,
        changes: Vec<AlertChange>,
    ) -> Result<Option<Vec<Notice>>> {
        let Some((record, watch)) = &room.watch else { return Ok(None) };
        let kept = record.as_ref().map_or(Ok(Watch::default()), read_record)?;
        if changes.is_empty() && watch.seen < kept.seen + EVENTS_ROWS as u64 {
            return Ok(Some(Vec::new()));
        }
        let mut command = Command::new(workspace.clone(), self.store.now());
        let stands = to_record(watch_key()?, watch, record.as_ref());
        command.puts.push(Put::Record(Box::new(stands.clone())));
        let touched = self.changed_alerts(&mut command, watch, changes).await?;
        let Some(spine_store::Applied::Now(receipt)) = self.deliveries.apply_one(command).await?
        else {
            return Ok(None);
        };
        let watch = watch.clone();
        let stands = Record { change: receipt.put_change(0), ..stands };
        room.watch = Some((Some(stands), watch));
        let notice = |(alert, turn)| Notice {
            alert,
            workspace: workspace.clone(),
            turn,
            settled: Vec::new(),
        };
        Ok(Some(touched.into_iter().map(notice).collect()))
    }

    /// Adds the alerts to a command, and says which of them somebody is to be told of.
    async fn changed_alerts(
        &self,
        command: &mut Command,
        watch: &Watch,
        changes: Vec<AlertChange>,
    ) -> Result<Vec<(Alert, Turn)>> {
        let mut alerts = self.known_alerts(&command.workspace, &changes).await?;
        let mut told = Vec::new();
        let mut opened = 0;
        for change in changes {
            let ((id, kind), turn) = (change.id_and_event(), change.turn());
            match change {
                AlertChange::Opened(opening) => {
                    opened += 1;
                    alerts.insert(id, (None, new_alert(*opening, watch, command.at)));
                }
                AlertChange::Counted { at, delivery, .. } => {
                    alerts.entry(id).and_modify(|(_, alert)| alert.count(at, delivery));
                }
                AlertChange::Resolved { at, .. } => {
                    alerts.entry(id).and_modify(|(_, alert)| alert.resolved_at = Some(at));
                }
            }
            let Some((_, alert)) = alerts.get_mut(&id) else { continue };
            command.events.push(alert.event(kind));
            if let Some(turn) = turn.filter(|_| alert.silenced_at(command.at).is_none()) {
                let owed = Owed { turn, at: command.at, settled: Vec::new() };
                alert.owed.extend(self.has_webhooks.then_some(owed));
                told.push((alert.at(turn), turn));
            }
        }
        if opened > 0 {
            command.puts.extend(self.old_alerts(&command.workspace, opened).await?);
        }
        for (id, (record, alert)) in &alerts {
            let record = to_record(alert_key(*id)?, alert, record.as_ref());
            command.puts.push(Put::Record(Box::new(record)));
        }
        Ok(told)
    }

    async fn known_alerts(
        &self,
        workspace: &WorkspaceName,
        changes: &[AlertChange],
    ) -> Result<BTreeMap<AlertId, (Option<Record>, Alert)>> {
        let mut ids: Vec<AlertId> = changes.iter().map(|change| change.id_and_event().0).collect();
        ids.sort_unstable();
        ids.dedup();
        let keys: Vec<RecordKey> = ids.into_iter().map(alert_key).collect::<Result<_>>()?;
        let mut known = BTreeMap::new();
        for record in self.store.records(workspace, keys).await? {
            let alert: Alert = read_record(&record)?;
            known.insert(alert.id, (Some(record), alert));
        }
        Ok(known)
    }

    /// The oldest resolved ones, as many as make room for new ones.
    async fn old_alerts(&self, workspace: &WorkspaceName, opened: usize) -> Result<Vec<Put>> {
        let records = self.alert_records(workspace).await?;
        let too_many = (records.len() + opened).saturating_sub(ALERTS_KEPT_MAX);
        let mut dropped = Vec::new();
        for record in records {
            if dropped.len() == too_many {
                break;
            }
            if read_record::<Alert>(&record)?.resolved_at.is_some() {
                dropped.push(Put::DropRecord(record.key, record.change));
            }
        }
        Ok(dropped)
    }

    async fn alert_records(&self, workspace: &WorkspaceName) -> Result<Vec<Record>> {
        Ok(all_records(&*self.store, workspace, Collection::Alert).await?)
    }
}

impl AlertChange {
    /// What people are told of it, if anything.
    fn turn(&self) -> Option<Turn> {
        match self {
            Self::Opened(_) => Some(Turn::Opened),
            Self::Counted { .. } => None,
            Self::Resolved { .. } => Some(Turn::Resolved),
        }
    }

    fn id_and_event(&self) -> (AlertId, &'static str) {
        match self {
            Self::Opened(opening) => (opening.id, "alert.opened"),
            Self::Counted { id, .. } => (*id, "alert.counted"),
            Self::Resolved { id, .. } => (*id, "alert.resolved"),
        }
    }
}

impl Room {
    /// Counts an event that is newer than all that were counted.
    fn note(&mut self, event: &Event) {
        if self.read.is_none_or(|read| event.change > read) {
            self.count(event, true);
            self.read = Some(event.change);
        }
    }

    /// Counts an event; also in the totals, if it happened since the process began.
    fn count(&mut self, event: &Event, in_totals: bool) {
        self.since = Some(self.since.map_or(event.at, |since| since.min(event.at)));
        self.first = Some(self.first.map_or(event.change, |first| first.min(event.change)));
        let Some(noted) = Noted::of(event) else { return };
        self.figures.note(event.at, &noted);
        if in_totals {
            self.totals.note(&noted);
        }
    }
}

/// One that opens in a silence is silenced with it.
fn new_alert(opening: Opening, watch: &Watch, now: UnixMs) -> Alert {
    let mut alert = Alert::of(opening);
    let until = watch.silences.get(&topic(alert.kind, alert.target.as_deref()));
    let until = until.copied().filter(|until| *until > now);
    alert.silenced = until.map(|until| Silenced { until, by: None, reason: None });
    alert
}

fn watch_key() -> Result<RecordKey> {
    crate::delivery::record_key(Collection::Figures, "alerts")
}

fn alert_key(id: AlertId) -> Result<RecordKey> {
    crate::delivery::record_key(Collection::Alert, &id.to_string())
}
