//! One request, before it is sent.

use std::fmt::{Display, Write};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde::Serialize;

/// One request. Its path is given in parts, so that no part can reach beyond itself.
#[derive(Debug, Clone)]
pub struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    query: String,
    pub(crate) body: Option<Bytes>,
    pub(crate) delivery: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) if_version: Option<u32>,
    pub(crate) is_repeatable: bool,
    pub(crate) wait: Duration,
}

impl Ask {
    fn new(method: Method, parts: &[&str]) -> Self {
        let mut path = "/v1".to_owned();
        for part in parts {
            path.push('/');
            encode(&mut path, part);
        }
        Self {
            method,
            path,
            query: String::new(),
            body: None,
            delivery: None,
            idempotency_key: None,
            if_version: None,
            is_repeatable: true,
            wait: Duration::ZERO,
        }
    }

    /// Whether the server is there: beside the API, and asked once.
    pub(crate) fn alive() -> Self {
        let mut ask = Self::new(Method::GET, &[]).once();
        ask.path = "/healthz".to_owned();
        ask
    }

    /// To read.
    pub fn get(parts: &[&str]) -> Self {
        Self::new(Method::GET, parts)
    }

    /// To do something.
    pub fn post(parts: &[&str], body: &impl Serialize) -> Self {
        Self::new(Method::POST, parts).with_body(body)
    }

    /// To set something.
    pub fn put(parts: &[&str], body: &impl Serialize) -> Self {
        Self::new(Method::PUT, parts).with_body(body)
    }

    /// To change something.
    pub fn patch(parts: &[&str], body: &impl Serialize) -> Self {
        Self::new(Method::PATCH, parts).with_body(body)
    }

    /// To remove something.
    pub fn delete(parts: &[&str]) -> Self {
        Self::new(Method::DELETE, parts)
    }

    fn with_body(self, body: &impl Serialize) -> Self {
        // Values of ours always have a form in JSON; one without is an empty body, which the server names.
        self.with_bytes(serde_json::to_vec(body).unwrap_or_default())
    }

    /// With a body that is JSON already.
    #[must_use]
    pub fn with_bytes(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// With a parameter, if there is a value for it.
    #[must_use]
    pub fn query(mut self, name: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            self.query.push(if self.query.is_empty() { '?' } else { '&' });
            self.query.push_str(name);
            self.query.push('=');
            encode(&mut self.query, &value.to_string());
        }
        self
    }

    /// While a delivery is being handled: what is handed on follows it.
    #[must_use]
    pub fn within(mut self, delivery: Option<&str>) -> Self {
        self.delivery = delivery.map(str::to_owned);
        self
    }

    /// With a key of the caller's own, so that also another process can ask again.
    #[must_use]
    pub fn keyed(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// Only if it is still at this version, where one is named.
    #[must_use]
    pub fn if_version(mut self, version: Option<u32>) -> Self {
        self.if_version = version;
        self
    }

    /// Asked once only: a lost answer would have an effect of its own.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.is_repeatable = false;
        self
    }

    /// The server may take so long before it answers.
    #[must_use]
    pub fn waiting(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    pub(crate) fn address(&self) -> String {
        format!("{}{}", self.path, self.query)
    }
}

/// Everything but what RFC 3986 leaves unreserved.
fn encode(target: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            target.push(char::from(byte));
        } else {
            let _ = write!(target, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_stays_a_part() {
        let ask = Ask::get(&["agents", "../a b?"]).query("q", Some("x&y=ü")).query("n", None::<u8>);
        assert_eq!(ask.address(), "/v1/agents/..%2Fa%20b%3F?q=x%26y%3D%C3%BC");
    }
}
