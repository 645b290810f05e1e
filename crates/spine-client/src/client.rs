//! Asking, and asking again.

use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::Full;
use serde::de::DeserializeOwned;

use crate::ask::Ask;
use crate::connector::Connector;
use crate::error::{ClientError, Problem};
use crate::limits::{BACKOFF_FIRST, BACKOFF_MAX, TRIES_MAX};
use crate::options::ClientOptions;
use crate::transport::{Lost, Transport};
use crate::types::Alive;

/// A client. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    options: ClientOptions,
    transport: Transport,
}

impl Client {
    /// A client; nothing is sent yet.
    pub fn new(options: ClientOptions) -> Result<Self, ClientError> {
        let endpoint = options.endpoint.trim_end_matches('/').to_owned();
        let uri: Result<Uri, _> = endpoint.parse();
        let is_http =
            |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        if !uri.is_ok_and(|uri| is_http(&uri)) {
            let problem = format!(
                "expected an address such as http://127.0.0.1:8788 or https://spine.example.com, got {endpoint:?}"
            );
            return Err(ClientError::Setting { name: "endpoint", problem });
        }
        let options = ClientOptions { endpoint, ..options };
        for (name, value) in headers(&options) {
            header(name, value)?;
        }
        let connector = Connector::new(options.ca_file.as_deref())?;
        Ok(Self { options, transport: Transport::new(connector) })
    }

    /// The same connections, used by another agent.
    #[must_use]
    pub fn as_agent(&self, agent: &str) -> Self {
        let options = ClientOptions { agent: Some(agent.to_owned()), ..self.options.clone() };
        Self { options, transport: self.transport.clone() }
    }

    /// Where the server is, and who asks.
    pub fn options(&self) -> &ClientOptions {
        &self.options
    }

    /// Whether the server is there, and which start of it.
    pub async fn alive(&self) -> Result<Alive, ClientError> {
        self.ask(Ask::alive()).await
    }

    /// Asks, and reads the answer.
    pub async fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, ClientError> {
        let answer = self.ask_bytes(&ask).await?;
        serde_json::from_slice(&answer).map_err(|error| unreadable(&ask, &error))
    }

    /// Asks, and takes the answer as it is.
    pub async fn ask_bytes(&self, ask: &Ask) -> Result<Bytes, ClientError> {
        let key = self.key_of(ask)?;
        let mut backoff = BACKOFF_FIRST;
        let tries = if ask.is_repeatable { TRIES_MAX } else { 1 };
        for _ in 1..tries {
            let answer = self.try_once(ask, key.as_deref()).await?;
            let Some(pause) = pause_before_next(&answer, backoff) else {
                return self.settled(ask, answer);
            };
            tokio::time::sleep(pause).await;
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
        let last = self.try_once(ask, key.as_deref()).await?;
        self.settled(ask, last)
    }

    /// The same key for every try: a try whose answer was lost has one effect with the next.
    fn key_of(&self, ask: &Ask) -> Result<Option<String>, ClientError> {
        if ask.method == Method::GET || !ask.is_repeatable {
            return Ok(ask.idempotency_key.clone());
        }
        match &ask.idempotency_key {
            Some(key) => Ok(Some(key.clone())),
            None => new_key().map(Some),
        }
    }

    async fn try_once(
        &self,
        ask: &Ask,
        key: Option<&str>,
    ) -> Result<Result<Response<Bytes>, Lost>, ClientError> {
        let request = self.request(ask, key)?;
        Ok(self.transport.send(request, self.patience(ask)).await)
    }

    fn patience(&self, ask: &Ask) -> Duration {
        self.options.timeout.saturating_add(ask.wait)
    }

    fn request(&self, ask: &Ask, key: Option<&str>) -> Result<Request<Full<Bytes>>, ClientError> {
        let address = format!("{}{}", self.options.endpoint, ask.address());
        let body = Full::new(ask.body.clone().unwrap_or_default());
        let mut request = Request::new(body);
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = address.parse().map_err(|error: http::uri::InvalidUri| {
            ClientError::Setting { name: "endpoint", problem: error.to_string() }
        })?;
        let sent = request.headers_mut();
        if ask.body.is_some() {
            sent.insert("content-type", HeaderValue::from_static("application/json"));
        }
        let more = [
            ("memory-spine-delivery", ask.delivery.clone()),
            ("idempotency-key", key.map(str::to_owned)),
            ("if-match", ask.if_version.map(|version| format!("\"{version}\""))),
        ];
        let more = more.into_iter().filter_map(|(name, value)| Some((name, value?)));
        for (name, value) in headers(&self.options).chain(more) {
            sent.insert(name, header(name, value)?);
        }
        Ok(request)
    }

    fn settled(
        &self,
        ask: &Ask,
        answer: Result<Response<Bytes>, Lost>,
    ) -> Result<Bytes, ClientError> {
        let endpoint = self.options.endpoint.clone();
        match answer {
            Ok(answer) if answer.status().is_success() => Ok(answer.into_body()),
            Ok(answer) => Err(ClientError::Refused(Box::new(problem(&answer)))),
            Err(Lost::TooSlow) => {
                Err(ClientError::TooSlow { endpoint, seconds: self.patience(ask).as_secs() })
            }
            Err(Lost::Unreachable(detail) | Lost::Broken(detail)) => {
                Err(ClientError::Unreachable { endpoint, detail })
            }
        }
    }
}

fn headers(options: &ClientOptions) -> impl Iterator<Item = (&'static str, String)> {
    let key = options.api_key.as_ref().map(|key| ("authorization", format!("Bearer {key}")));
    let workspace = options.workspace.clone().map(|name| ("memory-spine-workspace", name));
    let agent = options.agent.clone().map(|name| ("memory-spine-agent", name));
    [key, workspace, agent].into_iter().flatten()
}

fn header(name: &'static str, value: String) -> Result<HeaderValue, ClientError> {
    let unusable = "it holds a character that cannot be sent in a header".to_owned();
    HeaderValue::try_from(value).map_err(|_| ClientError::Setting { name, problem: unusable })
}

/// How long until the next try; none if the answer is the answer.
fn pause_before_next(
    answer: &Result<Response<Bytes>, Lost>,
    backoff: Duration,
) -> Option<Duration> {
    match answer {
        Err(Lost::Unreachable(_) | Lost::Broken(_)) => Some(backoff),
        Err(Lost::TooSlow) => None,
        Ok(answer) if matches!(answer.status().as_u16(), 429 | 503) => {
            let problem = problem(answer);
            // An open circuit is the target's matter: the sender decides what to do about it.
            let asked = Duration::try_from_secs_f64(problem.retry_after_s.unwrap_or(0.0)).ok()?;
            (problem.kind() != "circuit-open" && asked <= BACKOFF_MAX).then(|| asked.max(backoff))
        }
        Ok(_) => None,
    }
}

fn problem(answer: &Response<Bytes>) -> Problem {
    let status = answer.status().as_u16();
    serde_json::from_slice(answer.body()).unwrap_or_else(|_| Problem::of_status(status))
}

fn unreadable(ask: &Ask, error: &serde_json::Error) -> ClientError {
    ClientError::Unreadable { path: ask.path.clone(), detail: error.to_string() }
}

fn new_key() -> Result<String, ClientError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| ClientError::Setting {
        name: "idempotency key",
        problem: format!("the system has no randomness ({error})"),
    })?;
    Ok(HEXLOWER.encode(&bytes))
}
