//! The log, on standard error: lines for people or lines of JSON. And spans, for a collector.

use std::io::IsTerminal;

use opentelemetry_sdk::trace::SdkTracer;
use spine_store::STAGE_TARGET;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::config::{Config, LogFormat};

/// From now on, what happens is written down, and spans go to the tracer, if there is one.
pub fn start(config: &Config, tracer: Option<SdkTracer>) {
    let level = config.log_level;
    // Spans are for traces: the log is events. What libraries say below a warning may hold headers, and so keys.
    let is_logged = move |metadata: &Metadata<'_>| {
        let level = if is_ours(metadata.target()) { level } else { level.min(Level::WARN) };
        metadata.is_event() && *metadata.level() <= level
    };
    let spans = tracer.map(|tracer| {
        let is_stage = |metadata: &Metadata<'_>| metadata.target() == STAGE_TARGET;
        let layer = tracing_opentelemetry::layer().with_tracer(tracer);
        let plain = layer.with_location(false).with_threads(false).with_target(false);
        plain.with_tracked_inactivity(false).with_filter(filter_fn(is_stage))
    });
    tracing_subscriber::registry()
        .with(spans)
        .with(log(config.log_format).with_filter(filter_fn(is_logged)))
        .init();
}

fn is_ours(target: &str) -> bool {
    target.starts_with("spine_") || target.starts_with("memory_spine")
}

fn log<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let lines = fmt::layer()
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    }
}
