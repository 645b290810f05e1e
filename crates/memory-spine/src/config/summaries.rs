//! Who writes summaries ahead of time.

use spine_outbound::{Endpoint, TokensParameter};

use super::embeddings::endpoint;
use super::{ConfigError, Layers, OutboundSettings};

/// A chat endpoint that writes summaries.
#[derive(Debug, Clone)]
pub struct SummarySettings {
    /// Where, and by which model.
    pub endpoint: Endpoint,
    /// How the endpoint calls the bound on what it writes.
    pub parameter: TokensParameter,
    /// The longest summary.
    pub tokens_max: u32,
    /// Texts that are shorter need none.
    pub text_bytes_min: usize,
    /// Requests in an hour, also those that fail.
    pub requests_per_h_max: usize,
}

impl SummarySettings {
    /// None where no URL is set: then summaries are extracts.
    pub(super) fn from_layers(
        layers: &Layers,
        outbound: &OutboundSettings,
    ) -> Result<Option<Self>, ConfigError> {
        let tokens_max = layers.whole("summaries.tokens_max", 10, 4_000)?;
        let text_bytes_min = layers.whole("summaries.text_bytes_min", 1, 1_000_000)?;
        let requests_per_h_max = layers.whole("summaries.requests_per_h_max", 1, 1_000_000)?;
        let parameter = parameter(layers)?;
        let Some(endpoint) = endpoint(layers, outbound, "summaries")? else { return Ok(None) };
        Ok(Some(Self {
            endpoint,
            parameter,
            tokens_max: u32::try_from(tokens_max).unwrap_or(u32::MAX),
            text_bytes_min: text_bytes_min as usize,
            requests_per_h_max: requests_per_h_max as usize,
        }))
    }
}

fn parameter(layers: &Layers) -> Result<TokensParameter, ConfigError> {
    let key = "summaries.tokens_parameter";
    match layers.text(key)?.as_str() {
        "max_tokens" => Ok(TokensParameter::MaxTokens),
        "max_completion_tokens" => Ok(TokensParameter::MaxCompletionTokens),
        other => {
            let expected = "expected max_tokens or max_completion_tokens";
            Err(layers.error(key, &format!("{expected}, got {other:?}")))
        }
    }
}
