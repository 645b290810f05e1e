//! The server itself: whether it lives, whether it can be used, what it can do.

use axum::response::Response;
use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use crate::access::default_workspace;
use crate::problem::Problem;
use crate::route::{Call, JSON, Json, Output, bytes_response};

/// Whether all is well.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StatusDocument {
    /// `ok`.
    pub status: &'static str,
    /// The server's version.
    pub version: &'static str,
}

fn ok() -> Json<StatusDocument> {
    Json::of(StatusDocument { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

pub async fn alive(_: Call<(), (), ()>) -> Result<Json<StatusDocument>, Problem> {
    Ok(ok())
}

pub async fn ready(call: Call<(), (), ()>) -> Result<Json<StatusDocument>, Problem> {
    call.app.store.newest_change(&default_workspace()?).await?;
    Ok(ok())
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

/// A page for a person.
pub struct Page(&'static str);

impl Output for Page {
    const MEDIA_TYPES: &'static [&'static str] = &["text/plain; charset=utf-8"];

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        Some(json_schema!({"type": "string"}))
    }

    fn respond(self) -> Result<Response, Problem> {
        let bytes = self.0.as_bytes().to_vec();
        Ok(bytes_response(StatusCode::OK, "text/plain; charset=utf-8", bytes))
    }
}

pub async fn front(_: Call<(), (), ()>) -> Result<Page, Problem> {
    Ok(Page(
        "Memory Spine is running. The dashboard is not built; the API is described at /openapi.json.\n",
    ))
}
