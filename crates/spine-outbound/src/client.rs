//! One request, from the options to the answer.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::answer::Answer;
use crate::connector::Connector;
use crate::error::{OutboundError, OutboundErrorKind};
use crate::headers;
use crate::limits::{
    ANSWER_BYTES_DEFAULT, ANSWER_HEAD_BYTES_MAX, CONNECT_MS_DEFAULT, IDLE_CONNECTIONS_PER_HOST_MAX,
    IDLE_MS_MAX, LOOKUPS_MAX, REQUEST_BYTES_MAX, REQUEST_MS_DEFAULT, REQUESTS_DEFAULT,
    REQUESTS_PER_HOST_DEFAULT,
};
use crate::places::Places;
use crate::reach::Reach;
use crate::signing::{Message, WebhookSecret};
use crate::target::{Host, Target};
use crate::tls;

/// What may be reached, and how much of everything.
#[derive(Debug, Clone)]
pub struct OutboundOptions {
    /// Also loopback and private networks. Cloud metadata, link-local, multicast, documentation
    /// and reserved addresses stay closed unless they are listed.
    pub allow_private: bool,
    /// Host names (`models.internal`) and networks (`10.1.0.0/16`) that may be reached although
    /// they are not public. A name is opened with whatever addresses it has.
    pub allowed: Vec<String>,
    /// Authorities that are trusted beside those of browsers, as PEM.
    pub extra_roots_pem: Vec<u8>,
    /// Looking up, connecting and the TLS handshake together.
    pub connect_ms_max: u64,
    /// One request from its start to the last byte of its answer.
    pub request_ms_max: u64,
    /// One answer's body.
    pub answer_bytes_max: usize,
    /// Requests under way at once; one more is refused as busy.
    pub requests_max: usize,
    /// How many of them may be to one host.
    pub requests_per_host_max: usize,
    /// How this server names itself.
    pub user_agent: String,
}

