//! What can go wrong, once for the caller and once for the log.

use std::fmt;

/// The kinds of failure. Each tells the caller what to do; they are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutboundErrorKind {
    /// The address is one that this server may not reach.
    AddressRefused,
    /// The URL cannot be used.
    BadUrl,
    /// An option, a secret, a key, a header or a text cannot be used.
    BadInput,
    /// No connection, or one that broke before the answer was complete.
    CannotConnect,
    /// The other side could not prove who it is, or speaks no TLS that we do.
    TlsFailed,
    /// The time for connecting or for the whole request is over.
    TimedOut,
    /// The answer is larger than is read.
    AnswerTooLarge,
    /// The answer is not what this kind of endpoint says.
    BadAnswer,
    /// A status other than success.
    Status(u16),
    /// As many requests are under way as are allowed.
    Busy,
}

impl OutboundErrorKind {
    /// Its name in answers, logs and figures.
    pub fn code(self) -> &'static str {
        match self {
            Self::AddressRefused => "address_refused",
            Self::BadUrl => "bad_url",
            Self::BadInput => "bad_input",
            Self::CannotConnect => "cannot_connect",
            Self::TlsFailed => "tls_failed",
            Self::TimedOut => "timed_out",
            Self::AnswerTooLarge => "answer_too_large",
            Self::BadAnswer => "bad_answer",
            Self::Status(_) => "status",
            Self::Busy => "busy",
        }
    }

    /// What the caller is told to do.
    pub fn message(self) -> &'static str {
        match self {
            Self::AddressRefused => {
                "this address may not be reached: use a public one, or allow its host or network \
                 in the server's configuration"
            }
            Self::BadUrl => {
                "the URL cannot be used: give http:// or https://, a plain host and no user name"
            }
            Self::BadInput => "an option, secret, key, header or text cannot be sent: correct it",
            Self::CannotConnect => {
                "the host cannot be reached or the connection broke: check that it runs, then try \
                 again"
            }
            Self::TlsFailed => {
                "no trusted TLS connection: check the certificate and the host name, or add the \
                 authority that issued it"
            }
            Self::TimedOut => "no complete answer in time: try again, or allow more time",
            Self::AnswerTooLarge => "the answer is too large: make the endpoint answer with less",
            Self::BadAnswer => {
                "the answer is not what such an endpoint says: check the URL and the model"
            }
            Self::Busy => "too many requests are under way: try again later",
            Self::Status(status) => status_message(status),
        }
    }
}

fn status_message(status: u16) -> &'static str {
    match status {
        300..=399 => "redirects are not followed: use the URL that it redirects to",
        401 | 403 => "the endpoint refused the key or the signature: check it",
        404 | 410 => "there is nothing at this URL: check its path",
        429 => "the endpoint takes no more now: try again later",
        400..=499 => "the endpoint refused the request: check the URL and the settings",
        _ => "the endpoint failed: try again later",
    }
}

/// A failed request: the message is for the caller, the detail for the log.
///
/// Neither holds a secret, a key, or more of a URL than scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboundError {
    kind: OutboundErrorKind,
    detail: String,
    retry_after_ms: Option<u64>,
}

impl OutboundError {
    pub(crate) fn new(kind: OutboundErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), retry_after_ms: None }
    }

    pub(crate) fn bad_input(detail: impl Into<String>) -> Self {
        Self::new(OutboundErrorKind::BadInput, detail)
    }

    pub(crate) fn waiting(mut self, retry_after_ms: Option<u64>) -> Self {
        self.retry_after_ms = retry_after_ms;
        self
    }

    /// The kind of failure.
    pub fn kind(&self) -> OutboundErrorKind {
        self.kind
    }

    /// For the log, never for the caller.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// How long the other side asked to be left alone.
    pub fn retry_after_ms(&self) -> Option<u64> {
        self.retry_after_ms
    }
}

impl fmt::Display for OutboundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.message())?;
        match self.kind {
            OutboundErrorKind::Status(status) => write!(f, " (status {status})"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for OutboundError {}
