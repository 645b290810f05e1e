//! Traces: one span for each stage of a handoff, in the trace that its envelope names. So a chain of agents is one trace,
//! also where no agent knows of traces.
//!
//! A span has names, ids and numbers, never a text.

use futures_util::TryFutureExt;
use http::HeaderMap;
use serde::Deserialize;
use spine_engine::Caller;
use spine_engine::delivery::{Delivery, Received};
use spine_protocol::{AgentName, DeliveryId, Envelope, EnvelopeId, Traceparent};
use spine_store::STAGE_TARGET;
use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};

use crate::App;
use crate::access::{DELIVERY_HEADER, Pass, named};
use crate::operations::handoffs::Asked;
use crate::problem::Problem;

/// Records traces. The server knows no collector: whoever puts it together brings this.
pub trait Traces: Send + Sync {
    /// Puts a span that was just made behind one that somebody else made.
    fn follow(&self, span: &Span, parent: &Traceparent);

    /// What names a span to others; nothing if nobody records it.
    fn traceparent(&self, span: &Span) -> Option<Traceparent>;
}

/// Routes that are a stage, what they are called in a trace, and what the conventions for GenAI call them.
const STEPS: &[(&str, &str, Option<&str>)] = &[
    ("store_memories", "create_memory", Some("create_memory")),
    ("search_memories", "search_memory", Some("search_memory")),
    ("search_memories_by_address", "search_memory", Some("search_memory")),
    ("update_memory", "update_memory", Some("update_memory")),
    ("delete_memory", "delete_memory", Some("delete_memory")),
    ("accept_delivery", "accept", None),
    ("report_progress", "progress", None),
    ("ack_delivery", "ack", None),
    ("ack_deliveries", "ack many", None),
    ("nack_delivery", "nack", None),
    ("reject_delivery", "reject", None),
    ("recover_references", "recover", None),
    ("cancel_delivery", "cancel", None),
    ("requeue_delivery", "requeue", None),
    ("resend_delivery", "resend", None),
    ("resolve_delivery", "resolve", None),
    ("discard_delivery", "discard", None),
    ("publish", "publish", None),
];

/// The span of a route that is a stage; one that is disabled where it is none, or nobody records.
pub async fn step(
    app: &App,
    route: &str,
    caller: &Caller,
    headers: &HeaderMap,
    path: &[(String, String)],
) -> Span {
    let step = STEPS.iter().find(|(id, _, _)| *id == route);
    let (Some(traces), Some((_, name, operation))) = (&app.traces, step) else {
        return Span::none();
    };
    let at_hand = at_hand(app, caller, headers, path).await;
    let agent = at_hand.as_ref().map(|delivery| &delivery.row.agent).or(caller.agent.as_ref());
    let span = info_span!(
        target: STAGE_TARGET,
        "step",
        otel.name = named_for(name, agent),
        otel.kind = "server",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = operation,
        gen_ai.agent.name = agent.map(AgentName::as_str),
        gen_ai.memory.store.id = operation.map(|_| caller.workspace.as_str()),
        gen_ai.conversation.id = at_hand.as_ref().map(|one| one.row.root.to_string()),
        memory_spine.workspace = caller.workspace.as_str(),
        memory_spine.delivery.id = at_hand.as_ref().map(|one| one.row.id.to_string()),
    );
    let envelope = at_hand.map(|delivery| delivery.row.envelope);
    if let Some(parent) = parent(app, caller, headers, envelope).await {
        traces.follow(&span, &parent);
    }
    span
}

/// The delivery that a request is about, or that somebody works on while sending it.
async fn at_hand(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    path: &[(String, String)],
) -> Option<Delivery> {
    let in_path = path.iter().find_map(|(_, value)| value.parse::<DeliveryId>().ok());
    let id = in_path.or_else(|| named(headers, DELIVERY_HEADER).ok().flatten())?;
    app.deliveries.get(caller, id).await.ok()
}

/// The span of a handoff: behind what the caller names, else behind the envelope it follows.
pub async fn handoff(app: &App, pass: &Pass, headers: &HeaderMap, asked: &mut Asked) -> Span {
    let Some(traces) = &app.traces else { return Span::none() };
    let (caller, request) = (&pass.caller, &mut asked.request);
    let span = info_span!(
        target: STAGE_TARGET,
        "handoff",
        otel.name = named_for("invoke_agent", Some(&request.target)),
        otel.kind = "producer",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = request.target.as_str(),
        gen_ai.conversation.id = Empty,
        memory_spine.workspace = caller.workspace.as_str(),
        memory_spine.from = caller.agent.as_ref().map(AgentName::as_str),
        memory_spine.envelope.id = Empty,
        memory_spine.delivery.id = Empty,
        memory_spine.hop = Empty,
        memory_spine.tokens = Empty,
        memory_spine.completeness = Empty,
    );
    let origin = match asked.origin {
        Some(origin) => app.deliveries.get(caller, origin.delivery).await.ok(),
        None => None,
    };
    let before = request.parents.first().copied().or(origin.map(|origin| origin.row.envelope));
    if let Some(parent) = parent(app, caller, headers, before).await {
        traces.follow(&span, &parent);
    }
    request.traceparent = traces.traceparent(&span).or_else(|| request.traceparent.take());
    span
}

