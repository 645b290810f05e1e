//! The headers of a request.

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};

use crate::error::OutboundError;
use crate::limits::EXTRA_HEADERS_MAX;
use crate::signing::{Message, WebhookSecret, sign as signature};

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// These say how the message is cut from the connection, or who signed it: not a caller's to set.
const OURS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// A caller's own headers.
pub(crate) fn extra(pairs: &[(&str, &str)]) -> Result<HeaderMap, OutboundError> {
    if pairs.len() > EXTRA_HEADERS_MAX {
        return Err(OutboundError::bad_input(format!("{} extra headers", pairs.len())));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = extra_name(name)?;
        headers.insert(name.clone(), sensitive(&name, value)?);
    }
    Ok(headers)
}

fn extra_name(name: &str) -> Result<HeaderName, OutboundError> {
    let parsed = HeaderName::try_from(name).ok();
    let free = parsed.filter(|name| {
        let is_ours = OURS.contains(&name.as_str());
        !is_ours && !name.as_str().starts_with("webhook-") && !name.as_str().starts_with("proxy-")
    });
    free.ok_or_else(|| OutboundError::bad_input("an extra header with a name that is not free"))
}

/// Adds the three headers of Standard Webhooks.
pub(crate) fn sign(
    headers: &mut HeaderMap,
    secret: &WebhookSecret,
    message: Message<'_>,
) -> Result<(), OutboundError> {
    let signature = signature(secret, message)?;
    headers.insert(WEBHOOK_ID, sensitive(&WEBHOOK_ID, message.id)?);
    headers.insert(WEBHOOK_TIMESTAMP, HeaderValue::from(message.timestamp_s));
    headers.insert(WEBHOOK_SIGNATURE, sensitive(&WEBHOOK_SIGNATURE, &signature)?);
    Ok(())
}

/// The key of an endpoint, if it wants one.
pub(crate) fn bearer(key: Option<&str>) -> Result<HeaderMap, OutboundError> {
    let mut headers = HeaderMap::new();
    if let Some(key) = key {
        headers.insert(AUTHORIZATION, sensitive(&AUTHORIZATION, &format!("Bearer {key}"))?);
    }
    Ok(headers)
}

/// A value that no log shows.
fn sensitive(name: &HeaderName, value: &str) -> Result<HeaderValue, OutboundError> {
    let value = HeaderValue::try_from(value);
    let mut value = value
        .map_err(|_| OutboundError::bad_input(format!("the value of {name} cannot be sent")))?;
    value.set_sensitive(true);
    Ok(value)
}
