//! What people do with alerts.

use std::time::Duration;

use spine_protocol::{AlertId, WorkspaceName};
use spine_store::{Command, Put, UnixMs};

use super::alert::{Acknowledged, Alert, Owed, Sent, Silenced, Turn};
use super::alerts::topic;
use super::limits::{ALERT_NOTE_BYTES_MAX, ALERT_OWED_MS_MAX, RACE_ATTEMPTS_MAX, SILENCE_MS_MAX};
use super::{Health, Notice, Result, alert_key, watch_key};
use crate::Caller;
use crate::delivery::{DeliveryError, read_record, to_record};

impl Health {
    /// Every alert that is kept: open ones first, then the newest.
    pub async fn alerts(&self, caller: &Caller) -> Result<Vec<Alert>> {
        let records = self.alert_records(&caller.workspace).await?;
        let mut alerts: Vec<Alert> = records.iter().map(read_record).collect::<Result<_>>()?;
        alerts.sort_by_key(|alert| {
            (alert.resolved_at.is_some(), std::cmp::Reverse((alert.opened_at, alert.id)))
        });
        Ok(alerts)
    }

    /// Says that somebody looks after it. Twice is once.
    pub async fn acknowledge(
        &self,
        caller: &Caller,
        id: AlertId,
        by: Option<String>,
        note: Option<String>,
    ) -> Result<Alert> {
        check_note("by", by.as_deref())?;
        check_note("note", note.as_deref())?;
        let change = |alert: &mut Alert, now: UnixMs| {
            let (by, note) = (by.clone(), note.clone());
            alert.acknowledged.get_or_insert(Acknowledged { at: now, by, note });
        };
        self.change_alert(caller, id, "alert.acknowledged", change).await
    }

    /// Tells nobody of this kind and target for a while; with no time, tells again.
    pub async fn silence(
        &self,
        caller: &Caller,
        id: AlertId,
        time: Duration,
        by: Option<String>,
        reason: Option<String>,
    ) -> Result<Alert> {
        check_note("by", by.as_deref())?;
        check_note("reason", reason.as_deref())?;
        if time > Duration::from_millis(SILENCE_MS_MAX) {
            let problem = format!("must be at most {} seconds", SILENCE_MS_MAX / 1000);
            return Err(DeliveryError::Invalid { field: "for_s", problem });
        }
        let change = |alert: &mut Alert, now: UnixMs| {
            let silenced =
                Silenced { until: now.after(time), by: by.clone(), reason: reason.clone() };
            alert.silenced = (!time.is_zero()).then_some(silenced);
        };
        let alert = self.change_alert(caller, id, "alert.silenced", change).await?;
        self.note_silence(caller, &alert).await;
        Ok(alert)
    }

    /// What this process knows of the watch is as it was before: the silence holds at once all the same.
    async fn note_silence(&self, caller: &Caller, alert: &Alert) {
        let room = self.room(&caller.workspace);
        let mut room = room.lock().await;
        let Some((_, watch)) = &mut room.watch else { return };
        let topic = topic(alert.kind, alert.target.as_deref());
        match &alert.silenced {
            Some(silenced) => watch.silences.insert(topic, silenced.until),
            None => watch.silences.remove(&topic),
        };
    }

    /// Notes what came of telling one of all the webhooks.
    pub async fn note_sent(
        &self,
        caller: &Caller,
        (id, turn): (AlertId, Turn),
        sent: Sent,
        webhooks: &[String],
    ) -> Result<Alert> {
        let change = |alert: &mut Alert, _| alert.note_sent(turn, sent.clone(), webhooks);
        self.change_alert(caller, id, "alert.sent", change).await
    }

    /// What people were to be told when the server before this one ended.
    pub async fn owed(&self, workspace: &WorkspaceName) -> Result<Vec<Notice>> {
        let now = self.store.now();
        let mut notices = Vec::new();
        for record in self.alert_records(workspace).await? {
            let alert: Alert = read_record(&record)?;
            let fresh = |owed: &&Owed| {
                owed.at.after(Duration::from_millis(ALERT_OWED_MS_MAX)) > now
                    && alert.silenced_at(now).is_none()
            };
            let notice = |owed: &Owed| Notice {
                alert: alert.at(owed.turn),
                workspace: workspace.clone(),
                turn: owed.turn,
                settled: owed.settled.clone(),
            };
            notices.extend(alert.owed.iter().filter(fresh).map(notice));
        }
        Ok(notices)
    }

    async fn change_alert(
        &self,
        caller: &Caller,
        id: AlertId,
        kind: &'static str,
        change: impl Fn(&mut Alert, UnixMs),
    ) -> Result<Alert> {
        for _ in 0..RACE_ATTEMPTS_MAX {
            let keys = vec![alert_key(id)?];
            let record = self.store.records(&caller.workspace, keys).await?.pop();
            let unknown = || DeliveryError::NotFound { kind: "alert", name: id.to_string() };
            let record = record.ok_or_else(unknown)?;
            let before: Alert = read_record(&record)?;
            let (mut after, now) = (before.clone(), self.store.now());
            change(&mut after, now);
            if after == before {
                return Ok(after);
            }
            let mut command = Command::new(caller.workspace.clone(), now);
            let changed = to_record(record.key.clone(), &after, Some(&record));
            command.puts.push(Put::Record(Box::new(changed)));
            command.puts.extend(self.silenced_topic(caller, &before, &after).await?);
            let mut event = after.event(kind);
            event.actor.clone_from(&caller.agent);
            command.events.push(event);
            if self.deliveries.apply_one(command).await?.is_some() {
                return Ok(after);
            }
        }
        Err(DeliveryError::Contended)
    }

    /// A silence is of the kind and the target: the next alert of them is silent, too.
    async fn silenced_topic(
        &self,
        caller: &Caller,
        before: &Alert,
        after: &Alert,
    ) -> Result<Option<Put>> {
        if before.silenced == after.silenced {
            return Ok(None);
        }
        let (record, mut watch) = self.read_watch(&caller.workspace, None).await?;
        let topic = topic(after.kind, after.target.as_deref());
        match &after.silenced {
            Some(silenced) => watch.silences.insert(topic, silenced.until),
            None => watch.silences.remove(&topic),
        };
        let now = self.store.now();
        watch.silences.retain(|_, until| *until > now);
        let record = to_record(watch_key()?, &watch, record.as_ref());
        Ok(Some(Put::Record(Box::new(record))))
    }
}

fn check_note(field: &'static str, text: Option<&str>) -> Result<()> {
    let (found, max) = (text.map_or(0, str::len), ALERT_NOTE_BYTES_MAX);
    if found <= max {
        return Ok(());
    }
    Err(DeliveryError::TooLarge { field, found, max, unit: "bytes" })
}
