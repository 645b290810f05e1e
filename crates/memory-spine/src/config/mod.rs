//! Settings: defaults, a file, variables and flags, each stronger than the one before. Every error names the
//! setting and where its value came from.

mod layers;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use spine_server::{Settings, TlsFiles};
use tracing::Level;

use crate::limits::BACKGROUND_IDLE;

pub use layers::{ConfigError, Layers};

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
    /// From which level on is logged.
    pub log_level: Level,
    /// How.
    pub log_format: LogFormat,
}

impl Config {
    /// From all layers.
    pub fn from_layers(layers: &Layers) -> Result<Self, ConfigError> {
        Ok(Self {
            data: PathBuf::from(layers.text("data")?),
            server: server(layers)?,
            log_level: layers
                .parsed::<Level>("log.level", "one of error, warn, info, debug, trace")?,
            log_format: log_format(layers)?,
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
    Ok(Settings {
        thresholds: Default::default(),
        listen: layers
            .parsed::<SocketAddr>("listen", "an address and a port, such as 127.0.0.1:8788")?,
        hosts: layers.list("hosts")?,
        origins: layers.list("origins")?,
        tls: tls(layers)?,
        connections_max: count("limits.connections_max")?,
        requests_max: count("limits.requests_max")?,
        streams_max: count("limits.streams_max")?,
        key_requests_per_s: u32::try_from(rate).ok().filter(|rate| *rate > 0),
        header_time_max: seconds("limits.header_s")?,
        body_time_max: seconds("limits.body_s")?,
        stop_time_max: seconds("limits.stop_s")?,
        idle_time_max: idle_time_max(layers)?,
    })
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

    #[test]
    fn a_file_that_does_not_parse_is_named() {
        let error = Layers::defaults().unwrap().with_file("spine.toml", "listen = ").unwrap_err();
        assert!(error.to_string().starts_with("spine.toml: "), "{error}");
    }
}
