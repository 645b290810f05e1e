//! How an envelope is packed.

use spine_protocol::{Body, Format, MemoryId, Packing, Salt, Strategy, TokenizerName};

use super::counter::Counter;
use super::offer::Pricing;

/// What the sender chose, and where salts come from.
pub(super) struct Settings<'a> {
    pub strategy: Strategy,
    pub tokenizer: TokenizerName,
    pub format: Format,
    pub salt: &'a dyn Fn(MemoryId) -> Salt,
    pub counter: &'a Counter,
    /// Kept free: the last entry of a JSON list has no comma behind it, which may cost a token more.
    pub reserve_tokens: u32,
}

impl Settings<'_> {
    /// A packing of nothing yet.
    pub fn packing(&self) -> Packing {
        Packing {
            strategy: self.strategy.clone(),
            tokenizer: self.tokenizer.clone(),
            format: self.format.clone(),
            ..Packing::default()
        }
    }

    pub fn pricing<'b>(&'b self, body: &'b Body) -> Pricing<'b> {
        Pricing {
            body,
            tokenizer: &self.tokenizer,
            format: &self.format,
            strategy: &self.strategy,
            salt: self.salt,
            counter: self.counter,
        }
    }
}
