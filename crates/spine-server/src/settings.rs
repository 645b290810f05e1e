//! What can be set about the server. Whoever runs it fills this in; nothing here reads a file.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use spine_engine::delivery::Retention;
use spine_engine::delivery::policy::Policy;
use spine_engine::health::Thresholds;
use spine_engine::memories::limits::IDEMPOTENCY_KEPT;

use crate::limits::LOOK_EVERY;

/// How the server listens, and what it takes.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Names it answers to beside `localhost` and addresses; `*` is every name.
    pub hosts: Vec<String>,
    /// Pages of other origins that may ask, such as `https://console.example.com`.
    pub origins: Vec<String>,
    /// Certificate and key for TLS.
    pub tls: Option<TlsFiles>,
    /// Connections that are open at once.
    pub connections_max: usize,
    /// Requests that are worked on at once.
    pub requests_max: usize,
    /// Event streams and long polls that are open at once.
    pub streams_max: usize,
    /// Requests a second with one key; `None` is no limit.
    pub key_requests_per_s: Option<u32>,
    /// From the first byte of a request, or the end of the one before, to the end of its headers.
    pub header_time_max: Duration,
    /// For a body to arrive.
    pub body_time_max: Duration,
    /// For a webhook to answer a push.
    pub push_time_max: Duration,
    /// How deliveries are tried, unless an agent or a handoff says otherwise.
    pub policy: Policy,
    /// What health is compared with.
    pub thresholds: Thresholds,
    /// Agents that have series of their own in `/metrics`, which shows their names to whoever may read it; 0 is none.
    pub metrics_targets_max: usize,
    /// How long lineages are kept.
    pub retention: Retention,
    /// How long the answer to a request is remembered under its key.
    pub idempotency_kept: Duration,
    /// How often health is looked after.
    pub look_every: Duration,
    /// For open requests to finish when the server stops.
    pub stop_time_max: Duration,
    /// The server ends itself when no connection was open for so long; `None` is never.
    pub idle_time_max: Option<Duration>,
}

/// Where certificate and key are, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, and those that vouch for it.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8788)),
            hosts: Vec::new(),
            origins: Vec::new(),
            tls: None,
            connections_max: 10_000,
            requests_max: 2_000,
            streams_max: 2_000,
            key_requests_per_s: None,
            header_time_max: Duration::from_secs(8),
            body_time_max: Duration::from_secs(30),
            push_time_max: Duration::from_secs(30),
            policy: Policy::default(),
            thresholds: Thresholds::default(),
            metrics_targets_max: 0,
            retention: Retention::default(),
            idempotency_kept: IDEMPOTENCY_KEPT,
            look_every: LOOK_EVERY,
            stop_time_max: Duration::from_secs(10),
            idle_time_max: None,
        }
    }
}
