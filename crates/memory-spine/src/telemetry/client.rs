//! The exporter's way out: the same as everybody's.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use spine_outbound::{Answer, Outbound, OutboundError, OutboundOptions};
use tokio::runtime::Handle;

use super::limits::{ANSWER_BYTES_MAX, REQUEST_MS_MAX};

/// Posts to the collector that the operator named.
#[derive(Clone)]
pub struct Collector {
    outbound: Arc<Outbound>,
    /// The exporter has a thread of its own, without a runtime.
    runtime: Handle,
    /// Whether the last export failed: said once, not at each.
    is_away: Arc<AtomicBool>,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collector")
    }
}

impl Collector {
    /// On the runtime that this is called on. A collector is the operator's own, and mostly on the same machine or in
    /// the same network.
    pub fn new() -> Result<Self, OutboundError> {
        let options = OutboundOptions {
            allow_private: true,
            request_ms_max: REQUEST_MS_MAX,
            answer_bytes_max: ANSWER_BYTES_MAX,
            ..OutboundOptions::default()
        };
        let (outbound, runtime) = (Arc::new(Outbound::new(options)?), Handle::current());
        Ok(Self { outbound, runtime, is_away: Arc::default() })
    }

    /// Posts protobuf. A collector that goes away, or comes back, is said in the log, once.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Answer, OutboundError> {
        let answer = self.outbound.post_bytes(url, headers, body).await;
        match &answer {
            Ok(answer) if answer.status < 300 => self.note_back(),
            Ok(answer) => self.note_away(&format!("status {}", answer.status)),
            Err(error) => self.note_away(&error.to_string()),
        }
        answer
    }

    fn note_away(&self, why: &str) {
        if self.is_away.swap(true, Ordering::Relaxed) {
            tracing::debug!(why, "the collector still takes nothing");
        } else {
            tracing::warn!(
                why,
                "the collector takes nothing: spans are lost until it does, figures are counted on"
            );
        }
    }

    fn note_back(&self) {
        if self.is_away.swap(false, Ordering::Relaxed) {
            tracing::info!("the collector takes spans and figures again");
        }
    }
}

#[async_trait::async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let client = self.clone();
        let sending = self.runtime.spawn(async move {
            let named = head.headers.iter().filter(|(name, _)| *name != "user-agent");
            let pairs =
                named.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
            let pairs: Vec<(&str, &str)> = pairs.collect();
            client.post(&head.uri.to_string(), &pairs, body.to_vec()).await
        });
        let answer = sending.await??;
        Ok(Response::builder().status(answer.status).body(answer.body.into())?)
    }
}
