//! The log: lines for people or lines of JSON. And spans, for a collector.

use std::io::IsTerminal;
use std::sync::Mutex;

use opentelemetry_sdk::trace::SdkTracer;
use spine_store::STAGE_TARGET;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::config::{Config, LogFormat};
use crate::place::BoundedLog;

/// From now on, what happens is written down on standard error, and spans go to the tracer, if there is one.
pub fn start(config: &Config, tracer: Option<SdkTracer>) {
    begin(config, tracer, std::io::stderr().is_terminal(), std::io::stderr);
}

/// The same, in a file of the data folder.
pub fn start_in_background(config: &Config, tracer: Option<SdkTracer>) -> std::io::Result<()> {
    begin(config, tracer, false, Mutex::new(BoundedLog::open(&config.data)?));
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    Ok(())
}

fn begin<W>(config: &Config, tracer: Option<SdkTracer>, is_coloured: bool, writer: W)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let level = config.log_level;
    let spans = tracer.map(|tracer| {
        let is_stage = |metadata: &Metadata<'_>| metadata.target() == STAGE_TARGET;
        let layer = tracing_opentelemetry::layer().with_tracer(tracer);
        let plain = layer.with_location(false).with_threads(false).with_target(false);
        plain.with_tracked_inactivity(false).with_filter(filter_fn(is_stage))
    });
    let is_logged = filter_fn(move |metadata| is_logged(metadata, level));
    let lines = lines(config.log_format, is_coloured, writer).with_filter(is_logged);
    let logging = tracing_subscriber::registry().with(lines);
    match spans {
        Some(spans) => logging.with(spans).init(),
        // A layer that is not there would want every span all the same.
        None => logging.init(),
    }
}

/// Spans are for traces: the log is events. What libraries say below a warning may hold headers, and so keys; the one
/// that speaks the Model Context Protocol writes whole messages down at any level.
fn is_logged(metadata: &Metadata<'_>, level: Level) -> bool {
    let target = metadata.target();
    let level = if is_ours(target) { level } else { level.min(Level::WARN) };
    metadata.is_event() && *metadata.level() <= level && !target.starts_with("rmcp")
}

fn is_ours(target: &str) -> bool {
    target.starts_with("spine_") || target.starts_with("memory_spine")
}

fn lines<S, W>(format: LogFormat, is_coloured: bool, writer: W) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = fmt::layer().with_target(false).with_ansi(is_coloured).with_writer(writer);
    match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    }
}
