//! From a derived envelope and its packing to the sealed packet.

use serde_json::Value;

use crate::digest::Digest;
use crate::envelope::*;
use crate::json;
use crate::read::{ReadError, digest_of, to_value};
use crate::render::render;
use crate::tokens::{TokenizerError, count};
use crate::wellformed;

/// An envelope that keeps the rules but carries no memories yet.
#[derive(Debug, Clone)]
pub struct Unsealed {
    body: Body,
}

/// What travels, and how it was chosen.
#[derive(Debug, Clone, Default)]
pub struct Packing {
    /// In the order in which they are rendered. A text needs its salt; its digest is filled in here.
    pub memories: Vec<PackedMemory>,
    /// Which way of choosing detail.
    pub strategy: Strategy,
    /// What counts.
    pub tokenizer: TokenizerName,
    /// The rendering that is counted.
    pub format: Format,
    /// What that rendering leaves out.
    pub omitted: Omitted,
    /// Which of the explicit references are here.
    pub completeness: Completeness,
    /// What lost detail.
    pub trimmed: Trimmed,
    /// What was blacked out.
    pub redactions: Vec<Redaction>,
}

/// Why an envelope could not be sealed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SealError {
    /// A field is wrong.
    #[error("{0}")]
    Invalid(#[from] ReadError),
    /// The tokenizer is not one of ours.
    #[error("{0}")]
    Tokenizer(#[from] TokenizerError),
    /// R5.
    #[error(
        "the rendering takes {needed} tokens of {max_tokens}; raise `max_tokens`, or carry less"
    )]
    OverBudget {
        /// What it takes.
        needed: u32,
        /// What there is.
        max_tokens: u32,
    },
}

impl SealError {
    /// The stable name of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(error) => error.code,
            Self::Tokenizer(_) => "tokenizer-unknown",
            Self::OverBudget { .. } => "budget",
        }
    }
}

impl Unsealed {
    pub(crate) fn new(body: Body) -> Result<Self, ReadError> {
        wellformed::check(&body)?;
        Ok(Self { body })
    }

    /// What it says so far.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Blacks words out of the history, openly: `redacted` gives a text without them and what each was. The result
    /// belongs into the packing's redactions.
    pub fn redact_history(
        &mut self,
        redacted: impl Fn(&str) -> (String, Vec<String>),
    ) -> Vec<Redaction> {
        let mut redactions = Vec::new();
        let texts = self
            .body
            .history
            .iter_mut()
            .flat_map(|entry| [Some(&mut entry.action), entry.why.as_mut()]);
        for text in texts.flatten() {
            let (clean, kinds) = redacted(text);
            *text = clean;
            let redaction =
                |kind| Redaction { place: "history".to_owned(), kind, unknown: Unknown::new() };
            redactions.extend(kinds.into_iter().map(redaction));
        }
        redactions
    }

    /// What it would say with this packing: for weighing one packing against another before sealing.
    pub fn packed(&self, packing: Packing) -> Body {
        let mut body = self.body.clone();
        pack(&mut body, packing);
        body
    }

    /// Counts, digests and closes. Fails rather than exceed the budget (R5).
    pub fn seal(self, packing: Packing) -> Result<Envelope, SealError> {
        let mut body = self.body;
        pack(&mut body, packing);
        let needed = count(&body.assembly.tokenizer, &render(&body, &body.assembly.format)?)?;
        let max_tokens = body.assembly.max_tokens;
        if needed > max_tokens {
            return Err(SealError::OverBudget { needed, max_tokens });
        }
        body.assembly.tokens = needed;
        wellformed::check(&body)?;
        let mut value = to_value(&body)?;
        body.digest = digest_of(&value)?;
        if let Some(members) = value.as_object_mut() {
            members.insert("digest".to_owned(), Value::String(body.digest.to_string()));
        }
        let canonical = json::canonical(&value)?;
        Ok(Envelope::sealed(body, canonical))
    }
}

fn pack(body: &mut Body, packing: Packing) {
    body.memories = packing.memories.into_iter().map(with_text_digest).collect();
    body.assembly.strategy = packing.strategy;
    body.assembly.tokenizer = packing.tokenizer;
    body.assembly.format = packing.format;
    body.assembly.omitted = packing.omitted;
    body.completeness = packing.completeness;
    body.trimmed = packing.trimmed;
    body.redactions = packing.redactions;
}

fn with_text_digest(mut memory: PackedMemory) -> PackedMemory {
    if let (Some(salt), Some(text)) = (&memory.salt, &memory.text) {
        memory.text_digest = Some(Digest::of_salted_text(salt, text));
    }
    memory
}