impl Default for OutboundOptions {
    fn default() -> Self {
        Self {
            allow_private: false,
            allowed: Vec::new(),
            extra_roots_pem: Vec::new(),
            connect_ms_max: CONNECT_MS_DEFAULT,
            request_ms_max: REQUEST_MS_DEFAULT,
            answer_bytes_max: ANSWER_BYTES_DEFAULT,
            requests_max: REQUESTS_DEFAULT,
            requests_per_host_max: REQUESTS_PER_HOST_DEFAULT,
            user_agent: concat!("memory-spine/", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}

/// The way out. Follows no redirects, and knows no proxies.
///
/// Make one for each purpose: a chat model may take a minute, a search waits for its vector a second.
pub struct Outbound {
    client: Client<Connector, Full<Bytes>>,
    reach: Arc<Reach>,
    places: Places,
    request_time_max: Duration,
    answer_bytes_max: usize,
    user_agent: HeaderValue,
}

impl Outbound {
    /// Reads the options; nothing is connected yet.
    pub fn new(options: OutboundOptions) -> Result<Self, OutboundError> {
        let user_agent = HeaderValue::try_from(&options.user_agent)
            .map_err(|_| OutboundError::bad_input("the user agent cannot be a header"))?;
        let reach = Arc::new(Reach::new(options.allow_private, &options.allowed)?);
        let connector = Connector {
            reach: Arc::clone(&reach),
            tls: tls::connector(&options.extra_roots_pem)?,
            lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)),
            connect_time_max: Duration::from_millis(options.connect_ms_max),
        };
        Ok(Self {
            client: client(connector),
            reach,
            places: Places::new(options.requests_max, options.requests_per_host_max),
            request_time_max: Duration::from_millis(options.request_ms_max),
            answer_bytes_max: options.answer_bytes_max,
            user_agent,
        })
    }

    /// Whether a URL can be used, as far as that can be said without looking its host up: for
    /// telling a person early. Every request is checked again when it connects.
    pub fn check_url(&self, url: &str) -> Result<(), OutboundError> {
        let target = Target::parse(url)?;
        match target.host {
            Host::Name(_) => Ok(()),
            Host::Address(address) => {
                let socket = SocketAddr::new(address, target.port);
                self.reach.check(&target, vec![socket]).map(|_| ())
            }
        }
    }

    /// Posts a message signed as Standard Webhooks has it. Any status but success is an error.
    pub async fn post_signed(
        &self,
        url: &str,
        secret: &WebhookSecret,
        message: Message<'_>,
        extra_headers: &[(&str, &str)],
    ) -> Result<Answer, OutboundError> {
        let mut all = headers::extra(extra_headers)?;
        headers::sign(&mut all, secret, message)?;
        self.post(&Target::parse(url)?, all, message.body.to_vec()).await
    }

    /// Posts JSON unsigned, to where the URL is the secret (as with Slack). Any status but success
    /// is an error.
    pub async fn post_json(
        &self,
        url: &str,
        body: &serde_json::Value,
        extra_headers: &[(&str, &str)],
    ) -> Result<Answer, OutboundError> {
        let body = body.to_string().into_bytes();
        self.post(&Target::parse(url)?, headers::extra(extra_headers)?, body).await
    }

    /// Posts bytes that the headers describe. Any status is an answer: whoever asks knows what to make of it.
    pub async fn post_bytes(
        &self,
        url: &str,
        extra_headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Answer, OutboundError> {
        let (target, headers) = (Target::parse(url)?, headers::extra(extra_headers)?);
        self.exchange(&target, headers, body, self.answer_bytes_max).await
    }

    async fn post(
        &self,
        target: &Target,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Answer, OutboundError> {
        let answer = self.exchange(target, headers, body, self.answer_bytes_max).await?;
        answer.successful(target)
    }

    /// One request and its answer, whatever its status.
    pub(crate) async fn exchange(
        &self,
        target: &Target,
        headers: HeaderMap,
        body: Vec<u8>,
        answer_bytes_max: usize,
    ) -> Result<Answer, OutboundError> {
        let _place = self.places.take(target)?;
        let request = self.request(target, headers, body)?;
        let answering = async {
            let response = self.client.request(request).await;
            let response = response.map_err(|error| failure(target, &error))?;
            read(target, response, answer_bytes_max).await
        };
        let in_time = timeout(self.request_time_max, answering).await;
        in_time.unwrap_or_else(|_| {
            let detail = format!("{target}: no complete answer in {:?}", self.request_time_max);
            Err(OutboundError::new(OutboundErrorKind::TimedOut, detail))
        })
    }

    fn request(
        &self,
        target: &Target,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Request<Full<Bytes>>, OutboundError> {
        if body.len() > REQUEST_BYTES_MAX {
            return Err(OutboundError::bad_input(format!("a body of {} bytes", body.len())));
        }
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.uri()?;
        *request.headers_mut() = headers;
        request.headers_mut().insert(USER_AGENT, self.user_agent.clone());
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().entry(CONTENT_TYPE).or_insert(json);
        Ok(request)
    }
}

fn client(connector: Connector) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_millis(IDLE_MS_MAX))
        .pool_max_idle_per_host(IDLE_CONNECTIONS_PER_HOST_MAX)
        .http1_max_buf_size(ANSWER_HEAD_BYTES_MAX)
        .build(connector)
}

async fn read(
    target: &Target,
    response: Response<Incoming>,
    answer_bytes_max: usize,
) -> Result<Answer, OutboundError> {
    let (head, body) = response.into_parts();
    let body = Limited::new(body, answer_bytes_max).collect().await;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => OutboundError::new(
            OutboundErrorKind::AnswerTooLarge,
            format!("{target}: an answer of more than {answer_bytes_max} bytes"),
        ),
        false => failure(target, &*error),
    })?;
    Ok(Answer::new(head.status.as_u16(), &head.headers, body.to_bytes().to_vec()))
}

/// Our own failure if one of ours is the cause, else what hyper makes of it.
fn failure(target: &Target, error: &(dyn Error + 'static)) -> OutboundError {
    let causes = || std::iter::successors(Some(error), |cause| (*cause).source());
    if let Some(ours) = causes().find_map(|cause| cause.downcast_ref::<OutboundError>()) {
        return ours.clone();
    }
    let is_parse = |cause: &(dyn Error + 'static)| {
        cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse)
    };
    let kind = match causes().any(is_parse) {
        true => OutboundErrorKind::BadAnswer,
        false => OutboundErrorKind::CannotConnect,
    };
    let chain: Vec<String> = causes().map(ToString::to_string).collect();
    OutboundError::new(kind, format!("{target}: {}", chain.join(": ")))
}
