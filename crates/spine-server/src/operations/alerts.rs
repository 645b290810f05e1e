//! Alerts.

use spine_engine::health::Alert;

use super::page_rows;
use crate::problem::Problem;
use crate::route::{Call, Json};
use crate::wire::alert::{
    AcknowledgeBody, AlertDocument, AlertListDocument, AlertPath, AlertsQuery, SilenceBody,
    TestBody, TestDocument,
};
use crate::wire::cursor;

const LIST: &str = "alerts";

pub async fn list(call: Call<(), AlertsQuery, ()>) -> Result<Json<AlertListDocument>, Problem> {
    let (rows, state) = (page_rows(call.query.limit)?, call.query.state);
    let after: Option<String> = cursor::decode(LIST, call.query.cursor.as_deref())?;
    crate::watch::look(&call.app, &call.caller().workspace).await?;
    let mut alerts = call.app.health.alerts(call.caller()).await?;
    alerts.retain(|alert| state.admits(alert));
    let place = |alert: &Alert| after.as_ref().is_some_and(|id| alert.id.to_string() == *id);
    let first = alerts.iter().position(place).map_or(0, |place| place + 1);
    let more = alerts.len() > first + rows;
    let page: Vec<Alert> = alerts.into_iter().skip(first).take(rows).collect();
    let next = page.last().filter(|_| more).map(|alert| cursor::encode(LIST, alert.id));
    let now = call.app.store.now();
    let alerts = page.into_iter().map(|alert| AlertDocument::of(alert, now)).collect();
    let webhooks = call.app.notifier.as_ref().map_or(0, |notifier| notifier.webhooks().len());
    Ok(Json::of(AlertListDocument { alerts, next_cursor: next, webhooks }))
}

pub async fn acknowledge(
    call: Call<AlertPath, (), AcknowledgeBody>,
) -> Result<Json<AlertDocument>, Problem> {
    let Call { app, pass, path, body, .. } = call;
    let alert = app.health.acknowledge(&pass.caller, path.id, body.by, body.note).await?;
    app.wake.up(&pass.caller.workspace);
    Ok(Json::of(AlertDocument::of(alert, app.store.now())))
}

pub async fn silence(
    call: Call<AlertPath, (), SilenceBody>,
) -> Result<Json<AlertDocument>, Problem> {
    let Call { app, pass, path, body, .. } = call;
    let time = body.time()?;
    let alert = app.health.silence(&pass.caller, path.id, time, body.by, body.reason).await?;
    app.wake.up(&pass.caller.workspace);
    Ok(Json::of(AlertDocument::of(alert, app.store.now())))
}

pub async fn test(call: Call<(), (), TestBody>) -> Result<Json<TestDocument>, Problem> {
    let sent = crate::watch::test(&call.app, &call.caller().workspace).await;
    Ok(Json::of(TestDocument { sent }))
}
