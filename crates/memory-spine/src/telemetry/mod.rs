//! OpenTelemetry: traces and figures for a collector that the operator names. Nothing of this runs without one.

mod client;
mod limits;
mod metrics;
mod traces;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use prost::Message;
use spine_server::App;

use crate::command::Failure;
use crate::config::TelemetryConfig;
use client::Collector;
use limits::{REQUEST_MS_MAX, STOP_MS_MAX};
pub use traces::OpenTelemetryTraces;

const NAME: &str = "memory-spine";
/// What others call this server, where the operator says so in OpenTelemetry's own way.
const SERVICE_NAME_VARIABLE: &str = "OTEL_SERVICE_NAME";

/// What is sent to a collector, and how.
#[derive(Clone)]
pub struct Telemetry {
    endpoint: String,
    headers: HashMap<String, String>,
    metrics_pause: Duration,
    collector: Collector,
    provider: SdkTracerProvider,
    resource: Resource,
}

impl Telemetry {
    /// Ready to send, if there is a collector; called on the runtime that sends.
    pub fn start(config: &TelemetryConfig) -> Result<Option<Self>, Failure> {
        let Some(endpoint) = &config.otlp_endpoint else { return Ok(None) };
        let collector = Collector::new().map_err(|error| error.to_string())?;
        let (endpoint, headers) =
            (endpoint.trim_end_matches('/').to_owned(), config.headers.clone());
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector.clone())
            .with_endpoint(format!("{endpoint}/v1/traces"))
            .with_headers(headers.clone())
            .with_timeout(Duration::from_millis(REQUEST_MS_MAX))
            .build()
            .map_err(|error| format!("`telemetry.otlp_endpoint`: {error}"))?;
        let resource = resource();
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.clone())
            .with_batch_exporter(exporter)
            .build();
        let metrics_pause = config.metrics_pause;
        Ok(Some(Self { endpoint, headers, metrics_pause, collector, provider, resource }))
    }

    /// Where spans are made.
    pub fn tracer(&self) -> SdkTracer {
        self.provider.tracer(NAME)
    }

    /// Pushes the figures again and again, until it is dropped.
    pub async fn push_metrics(self, app: Arc<App>) {
        loop {
            tokio::time::sleep(self.metrics_pause).await;
            self.push_metrics_once(&app).await;
        }
    }

    /// Pushes the figures. A collector that is away misses nothing but time: they are counted on.
    pub async fn push_metrics_once(&self, app: &App) {
        let families = match spine_server::metrics::families(app).await {
            Ok(families) => families,
            Err(error) => return tracing::warn!(%error, "figures could not be gathered"),
        };
        let span = metrics::Span::new(app.health.began(), app.store.now());
        let request = metrics::request(families, span, self.proto_resource());
        let mut headers = vec![("content-type", "application/x-protobuf")];
        headers.extend(self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let url = format!("{}/v1/metrics", self.endpoint);
        // Whether it got there is in the log; the next push has the same figures, and newer ones.
        let _ = self.collector.post(&url, &headers, request.encode_to_vec()).await;
    }

    /// The same when the server stops, which a slow collector does not hold up.
    pub async fn push_last_metrics(&self, app: &App) {
        let time = Duration::from_millis(STOP_MS_MAX);
        if tokio::time::timeout(time, self.push_metrics_once(app)).await.is_err() {
            tracing::warn!("the last figures were not sent");
        }
    }

    fn proto_resource(&self) -> opentelemetry_proto::tonic::resource::v1::Resource {
        let pairs = self.resource.iter();
        let attributes =
            pairs.map(|(name, value)| metrics::attribute(name.as_str(), &value.as_str())).collect();
        opentelemetry_proto::tonic::resource::v1::Resource { attributes, ..Default::default() }
    }

    /// Sends what is left. Blocks; the runtime must still run.
    pub fn stop(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(Duration::from_millis(STOP_MS_MAX))
        {
            tracing::warn!(%error, "the last spans were not sent");
        }
    }
}

/// What the operator says in OpenTelemetry's own variables, else our name.
fn resource() -> Resource {
    let version = opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let builder = Resource::builder().with_attribute(version);
    match std::env::var_os(SERVICE_NAME_VARIABLE) {
        Some(_) => builder.build(),
        None => builder.with_service_name(NAME).build(),
    }
}
