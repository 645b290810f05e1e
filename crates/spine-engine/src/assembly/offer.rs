//! A memory that could travel, and what each detail of it costs.

use spine_protocol::{
    Body, Detail, Format, MemoryId, PackedMemory, ReadError, Redaction, Salt, SealError, Source,
    Strategy, TokenizerName, Unknown, memory_piece,
};
use spine_store::{Memory, UnixMs};

use super::choose::{Level, Menu};
use super::counter::Counter;
use super::value::{Usefulness, claim, fidelity, is_explicit};
use crate::text::summary::{SUMMARY_CHARS_MAX, summarise};

/// A memory that was gathered.
#[derive(Debug, Clone)]
pub(super) struct Offer {
    pub memory: Memory,
    pub source: Source,
    /// Whether the search found it, and how close.
    pub relevance: Option<f64>,
    pub usefulness: Usefulness,
    /// What was blacked out of its text.
    pub redacted_kinds: Vec<String>,
}

impl Offer {
    /// What was blacked out, as it is listed.
    pub fn redactions(&self) -> impl Iterator<Item = Redaction> + '_ {
        let place = self.id().to_string();
        let redaction = move |kind: &String| Redaction {
            place: place.clone(),
            kind: kind.clone(),
            unknown: Unknown::new(),
        };
        self.redacted_kinds.iter().map(redaction)
    }

    pub fn id(&self) -> MemoryId {
        self.memory.id
    }

    /// The detail it travels in when there is room.
    pub fn natural(&self, strategy: &Strategy) -> Detail {
        match strategy {
            Strategy::Full => Detail::Full,
            Strategy::Summary => Detail::Summary,
            Strategy::Lazy => Detail::Ref,
            // Raw conversation is summarised, never dumped.
            _ if self.memory.body.kind.is_conversation() => Detail::Summary,
            _ => Detail::Full,
        }
    }

    fn value(&self, detail: Detail) -> f64 {
        (claim(&self.source) + self.usefulness.worth()) * fidelity(detail)
    }

    fn text(&self, detail: Detail) -> Option<String> {
        let body = &self.memory.body;
        match detail {
            Detail::Ref => None,
            Detail::Full => Some(body.text.clone()),
            Detail::Summary => Some(
                body.summary.clone().unwrap_or_else(|| summarise(&body.text, SUMMARY_CHARS_MAX)),
            ),
        }
    }
}

/// What prices are told in, and for whom.
pub(super) struct Pricing<'a> {
    pub body: &'a Body,
    pub tokenizer: &'a TokenizerName,
    pub format: &'a Format,
    pub strategy: &'a Strategy,
    pub salt: &'a dyn Fn(MemoryId) -> Salt,
    pub counter: &'a Counter,
}

/// An offer with its levels, from the least to the most detail.
#[derive(Debug, Clone)]
pub(super) struct Priced {
    pub offer: Offer,
    pub natural: Detail,
    pub levels: Vec<PackedMemory>,
}

impl Pricing<'_> {
    /// The level it travels in when there is room, and nothing else: most handoffs fit, and a level costs a count.
    pub fn natural(&self, offer: Offer) -> Result<Priced, SealError> {
        let natural = offer.natural(self.strategy);
        let levels = vec![self.level(&offer, natural)?];
        Ok(Priced { offer, natural, levels })
    }

    /// Every level up to the natural one; a summary that saves nothing is no level.
    pub fn all_levels(&self, priced: Priced) -> Result<Priced, SealError> {
        let Priced { offer, natural, mut levels } = priced;
        if *self.strategy == Strategy::Full {
            return Ok(Priced { offer, natural, levels });
        }
        let cheapest = levels.first().map_or(u32::MAX, |level| level.tokens);
        if natural == Detail::Full {
            let summary = self.level(&offer, Detail::Summary)?;
            if summary.tokens < cheapest {
                levels.insert(0, summary);
            }
        }
        if natural != Detail::Ref {
            levels.insert(0, self.level(&offer, Detail::Ref)?);
        }
        Ok(Priced { offer, natural, levels })
    }

    fn level(&self, offer: &Offer, detail: Detail) -> Result<PackedMemory, SealError> {
        let mut packed = self.packed(offer, detail)?;
        let piece = memory_piece(self.body, &packed, self.format)?;
        packed.tokens = self.counter.count_memory(self.tokenizer, self.format, &piece)?;
        Ok(packed)
    }

    fn packed(&self, offer: &Offer, detail: Detail) -> Result<PackedMemory, ReadError> {
        let (memory, text) = (&offer.memory, offer.text(detail));
        let created_at = UnixMs::to_timestamp(memory.created_at).ok_or_else(|| {
            ReadError::at("/memories", format!("{} has a moment that cannot be written", memory.id))
        })?;
        Ok(PackedMemory {
            id: memory.id,
            version: memory.version,
            detail,
            title: memory.body.title.clone(),
            salt: text.as_ref().map(|_| (self.salt)(memory.id)),
            text,
            text_digest: None,
            priority: memory.body.priority,
            source: offer.source.clone(),
            relevance: offer.relevance,
            tokens: 0,
            created_at,
            occurred_at: memory.body.occurred_at.clone(),
            author: memory.body.author.as_ref().map(ToString::to_string),
            unknown: Unknown::new(),
        })
    }
}

impl Priced {
    pub fn is_explicit(&self) -> bool {
        is_explicit(&self.offer.source)
    }

    pub fn is_pinned(&self) -> bool {
        self.offer.source == Source::Pinned
    }

    pub fn menu(&self, required: bool) -> Menu {
        let level = |packed: &PackedMemory| Level {
            tokens: packed.tokens,
            value: self.offer.value(packed.detail),
        };
        Menu { levels: self.levels.iter().map(level).collect(), required }
    }

    /// What its natural level costs.
    pub fn natural_tokens(&self) -> u32 {
        self.levels.last().map_or(0, |level| level.tokens)
    }
}
