//! Settings: defaults, a file, variables and flags, each stronger than the one before. Every error names the
//! setting and where its value came from.

mod alerts;
mod delivery;
mod embeddings;
mod health;
mod layers;
mod outbound;
mod retention;
mod summaries;

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use spine_server::limits::METRICS_TARGETS_MAX;
use spine_server::{Settings, TlsFiles};
use tracing::Level;

use crate::limits::BACKGROUND_IDLE;

pub use alerts::{AlertSettings, AlertWebhook, Form};
pub use embeddings::EmbeddingSettings;
pub use layers::{ConfigError, Layers, shown};
pub use outbound::OutboundSettings;
pub use retention::RetentionSettings;
pub use summaries::SummarySettings;

/// A setting that holds secrets: it is not shown.
const HEADERS_KEY: &str = "telemetry.otlp_headers";

/// The defaults, as a file to start from.
pub const DEFAULTS: &str = include_str!("default.toml");

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// Lines of JSON.
    Json,
}

/// Everything that was set, checked.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder of the data.
    pub data: PathBuf,
    /// For the server.
    pub server: Settings,
    /// What may be reached.
    pub outbound: OutboundSettings,
    /// Whom alerts are sent to.
    pub alerts: AlertSettings,
    /// Where vectors come from, if not from the built-in embedding.
    pub embeddings: Option<EmbeddingSettings>,
    /// Who writes summaries ahead of time, if anybody does.
    pub summaries: Option<SummarySettings>,
    /// How long things are kept.
    pub retention: RetentionSettings,
    /// From which level on is logged.
    pub log_level: Level,
    /// How.
    pub log_format: LogFormat,
    /// What is sent to a collector.
    pub telemetry: TelemetryConfig,
}

/// What is sent to a collector.
#[derive(Clone)]
pub struct TelemetryConfig {
    /// The collector; none: nothing is sent.
    pub otlp_endpoint: Option<String>,
    /// Headers for it.
    pub headers: HashMap<String, String>,
    /// Between two pushes of figures.
    pub metrics_pause: Duration,
}

/// Headers are secrets.
impl fmt::Debug for TelemetryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetryConfig")
            .field("otlp_endpoint", &self.otlp_endpoint)
            .finish_non_exhaustive()
    }
}

impl Config {
    /// From all layers.
    pub fn from_layers(layers: &Layers) -> Result<Self, ConfigError> {
        let outbound = OutboundSettings::from_layers(layers)?;
        Ok(Self {
            alerts: AlertSettings::from_layers(layers, &outbound)?,
            embeddings: EmbeddingSettings::from_layers(layers, &outbound)?,
            summaries: SummarySettings::from_layers(layers, &outbound)?,
            outbound,
            retention: RetentionSettings::from_layers(layers)?,
            data: PathBuf::from(layers.text("data")?),
            server: server(layers)?,
            log_level: layers
                .parsed::<Level>("log.level", "one of error, warn, info, debug, trace")?,
            log_format: log_format(layers)?,
            telemetry: telemetry(layers)?,
        })
    }
}

impl Config {
    /// For a server that only programs on this machine look for, by the file in its folder.
    #[must_use]
    pub fn in_background(mut self) -> Self {
        self.server.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        self.server.tls = None;
        self.server.idle_time_max.get_or_insert(BACKGROUND_IDLE);
        self
    }
}

fn server(layers: &Layers) -> Result<Settings, ConfigError> {
    let rate = layers.whole("limits.key_requests_per_s", 0, u64::from(u32::MAX))?;
    let seconds = |key| layers.whole(key, 1, 86_400).map(Duration::from_secs);
    let count = |key| layers.whole(key, 1, 1_000_000).map(|count| count as usize);
    let retention = RetentionSettings::from_layers(layers)?;
    Ok(Settings {
        policy: delivery::policy(layers)?,
        thresholds: health::thresholds(layers)?,
        metrics_targets_max: metrics_targets_max(layers)?,
        retention: retention.lineages,
        idempotency_kept: retention.idempotency,
        look_every: health::look_every(layers)?,
        listen: layers
            .parsed::<SocketAddr>("listen", "an address and a port, such as 127.0.0.1:8788")?,
        hosts: layers.list("hosts")?,
        origins: origins(layers)?,
        tls: tls(layers)?,
        connections_max: count("limits.connections_max")?,
        requests_max: count("limits.requests_max")?,
        streams_max: count("limits.streams_max")?,
        key_requests_per_s: u32::try_from(rate).ok().filter(|rate| *rate > 0),
        header_time_max: seconds("limits.header_s")?,
        body_time_max: seconds("limits.body_s")?,
        push_time_max: seconds("limits.push_s")?,
        stop_time_max: seconds("limits.stop_s")?,
        idle_time_max: idle_time_max(layers)?,
    })
}

