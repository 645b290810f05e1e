//! What this server may reach.

use spine_outbound::{Outbound, OutboundError, OutboundOptions};

use super::{ConfigError, Layers};

/// What may be reached, checked.
#[derive(Debug, Clone)]
pub struct OutboundSettings(OutboundOptions);

impl OutboundSettings {
    pub(super) fn from_layers(layers: &Layers) -> Result<Self, ConfigError> {
        let mut options = OutboundOptions {
            allow_private: layers.flag("outbound.allow_private")?,
            allowed: layers.list("outbound.allowed")?,
            ..OutboundOptions::default()
        };
        check(layers, "outbound.allowed", &options)?;
        options.extra_roots_pem = authorities(layers)?;
        check(layers, "outbound.authorities", &options)?;
        Ok(Self(options))
    }

    /// The rule, to be completed for one purpose.
    pub fn options(&self) -> OutboundOptions {
        self.0.clone()
    }

    /// Whether a URL can be used, as far as that can be said without looking its host up.
    pub(super) fn check_url(&self, url: &str) -> Result<(), OutboundError> {
        Outbound::new(self.options())?.check_url(url)
    }
}

fn check(layers: &Layers, key: &str, options: &OutboundOptions) -> Result<(), ConfigError> {
    let made = Outbound::new(options.clone());
    made.map(|_| ()).map_err(|error| layers.error(key, error.detail()))
}

fn authorities(layers: &Layers) -> Result<Vec<u8>, ConfigError> {
    let key = "outbound.authorities";
    match layers.text(key)?.as_str() {
        "" => Ok(Vec::new()),
        file => std::fs::read(file).map_err(|error| layers.error(key, &format!("{file}: {error}"))),
    }
}