/// Notes at the span at hand what became of a handoff.
pub fn note_made(envelope: &Envelope, delivery: Option<DeliveryId>) {
    let span = Span::current();
    if span.is_disabled() {
        return;
    }
    delivery.map(|id| span.record("memory_spine.delivery.id", id.to_string()));
    span.record("gen_ai.conversation.id", envelope.root.to_string());
    span.record("memory_spine.envelope.id", envelope.id.to_string());
    span.record("memory_spine.hop", envelope.hop);
    span.record("memory_spine.tokens", envelope.assembly.tokens);
    let completeness = &envelope.completeness;
    if completeness.requested > 0 {
        let share = f64::from(completeness.included) / f64::from(completeness.requested);
        span.record("memory_spine.completeness", share);
    }
}

/// The span of envelopes that are sent by their ids.
pub async fn send(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    first: Option<EnvelopeId>,
) -> Span {
    let Some(traces) = &app.traces else { return Span::none() };
    let span = info_span!(
        target: STAGE_TARGET,
        "send",
        otel.kind = "producer",
        otel.status_code = Empty,
        "error.type" = Empty,
        memory_spine.workspace = caller.workspace.as_str(),
        memory_spine.envelope.id = first.map(|id| id.to_string()),
    );
    if let Some(parent) = parent(app, caller, headers, first).await {
        traces.follow(&span, &parent);
    }
    span
}

/// A delivery came into its receiver's hands.
pub fn received(app: &App, received: &Received) {
    let Some(traces) = &app.traces else { return };
    let row = &received.delivery.row;
    let span = info_span!(
        target: STAGE_TARGET,
        "receive",
        otel.name = named_for("receive", Some(&row.agent)),
        otel.kind = "consumer",
        gen_ai.agent.name = row.agent.as_str(),
        gen_ai.conversation.id = row.root.to_string(),
        memory_spine.delivery.id = row.id.to_string(),
        memory_spine.envelope.id = row.envelope.to_string(),
        memory_spine.attempt = row.epoch,
    );
    if let Some(parent) = traceparent_in(&received.envelope.bytes) {
        traces.follow(&span, &parent);
    }
    // It is over as soon as it has begun: what is between two of them is the receiver's.
    span.in_scope(|| {});
}

/// What the span at hand is called, for an envelope that is made within it; else what the caller brought.
pub fn here(app: &App, headers: &HeaderMap) -> Option<Traceparent> {
    let own = app.traces.as_ref().and_then(|traces| traces.traceparent(&Span::current()));
    own.or_else(|| brought(headers))
}

/// Does something within a span, which says so if it failed, by the type of the problem.
pub fn traced<T>(
    span: Span,
    work: impl Future<Output = Result<T, Problem>>,
) -> impl Future<Output = Result<T, Problem>> {
    let work = work.instrument(span.clone());
    // An async block would have room for the work twice.
    work.inspect_err(move |problem| note_failure(&span, problem))
}

fn note_failure(span: &Span, problem: &Problem) {
    span.record("error.type", problem.kind().slug());
    if problem.kind().status().is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
}

async fn parent(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    envelope: Option<EnvelopeId>,
) -> Option<Traceparent> {
    if let Some(brought) = brought(headers) {
        return Some(brought);
    }
    let stored = app.store.envelope(&caller.workspace, envelope?).await.ok()??;
    traceparent_in(&stored.bytes)
}

/// The rules of this header say to go on without one that cannot be read.
fn brought(headers: &HeaderMap) -> Option<Traceparent> {
    named(headers, "traceparent").ok().flatten()
}

fn traceparent_in(envelope: &[u8]) -> Option<Traceparent> {
    #[derive(Deserialize)]
    struct Head {
        traceparent: Option<Traceparent>,
    }
    serde_json::from_slice::<Head>(envelope).ok()?.traceparent
}

fn named_for(name: &str, agent: Option<&AgentName>) -> String {
    agent.map_or_else(|| name.to_owned(), |agent| format!("{name} {agent}"))
}