/// Scheme, host and port as browsers send them, and nothing else.
fn origins(layers: &Layers) -> Result<Vec<String>, ConfigError> {
    let key = "origins";
    let origins = layers.list(key)?;
    let is_origin = |origin: &String| {
        let place = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        place.is_some_and(|place| !place.is_empty() && !place.contains(['/', '*', '?', '#', '@']))
    };
    match origins.iter().find(|origin| !is_origin(origin)) {
        None => Ok(origins),
        Some(wrong) => {
            let expected = "expected origins such as https://console.example.com, each by its name";
            Err(layers.error(key, &format!("{expected}, got {wrong:?}")))
        }
    }
}

fn metrics_targets_max(layers: &Layers) -> Result<usize, ConfigError> {
    let most = METRICS_TARGETS_MAX as u64;
    layers.whole("telemetry.metrics_targets_max", 0, most).map(|count| count as usize)
}

fn telemetry(layers: &Layers) -> Result<TelemetryConfig, ConfigError> {
    let key = "telemetry.otlp_endpoint";
    let otlp_endpoint = Some(layers.text(key)?).filter(|endpoint| !endpoint.is_empty());
    let is_url = |url: &String| url.starts_with("http://") || url.starts_with("https://");
    if !otlp_endpoint.iter().all(is_url) {
        return Err(layers.error(key, "expected a URL, such as http://127.0.0.1:4318"));
    }
    let pair = |header: &String| {
        let (name, value) = header.split_once('=')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let headers: Option<_> = layers.list(HEADERS_KEY)?.iter().map(pair).collect();
    let wrong = || layers.error(HEADERS_KEY, "expected a list of `name=value`");
    let metrics_pause = Duration::from_secs(layers.whole("telemetry.metrics_s", 1, 86_400)?);
    Ok(TelemetryConfig { otlp_endpoint, headers: headers.ok_or_else(wrong)?, metrics_pause })
}

/// Nothing is never.
fn idle_time_max(layers: &Layers) -> Result<Option<Duration>, ConfigError> {
    let seconds = layers.whole("idle_exit_s", 0, 86_400)?;
    Ok((seconds > 0).then(|| Duration::from_secs(seconds)))
}

fn tls(layers: &Layers) -> Result<Option<TlsFiles>, ConfigError> {
    let (certificate, key) = (layers.text("tls.certificate")?, layers.text("tls.key")?);
    match (certificate.is_empty(), key.is_empty()) {
        (true, true) => Ok(None),
        (false, false) => Ok(Some(TlsFiles { certificate: certificate.into(), key: key.into() })),
        (true, false) => Err(layers.error("tls.certificate", "is missing beside `tls.key`")),
        (false, true) => Err(layers.error("tls.key", "is missing beside `tls.certificate`")),
    }
}

fn log_format(layers: &Layers) -> Result<LogFormat, ConfigError> {
    match layers.text("log.format")?.as_str() {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        other => Err(layers.error("log.format", &format!("expected text or json, got {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, variables: &[(&str, &str)], flags: &[(&str, &str)], expect: &str) {
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let found = Layers::defaults()
            .and_then(|layers| layers.with_file("spine.toml", file))
            .and_then(|layers| layers.with_variables(variables))
            .and_then(|layers| {
                layers.with_flags(flags.iter().map(|(key, value)| (*key, (*value).to_owned())))
            })
            .and_then(|layers| Config::from_layers(&layers));
        let shown = match found {
            Ok(config) => format!("{} {}", config.server.listen, config.server.requests_max),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expect);
    }

    #[test]
    fn each_layer_is_stronger_than_the_one_before() {
        check("", &[], &[], "127.0.0.1:8788 2000");
        check("listen = '127.0.0.1:1'\n[limits]\nrequests_max = 5", &[], &[], "127.0.0.1:1 5");
        let variable = ("MEMORY_SPINE_LIMITS_REQUESTS_MAX", "6");
        check("limits.requests_max = 5", &[variable], &[], "127.0.0.1:8788 6");
        check(
            "",
            &[("MEMORY_SPINE_LISTEN", "127.0.0.1:1")],
            &[("listen", "127.0.0.1:2")],
            "127.0.0.1:2 2000",
        );
    }

    #[test]
    fn every_error_names_the_setting_and_where_it_came_from() {
        check(
            "limits.request_max = 5",
            &[],
            &[],
            "`limits.request_max` in spine.toml: there is no such setting; `limits.requests_max` is near",
        );
        check(
            "limits.requests_max = 'many'",
            &[],
            &[],
            "`limits.requests_max` in spine.toml: expected a whole number from 1 to 1000000, got \"many\"",
        );
        check(
            "limits.requests_max = 0",
            &[],
            &[],
            "`limits.requests_max` in spine.toml: expected a whole number from 1 to 1000000, got 0",
        );
        check(
            "",
            &[("MEMORY_SPINE_LISTEN", "nowhere")],
            &[],
            "`listen` from MEMORY_SPINE_LISTEN: expected an address and a port, such as 127.0.0.1:8788, got \"nowhere\"",
        );
        check(
            "",
            &[],
            &[("listen", "x")],
            "`listen` from --listen: expected an address and a port, such as 127.0.0.1:8788, got \"x\"",
        );
        check(
            "tls.key = 'k.pem'",
            &[],
            &[],
            "`tls.certificate` in the defaults: is missing beside `tls.key`",
        );
        check(
            "hosts = 'a'",
            &[],
            &[],
            "`hosts` in spine.toml: expected a list of texts, got \"a\"",
        );
    }

    /// What each section does with what is set, and with what cannot be.
    #[test]
    fn every_setting_is_read_and_checked() {
        let config = |file: &str| {
            let layers = Layers::defaults().unwrap().with_file("spine.toml", file);
            layers.and_then(|layers| Config::from_layers(&layers))
        };
        let found = config("").unwrap();
        assert_eq!(found.server.policy, Default::default());
        assert_eq!(found.server.thresholds, Default::default());
        assert_eq!(found.server.retention, Default::default());
        assert_eq!(found.server.idempotency_kept, Duration::from_secs(86_400));
        let found = config("delivery.lease_s = 2.5\nhealth.latency_accepted_p95_s_alert = 3\nretention.ended_d = 0.5\nretention.events_d = 0").unwrap();
        assert_eq!(found.server.policy.lease_ms, 2_500);
        assert_eq!(found.server.thresholds.latency_accepted_p95_s_alert, Some(3.0));
        assert_eq!(found.server.retention.ended_ms, 12 * 60 * 60 * 1000);
        assert_eq!(found.retention.events, None);
        for (file, expect) in [
            (
                "origins = ['https://a.example', '*']",
                "`origins` in spine.toml: expected origins such as https://console.example.com, each by its name, got \"*\"",
            ),
            (
                "origins = ['https://a.example/']",
                "`origins` in spine.toml: expected origins such as https://console.example.com, each by its name, got \"https://a.example/\"",
            ),
            (
                "delivery.attempts = 0",
                "`delivery.attempts` in spine.toml: expected a whole number from 1 to 100, got 0",
            ),
            (
                "delivery.lease_s = 0.5",
                "`delivery.lease_s` in spine.toml: expected a number from 1 to 43200, got 0.5",
            ),
            (
                "delivery.backoff_max_s = 0.5",
                "`delivery.backoff_max_s` in spine.toml: is less than `delivery.backoff_first_s`",
            ),
            (
                "health.completeness_alert = 0.99",
                "`health.completeness_alert` in spine.toml: is on the wrong side of its other threshold",
            ),
            (
                "health.failure_rate_alert = 2",
                "`health.failure_rate_alert` in spine.toml: expected a number from 0 to 1, got 2",
            ),
            (
                "retention.idempotency_h = 0",
                "`retention.idempotency_h` in spine.toml: expected a number from 0.001 to 2160, got 0",
            ),
            (
                "embeddings.url = 'https://a.b/v1'",
                "`embeddings.model` in the defaults: is missing beside `embeddings.url`",
            ),
            (
                "embeddings.url = 'https://a.b/v1'\nembeddings.model = 'm'",
                "`embeddings.dimensions` in the defaults: is missing beside `embeddings.url`: how many numbers a vector has",
            ),
            (
                "embeddings.url = 'http://10.0.0.1/v1'",
                "`embeddings.url` in spine.toml: this address may not be reached: use a public one, or allow its host or network in the server's configuration",
            ),
            (
                "summaries.url = 'https://a.b/v1'",
                "`summaries.model` in the defaults: is missing beside `summaries.url`",
            ),
            (
                "summaries.tokens_parameter = 'tokens'",
                "`summaries.tokens_parameter` in spine.toml: expected max_tokens or max_completion_tokens, got \"tokens\"",
            ),
            (
                "embeddings.api_key = 7",
                "`embeddings.api_key` in spine.toml: expected a text, got 7",
            ),
        ] {
            assert_eq!(config(file).unwrap_err().to_string(), expect);
        }
    }

    #[test]
    fn a_file_that_does_not_parse_is_named() {
        let error = Layers::defaults().unwrap().with_file("spine.toml", "listen = ").unwrap_err();
        assert!(error.to_string().starts_with("spine.toml: "), "{error}");
    }
}
