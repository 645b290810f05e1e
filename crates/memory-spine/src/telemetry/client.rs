//! The exporter's way out: the same as everybody's.

use std::fmt;
use std::sync::Arc;

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
        Ok(Self { outbound: Arc::new(Outbound::new(options)?), runtime: Handle::current() })
    }

    /// Posts protobuf, whatever the answer.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Answer, OutboundError> {
        self.outbound.post_bytes(url, headers, body).await
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
        let answer = sending.await?;
        // The exporter itself says nothing.
        match &answer {
            Ok(answer) if answer.status < 300 => {}
            Ok(answer) => tracing::warn!(status = answer.status, "the collector refused spans"),
            Err(error) => tracing::warn!(%error, "spans could not be sent to the collector"),
        }
        let answer = answer?;
        Ok(Response::builder().status(answer.status).body(answer.body.into())?)
    }
}
