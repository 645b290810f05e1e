//! Health, for people and for Prometheus.

use axum::response::Response;
use http::StatusCode;
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::metrics;
use crate::problem::Problem;
use crate::route::{Call, Json, Output, bytes_response};
use crate::watch::tell_later;
use crate::wire::health::{HealthDocument, HealthQuery, ServerTimesDocument};

pub async fn health(call: Call<(), HealthQuery, ()>) -> Result<Json<HealthDocument>, Problem> {
    let Call { app, pass, query, .. } = call;
    let (report, notices) = app.health.report(&pass.caller, query.target.as_ref()).await?;
    tell_later(&app, notices);
    let (workspace, thresholds) = (pass.caller.workspace, app.health.thresholds());
    let (since, store) = (app.health.began(), app.store.stats());
    let server = ServerTimesDocument::of(since, store.as_ref(), &app.searches.taken_s());
    Ok(Json::of(HealthDocument::of(report, workspace, query.target, thresholds, server)))
}

/// Figures in the text form of Prometheus.
pub struct Metrics(String);

const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Output for Metrics {
    const MEDIA_TYPES: &'static [&'static str] = &[TEXT];

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        Some(json_schema!({"type": "string"}))
    }

    fn respond(self) -> Result<Response, Problem> {
        Ok(bytes_response(StatusCode::OK, TEXT, self.0.into_bytes()))
    }
}

pub async fn metrics(call: Call<(), (), ()>) -> Result<Metrics, Problem> {
    Ok(Metrics(metrics::text(&call.app).await?))
}
