//! What came back.

use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, DATE, HeaderName, RETRY_AFTER};
use jiff::Timestamp;
use jiff::fmt::rfc2822;

use crate::error::{OutboundError, OutboundErrorKind};
use crate::target::Target;

/// An answer, read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// What the body says it is.
    pub content_type: Option<String>,
    /// How long the other side asks to be left alone.
    pub retry_after_ms: Option<u64>,
    /// The body, no larger than allowed.
    pub body: Vec<u8>,
}

impl Answer {
    pub(crate) fn new(status: u16, headers: &HeaderMap, body: Vec<u8>) -> Self {
        Self {
            status,
            content_type: text(headers, CONTENT_TYPE).map(str::to_owned),
            retry_after_ms: retry_after_ms(headers),
            body,
        }
    }

    /// This answer if it is a success, else its failure.
    pub(crate) fn successful(self, target: &Target) -> Result<Self, OutboundError> {
        match self.status {
            200..=299 => Ok(self),
            status => Err(self.failure(format!("{target}: status {status}"))),
        }
    }

    pub(crate) fn failure(&self, detail: String) -> OutboundError {
        OutboundError::new(OutboundErrorKind::Status(self.status), detail)
            .waiting(self.retry_after_ms)
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// In seconds, or as a date. A date is taken against the answer's own, so that no clock is needed.
fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let value = text(headers, RETRY_AFTER)?;
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(seconds.saturating_mul(1_000));
    }
    let wait = moment(value)?.as_millisecond() - moment(text(headers, DATE)?)?.as_millisecond();
    Some(u64::try_from(wait).unwrap_or(0))
}

fn moment(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}
