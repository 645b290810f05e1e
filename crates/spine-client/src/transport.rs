//! One request over a connection that is used again.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::connector::Connector;
use crate::limits::{ANSWER_BYTES_MAX, IDLE_TIME_MAX};

/// Why nothing came back.
#[derive(Debug)]
pub(crate) enum Lost {
    /// There was no connection: nothing was done.
    Unreachable(String),
    /// The connection broke: what was asked may have been done.
    Broken(String),
    /// Nothing came in time: what was asked may have been done.
    TooSlow,
}

/// Connections to the server.
#[derive(Debug, Clone)]
pub(crate) struct Transport {
    http: Client<Connector, Full<Bytes>>,
}

impl Transport {
    pub(crate) fn new(connector: Connector) -> Self {
        let http = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME_MAX)
            .build(connector);
        Self { http }
    }

    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
        patience: Duration,
    ) -> Result<Response<Bytes>, Lost> {
        match tokio::time::timeout(patience, self.exchange(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(Lost::TooSlow),
        }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, Lost> {
        let answer = self.http.request(request).await.map_err(|error| {
            let said = innermost(&error);
            if error.is_connect() { Lost::Unreachable(said) } else { Lost::Broken(said) }
        })?;
        let (parts, body) = answer.into_parts();
        let read = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let read = read.map_err(|error| Lost::Broken(error.to_string()))?;
        Ok(Response::from_parts(parts, read.to_bytes()))
    }
}

/// What the system said, without the layers around it.
pub fn innermost(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
