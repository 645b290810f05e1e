//! Signatures as Standard Webhooks has them, so that receivers can use a library they have.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::error::OutboundError;
use crate::limits::{
    MESSAGE_ID_BYTES_MAX, SECRET_BYTES_MAX, SECRET_BYTES_MIN, SIGNATURE_AGE_S_MAX, SIGNATURES_MAX,
};

const SECRET_PREFIX: &str = "whsec_";
const VERSION_PREFIX: &str = "v1,";

/// What sender and receiver share. It never shows itself in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(Vec<u8>);

impl WebhookSecret {
    /// Reads `whsec_` and base64.
    pub fn parse(text: &str) -> Result<Self, OutboundError> {
        let encoded = text.strip_prefix(SECRET_PREFIX);
        let encoded = encoded
            .ok_or_else(|| OutboundError::bad_input("a secret that does not start with whsec_"))?;
        let bytes = BASE64_STANDARD.decode(encoded);
        let bytes = bytes
            .map_err(|_| OutboundError::bad_input("a secret that is no base64 after whsec_"))?;
        Self::from_bytes(bytes)
    }

    /// A secret made of random bytes, 24 to 64 of them.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, OutboundError> {
        match bytes.len() {
            SECRET_BYTES_MIN..=SECRET_BYTES_MAX => Ok(Self(bytes)),
            others => Err(OutboundError::bad_input(format!("a secret of {others} bytes"))),
        }
    }

    /// The form to give to the receiver, once.
    pub fn reveal(&self) -> String {
        format!("{SECRET_PREFIX}{}", BASE64_STANDARD.encode(&self.0))
    }

    fn keyed(&self, message: Message<'_>) -> Result<Hmac<Sha256>, OutboundError> {
        let mac = Hmac::<Sha256>::new_from_slice(&self.0);
        let mut mac = mac.map_err(|_| OutboundError::bad_input("a secret of a wrong length"))?;
        mac.update(format!("{}.{}.", message.id, message.timestamp_s).as_bytes());
        mac.update(message.body);
        Ok(mac)
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

/// What is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The same at every attempt: receivers know a message by it. Visible ASCII without a dot.
    pub id: &'a str,
    /// When this attempt is made, in seconds since 1970.
    pub timestamp_s: u64,
    /// The bytes that are sent.
    pub body: &'a [u8],
}

/// The value of `webhook-signature`.
pub fn sign(secret: &WebhookSecret, message: Message<'_>) -> Result<String, OutboundError> {
    // A dot would let one message pass for another with a different id and timestamp.
    let plain = message.id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'.');
    if !plain || !(1..=MESSAGE_ID_BYTES_MAX).contains(&message.id.len()) {
        return Err(OutboundError::bad_input("a message id that is empty, long or not plain"));
    }
    let code = secret.keyed(message)?.finalize().into_bytes();
    Ok(format!("{VERSION_PREFIX}{}", BASE64_STANDARD.encode(code)))
}

/// Why a received message is not to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureError {
    /// No signature of this message by this secret: answer 401 and do nothing.
    Wrong,
    /// The signature is old, or of the future: someone repeats it, or a clock is wrong.
    NotRecent,
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wrong => "the message was not signed with this secret: do not act on it",
            Self::NotRecent => "the signature is not recent: check the clock, do not act on it",
        })
    }
}

impl std::error::Error for SignatureError {}

/// Checks a received message against the value of its `webhook-signature`, which may hold several
/// signatures while a secret is being replaced.
pub fn verify(
    secret: &WebhookSecret,
    message: Message<'_>,
    signatures: &str,
    now_s: u64,
) -> Result<(), SignatureError> {
    if message.timestamp_s.abs_diff(now_s) > SIGNATURE_AGE_S_MAX {
        return Err(SignatureError::NotRecent);
    }
    let mut candidates = signatures.split(' ').take(SIGNATURES_MAX);
    let is_right = |signature: &str| matches(secret, message, signature).unwrap_or(false);
    candidates.any(is_right).then_some(()).ok_or(SignatureError::Wrong)
}

/// In a time that does not depend on how much of it is right.
fn matches(secret: &WebhookSecret, message: Message<'_>, signature: &str) -> Option<bool> {
    let code = BASE64_STANDARD.decode(signature.strip_prefix(VERSION_PREFIX)?).ok()?;
    Some(secret.keyed(message).ok()?.verify_slice(&code).is_ok())
}
