//! What calls to OpenAI-compatible endpoints share.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::Answer;
use crate::client::Outbound;
use crate::error::{OutboundError, OutboundErrorKind};
use crate::headers;
use crate::limits::ENDPOINT_CODE_BYTES_MAX;
use crate::target::Target;

/// An OpenAI-compatible endpoint and a model of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// As OpenAI's clients take it, with the version: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The key, where one is wanted.
    pub key: Option<String>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("model", &self.model).finish_non_exhaustive()
    }
}

/// The part of an error answer that is safe to log: texts may repeat the key.
#[derive(Deserialize)]
struct Refusal {
    error: RefusalBody,
}

#[derive(Deserialize)]
struct RefusalBody {
    code: Option<Value>,
    r#type: Option<Value>,
}

impl Outbound {
    /// Posts to a path below the endpoint and reads the answer.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        endpoint: &Endpoint,
        path: &str,
        body: &Value,
        answer_bytes_max: usize,
    ) -> Result<T, OutboundError> {
        let target = Target::parse(&endpoint.base_url)?.below(path)?;
        let headers = headers::bearer(endpoint.key.as_deref())?;
        let body = body.to_string().into_bytes();
        let answer = self.exchange(&target, headers, body, answer_bytes_max).await?;
        if !(200..=299).contains(&answer.status) {
            return Err(refused(&target, &answer));
        }
        serde_json::from_slice(&answer.body).map_err(|error| unreadable(&target, &error))
    }
}

fn refused(target: &Target, answer: &Answer) -> OutboundError {
    let code = loggable_code(&answer.body).map(|code| format!(", {code}")).unwrap_or_default();
    answer.failure(format!("{target}: status {}{code}", answer.status))
}

/// A word of letters only: no key is one.
fn loggable_code(body: &[u8]) -> Option<String> {
    let refusal: Refusal = serde_json::from_slice(body).ok()?;
    let words = [refusal.error.code, refusal.error.r#type];
    let words = words.into_iter().flatten();
    let plain = |word: &&str| {
        word.len() <= ENDPOINT_CODE_BYTES_MAX
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    words.filter_map(|word| word.as_str().filter(plain).map(str::to_owned)).next()
}

/// Where reading stopped, and not at what: serde's own message repeats the answer.
fn unreadable(target: &Target, error: &serde_json::Error) -> OutboundError {
    let (line, column) = (error.line(), error.column());
    bad_answer(target, &format!("no such JSON at line {line} column {column}"))
}

pub(crate) fn bad_answer(place: impl fmt::Display, why: &str) -> OutboundError {
    OutboundError::new(OutboundErrorKind::BadAnswer, format!("{place}: {why}"))
}
