//! Where vectors come from.

use std::time::Duration;

use spine_outbound::Endpoint;

use super::{ConfigError, Layers, OutboundSettings};

/// Numbers of one vector.
const DIMENSIONS_MAX: u64 = 8_000;
/// The longest that a search may be made to wait for its vector.
const SEARCH_MS_MAX: u64 = 60_000;

/// An endpoint that makes vectors.
#[derive(Debug, Clone)]
pub struct EmbeddingSettings {
    /// Where, and by which model.
    pub endpoint: Endpoint,
    /// How many numbers a vector has.
    pub dimensions: usize,
    /// How long a search waits for its vector.
    pub search_time_max: Duration,
}

impl EmbeddingSettings {
    /// None where no URL is set: then the built-in embedding is used.
    pub(super) fn from_layers(
        layers: &Layers,
        outbound: &OutboundSettings,
    ) -> Result<Option<Self>, ConfigError> {
        let dimensions = layers.whole("embeddings.dimensions", 0, DIMENSIONS_MAX)?;
        let search_ms = layers.seconds_ms("embeddings.search_s", 1, SEARCH_MS_MAX)?;
        let Some(endpoint) = endpoint(layers, outbound, "embeddings")? else { return Ok(None) };
        if dimensions == 0 {
            let problem = "is missing beside `embeddings.url`: how many numbers a vector has";
            return Err(layers.error("embeddings.dimensions", problem));
        }
        let (dimensions, search_time_max) = (dimensions as usize, Duration::from_millis(search_ms));
        Ok(Some(Self { endpoint, dimensions, search_time_max }))
    }
}

/// The endpoint of a section, if its `url` is set.
pub(super) fn endpoint(
    layers: &Layers,
    outbound: &OutboundSettings,
    section: &str,
) -> Result<Option<Endpoint>, ConfigError> {
    let key = |name: &str| format!("{section}.{name}");
    let text = |name: &str| layers.text(&key(name));
    let (base_url, model, api_key) = (text("url")?, text("model")?, text("api_key")?);
    if base_url.is_empty() {
        return Ok(None);
    }
    let checked = outbound.check_url(&base_url);
    checked.map_err(|error| layers.error(&key("url"), &error.to_string()))?;
    if model.is_empty() {
        return Err(layers.error(&key("model"), &format!("is missing beside `{}`", key("url"))));
    }
    Ok(Some(Endpoint { base_url, model, key: Some(api_key).filter(|key| !key.is_empty()) }))
}
