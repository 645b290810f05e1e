//! The server itself: whether it lives, whether it can be used, what it can do.

use axum::response::Response;
use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::App;
use crate::access::default_workspace;
use crate::dashboard;
use crate::problem::{Problem, ProblemKind};
use crate::route::{Call, JSON, Json, Output, bytes_response};

/// Whether all is well.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusDocument {
    /// `ok`.
    pub status: &'static str,
    /// The server's version.
    pub version: &'static str,
    /// A name that no other start of a server has.
    pub instance: String,
    /// Whether tests move this server's clock: its times are not to be relied on.
    pub test_clock: bool,
}

fn ok(app: &App) -> Json<StatusDocument> {
    let (version, instance) = (env!("CARGO_PKG_VERSION"), app.instance.clone());
    let test_clock = app.clock.is_some();
    Json::of(StatusDocument { status: "ok", version, instance, test_clock })
}

pub async fn alive(call: Call<(), (), ()>) -> Result<Json<StatusDocument>, Problem> {
    Ok(ok(&call.app))
}

pub async fn ready(call: Call<(), (), ()>) -> Result<Json<StatusDocument>, Problem> {
    call.app.store.newest_change(&default_workspace()?).await?;
    Ok(ok(&call.app))
}

/// The description of the API.
pub struct Description(Vec<u8>);

impl Output for Description {
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        Some(json_schema!({"type": "object"}))
    }

    fn respond(self) -> Result<Response, Problem> {
        Ok(bytes_response(StatusCode::OK, JSON, self.0))
    }
}

pub async fn description(_: Call<(), (), ()>) -> Result<Description, Problem> {
    let document: Value = crate::route::openapi();
    Ok(Description(document.to_string().into_bytes()))
}

/// A page for a person, or a file of it.
pub struct Page(Response);

impl Output for Page {
    const MEDIA_TYPES: &'static [&'static str] = &["text/html; charset=utf-8"];

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        Some(json_schema!({"type": "string"}))
    }

    fn respond(self) -> Result<Response, Problem> {
        Ok(self.0)
    }
}

pub async fn front(call: Call<(), (), ()>) -> Result<Page, Problem> {
    Ok(Page(dashboard::front(&call.headers)))
}

/// The address of a file of the dashboard.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AssetPath {
    /// Its name, with a hash of its content in it.
    #[schemars(length(min = 1, max = 200))]
    pub name: String,
}

/// A file of the dashboard.
pub struct Asset(Response);

impl Output for Asset {
    const MEDIA_TYPES: &'static [&'static str] =
        &["text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml"];

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        Some(json_schema!({"type": "string"}))
    }

    fn respond(self) -> Result<Response, Problem> {
        Ok(self.0)
    }
}

pub async fn asset(call: Call<AssetPath, (), ()>) -> Result<Asset, Problem> {
    let file = dashboard::find(&format!("/assets/{}", call.path.name));
    let gone = || {
        let said = "the dashboard has no such file: load the page again";
        Problem::new(ProblemKind::NotFound, said)
    };
    Ok(Asset(file.ok_or_else(gone)?.respond(&call.headers)))
}
