//! Spans that follow what an envelope names, and are named in the next one.

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use spine_protocol::Traceparent;
use spine_server::Traces;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// As OpenTelemetry has them.
pub struct OpenTelemetryTraces;

impl Traces for OpenTelemetryTraces {
    fn follow(&self, span: &Span, parent: &Traceparent) {
        if let Some(parent) = context_of(parent.as_str()) {
            // A span that has begun has its place already; this one has just been made.
            let _ = span.set_parent(Context::new().with_remote_span_context(parent));
        }
    }

    fn traceparent(&self, span: &Span) -> Option<Traceparent> {
        let context = span.context();
        let span = context.span();
        let named = span.span_context();
        let flags = named.trace_flags().to_u8();
        let text = format!("00-{}-{}-{flags:02x}", named.trace_id(), named.span_id());
        text.parse().ok().filter(|_| named.is_valid())
    }
}

fn context_of(traceparent: &str) -> Option<SpanContext> {
    let mut parts = traceparent.split('-').skip(1);
    let trace = TraceId::from_hex(parts.next()?).ok()?;
    let span = SpanId::from_hex(parts.next()?).ok()?;
    let flags = TraceFlags::new(u8::from_str_radix(parts.next()?, 16).ok()?);
    let context = SpanContext::new(trace, span, flags, true, TraceState::default());
    Some(context).filter(SpanContext::is_valid)
}
