//! Envelopes.

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;
use spine_engine::Caller;
use spine_protocol::{Envelope, Format, render};

use super::handoffs::{Asked, asked, no_send};
use crate::App;
use crate::access::Pass;
use crate::problem::{Problem, ProblemKind};
use crate::route::{Call, Created, JSON, Json, Output, bytes_response};
use crate::trace::{self, traced};
use crate::wire::delivery::DeliveryDocument;
use crate::wire::envelope::{
    EnvelopePath, ExplanationDocument, FormatWord, HandoffDocument, LineageDocument, LineageNode,
    TraceDocument, TrimmedDocument, VerificationDocument,
};
use crate::wire::handoff::EnvelopeBody;

pub async fn make(call: Call<(), (), EnvelopeBody>) -> Result<Created<HandoffDocument>, Problem> {
    call.app.quotas.admit_handoff(&call.pass.caller.workspace).await?;
    let (envelope, degraded) = match call.body {
        EnvelopeBody::Assemble(body) => {
            let mut asked = asked(&call.app, &call.pass, &call.headers, *body).await?;
            no_send(asked.send.is_some(), "/send")?;
            let span = trace::handoff(&call.app, &call.pass, &call.headers, &mut asked).await;
            traced(span, assembled(&call.app, &call.pass.caller, asked)).await?
        }
        EnvelopeBody::Import(ref value) => (import(&call, value).await?, Vec::new()),
    };
    let digest = envelope.digest;
    Ok(Created(Json::at_version(HandoffDocument::of(&envelope, degraded)?, digest)))
}

async fn assembled(
    app: &App,
    caller: &Caller,
    asked: Asked,
) -> Result<(Envelope, Vec<String>), Problem> {
    let made = app.deliveries.assemble_from(caller, asked.origin, asked.request).await?;
    trace::note_made(&made.envelope, None);
    Ok((made.envelope, made.explanation.degraded))
}

async fn import(call: &Call<(), (), EnvelopeBody>, value: &Value) -> Result<Envelope, Problem> {
    check_sender(&call.pass, value)?;
    let bytes = spine_protocol::json::canonical(value)?;
    let envelope = call.app.lineages.import(call.caller(), &bytes).await?;
    Ok(envelope)
}

/// A key that names its agents speaks for no other.
fn check_sender(pass: &Pass, value: &Value) -> Result<(), Problem> {
    let from = value.get("from").and_then(Value::as_str);
    let own = pass.caller.agent.as_ref().map(|agent| agent.as_str());
    if !pass.is_agent_certain() || from == own {
        return Ok(());
    }
    let said = "the key names another agent than the envelope's sender: use that agent's key";
    Err(Problem::new(ProblemKind::Forbidden, said).with("pointer", "/envelope/from"))
}

/// An envelope as it is stored.
pub struct EnvelopeBytes(Envelope);

impl Output for EnvelopeBytes {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<spine_protocol::Body>())
    }

    fn respond(self) -> Result<Response, Problem> {
        let bytes = self.0.canonical_bytes().to_vec();
        let mut response = bytes_response(StatusCode::OK, JSON, bytes);
        if let Ok(etag) = HeaderValue::try_from(format!("\"{}\"", self.0.digest)) {
            response.headers_mut().insert(header::ETAG, etag);
        }
        Ok(response)
    }
}

pub async fn get(call: Call<EnvelopePath, (), ()>) -> Result<EnvelopeBytes, Problem> {
    Ok(EnvelopeBytes(call.app.lineages.envelope(call.caller(), call.path.id).await?))
}

/// In which form.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RenderQuery {
    /// The form it was counted in, if not said.
    pub format: Option<FormatWord>,
}

/// An envelope as a model reads it.
pub struct Rendering {
    format: Format,
    text: String,
}

const MARKDOWN: &str = "text/markdown; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

impl Output for Rendering {
    const MEDIA_TYPES: &'static [&'static str] = &[MARKDOWN, PLAIN, JSON];

    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        Some(schemars::json_schema!({"type": ["string", "object"]}))
    }

    fn respond(self) -> Result<Response, Problem> {
        let media_type = match self.format {
            Format::Json => JSON,
            Format::Markdown => MARKDOWN,
            Format::Xml | Format::Other(_) => PLAIN,
        };
        Ok(bytes_response(StatusCode::OK, media_type, self.text.into_bytes()))
    }
}

pub async fn rendering(call: Call<EnvelopePath, RenderQuery, ()>) -> Result<Rendering, Problem> {
    let envelope = call.app.lineages.envelope(call.caller(), call.path.id).await?;
    let format = call.query.format.map_or_else(|| envelope.assembly.format.clone(), Format::from);
    let text = render(&envelope, &format)?;
    Ok(Rendering { format, text })
}

pub async fn lineage(call: Call<EnvelopePath, (), ()>) -> Result<Json<LineageDocument>, Problem> {
    let envelopes = call.app.lineages.lineage(call.caller(), call.path.id).await?;
    let gone = || {
        let said = format!(
            "envelope {} does not exist: give the id of an envelope of this workspace",
            call.path.id
        );
        Problem::new(ProblemKind::NotFound, said)
    };
    let root = envelopes.first().ok_or_else(gone)?;
    let deliveries = call.app.deliveries.lineage_deliveries(call.caller(), root.root).await?;
    Ok(Json::of(LineageDocument {
        deliveries: DeliveryDocument::list(deliveries, call.app.store.now()),
        root: root.root,
        intent: root.task.intent.clone(),
        envelopes: envelopes.iter().map(LineageNode::from).collect(),
    }))
}

pub async fn trace(call: Call<EnvelopePath, (), ()>) -> Result<Json<TraceDocument>, Problem> {
    let trace = call.app.deliveries.trace(call.caller(), call.path.id).await?;
    let envelopes = trace.read_envelopes()?;
    Ok(Json::of(TraceDocument {
        root: trace.root,
        envelopes: envelopes.iter().map(LineageNode::from).collect(),
        deliveries: DeliveryDocument::list(trace.deliveries, call.app.store.now()),
        events: trace.events.iter().map(Into::into).collect(),
    }))
}

pub async fn verify(
    call: Call<EnvelopePath, (), ()>,
) -> Result<Json<VerificationDocument>, Problem> {
    let verification = call.app.lineages.verify(call.caller(), call.path.id).await?;
    Ok(Json::of(verification.into()))
}

pub async fn trimmed(call: Call<EnvelopePath, (), ()>) -> Result<Json<TrimmedDocument>, Problem> {
    let envelope = call.app.lineages.envelope(call.caller(), call.path.id).await?;
    let gaps = envelope.completeness.gaps.clone();
    Ok(Json::of(TrimmedDocument { trimmed: envelope.trimmed.clone(), gaps }))
}

pub async fn explain(
    call: Call<EnvelopePath, (), ()>,
) -> Result<Json<ExplanationDocument>, Problem> {
    let explanation = call.app.handoffs.explain(call.caller(), call.path.id).await?;
    Ok(Json::of(explanation.into()))
}
