//! Looks after the health of every workspace in which something happens, and tells whom alerts are for.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use spine_engine::Caller;
use spine_engine::delivery::DeliveryError;
use spine_engine::health::{Alert, Notice, Sent, Turn};
use spine_protocol::{AlertId, WorkspaceName};
use spine_store::{Change, all_workspaces};

use crate::App;
use crate::limits::ALERT_TEST_MAX;
use crate::wire::alert::{AlertDocument, TestSentDocument};

/// What one webhook said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The webhook's name.
    pub webhook: String,
    /// The answer's status.
    pub status: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took, with all attempts.
    pub took: Duration,
}

/// What is told to a webhook.
#[derive(Debug, Clone)]
pub struct Message {
    /// Stays the same when it is sent again.
    pub id: String,
    /// The alert as the API shows it.
    pub json: serde_json::Value,
    /// In a line.
    pub title: String,
    /// In more words.
    pub detail: String,
    /// `info`, `warning` or `critical`.
    pub severity: &'static str,
    /// Whether it is over.
    pub resolved: bool,
    /// Somebody waits for what comes of it: one attempt, and no alert.
    pub is_test: bool,
}

/// What comes of telling.
pub type Telling<'a> = Pin<Box<dyn Future<Output = Told> + Send + 'a>>;

/// Tells people. The server calls nobody itself: whoever puts it together brings this.
pub trait Notifier: Send + Sync {
    /// The names of all webhooks.
    fn webhooks(&self) -> Vec<String>;

    /// Tells one of them, and tries again where that may help.
    fn tell<'a>(&'a self, webhook: &'a str, message: &'a Message) -> Telling<'a>;
}

/// Looks again and again, as long as the server runs.
pub async fn watch(app: Arc<App>) {
    let mut seen = Seen::new();
    while let Err(error) = tell_owed(&app).await {
        tracing::warn!(%error, "what people were to be told could not be read");
        tokio::time::sleep(app.settings.look_every).await;
    }
    loop {
        if let Err(error) = watch_round(&app, &mut seen).await {
            tracing::warn!(%error, "health could not be looked after");
        }
        tokio::time::sleep(app.settings.look_every).await;
    }
}

/// Goes on telling what people were to be told when the server before this one ended.
async fn tell_owed(app: &Arc<App>) -> Result<(), DeliveryError> {
    if app.notifier.is_none() {
        return Ok(());
    }
    let mut owed = Vec::new();
    for state in all_workspaces(app.store.as_ref()).await? {
        owed.extend(app.health.owed(&state.name).await?);
    }
    tell_later(app, owed);
    Ok(())
}

/// How far each workspace was at the last round.
pub type Seen = BTreeMap<WorkspaceName, Change>;

/// Every workspace where something happened since the last round, or an alert may be over by now.
pub async fn watch_round(app: &Arc<App>, seen: &mut Seen) -> Result<(), DeliveryError> {
    for state in all_workspaces(app.store.as_ref()).await? {
        let known = seen.insert(state.name.clone(), state.newest);
        if known != Some(state.newest) || app.health.is_unsettled(&state.name).await {
            look(app, &state.name).await?;
        }
    }
    Ok(())
}

/// Brings health up to date, and tells in the background what is to be told.
pub async fn look(app: &Arc<App>, workspace: &WorkspaceName) -> Result<(), DeliveryError> {
    let notices = app.health.look(workspace).await?;
    tell_later(app, notices);
    Ok(())
}

/// Tells in the background.
pub fn tell_later(app: &Arc<App>, notices: Vec<Notice>) {
    if !notices.is_empty() {
        app.wake_all(&notices);
        tokio::spawn(tell(app.clone(), notices));
    }
}

async fn tell(app: Arc<App>, notices: Vec<Notice>) {
    let Some(notifier) = app.notifier.clone() else { return };
    let webhooks = notifier.webhooks();
    for notice in notices {
        let message = message(&app, &notice.workspace, notice.alert.clone(), notice.turn);
        let to_tell = webhooks.iter().filter(|name| !notice.settled.contains(name));
        let telling = to_tell.map(|name| async {
            let told = notifier.tell(name, &message).await;
            note_sent(&app, &notice, told, &webhooks).await;
        });
        join_all(telling).await;
    }
}

/// Each webhook by itself: one that has it is not told again, however long another takes.
async fn note_sent(app: &App, notice: &Notice, told: Told, webhooks: &[String]) {
    let Told { webhook, status, error, .. } = told;
    let sent = Sent { ok: error.is_none(), webhook, at: app.store.now(), status, error };
    let (caller, what) = (Caller::of(notice.workspace.clone()), (notice.alert.id, notice.turn));
    if let Err(error) = app.health.note_sent(&caller, what, sent, webhooks).await {
        tracing::warn!(%error, "whom an alert was sent to could not be noted");
    }
}

fn message(app: &App, workspace: &WorkspaceName, alert: Alert, turn: Turn) -> Message {
    let (title, detail) = (alert.title.clone(), alert.detail.clone());
    let (severity, resolved) = (alert.kind.severity(), turn == Turn::Resolved);
    let what = turn.as_str();
    let id = format!("{}-{what}", alert.id);
    let document = AlertDocument::of(alert, app.store.now());
    let json = serde_json::json!({
        "type": format!("alert.{what}"), "workspace": workspace, "alert": document,
    });
    Message { id, json, title, detail, severity, resolved, is_test: false }
}

/// Tells every webhook that this is a test, and what came of it.
pub async fn test(app: &App, workspace: &WorkspaceName) -> Vec<TestSentDocument> {
    let Some(notifier) = &app.notifier else { return Vec::new() };
    let now = app.store.now();
    let unix_ms = u64::try_from(now.0).unwrap_or_default();
    let alert = Alert::test(AlertId::from_parts(unix_ms, app.entropy.next()), now);
    let message = Message { is_test: true, ..message(app, workspace, alert, Turn::Opened) };
    let webhooks = notifier.webhooks();
    let telling = join_all(webhooks.iter().map(|name| notifier.tell(name, &message)));
    let told = tokio::time::timeout(ALERT_TEST_MAX, telling).await;
    told.unwrap_or_default().into_iter().map(Into::into).collect()
}

impl From<Told> for TestSentDocument {
    fn from(told: Told) -> Self {
        let Told { webhook, status, error, took } = told;
        Self { ok: error.is_none(), webhook, status, error, took_s: took.as_secs_f64() }
    }
}
