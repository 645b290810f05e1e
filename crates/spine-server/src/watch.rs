//! Looks after the health of every workspace in which something happens, and tells whom alerts are for.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use spine_engine::Caller;
use spine_engine::delivery::DeliveryError;
use spine_engine::health::{Alert, Notice, Sent};
use spine_protocol::{AlertId, WorkspaceName};
use spine_store::{Change, all_workspaces};

use crate::App;
use crate::limits::{ALERT_TEST_MAX, WATCH_PAUSE};
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
pub type Telling<'a> = Pin<Box<dyn Future<Output = Vec<Told>> + Send + 'a>>;

/// Tells people. The server calls nobody itself: whoever puts it together brings this.
pub trait Notifier: Send + Sync {
    /// How many webhooks there are.
    fn webhooks(&self) -> usize;

    /// Tells all of them, and tries again where that may help.
    fn tell(&self, message: Message) -> Telling<'_>;
}

/// Looks again and again, as long as the server runs.
pub async fn watch(app: Arc<App>) {
    let mut seen = BTreeMap::new();
    loop {
        if let Err(error) = round(&app, &mut seen).await {
            tracing::warn!(%error, "health could not be looked after");
        }
        tokio::time::sleep(WATCH_PAUSE).await;
    }
}

/// Every workspace where something happened since the last round, or an alert may be over by now.
async fn round(
    app: &Arc<App>,
    seen: &mut BTreeMap<WorkspaceName, Change>,
) -> Result<(), DeliveryError> {
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
    for Notice { alert, workspace } in notices {
        let id = alert.id;
        let told = notifier.tell(message(&app, &workspace, alert)).await;
        let now = app.store.now();
        let sent = told.into_iter().map(|told| Sent {
            ok: told.error.is_none(),
            webhook: told.webhook,
            at: now,
            status: told.status,
            error: told.error,
        });
        let noted = app.health.note_sent(&Caller::of(workspace), id, sent.collect()).await;
        if let Err(error) = noted {
            tracing::warn!(%error, "whom an alert was sent to could not be noted");
        }
    }
}

fn message(app: &App, workspace: &WorkspaceName, alert: Alert) -> Message {
    let (title, detail) = (alert.title.clone(), alert.detail.clone());
    let (severity, resolved) = (alert.kind.severity(), alert.resolved_at.is_some());
    let what = if resolved { "resolved" } else { "opened" };
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
    let message = Message { is_test: true, ..message(app, workspace, alert) };
    let told = tokio::time::timeout(ALERT_TEST_MAX, notifier.tell(message)).await;
    told.unwrap_or_default().into_iter().map(Into::into).collect()
}

impl From<Told> for TestSentDocument {
    fn from(told: Told) -> Self {
        let Told { webhook, status, error, took } = told;
        Self { ok: error.is_none(), webhook, status, error, took_s: took.as_secs_f64() }
    }
}
