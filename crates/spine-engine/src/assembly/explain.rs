//! Why each memory is or is not in an envelope.

use serde::{Deserialize, Serialize};
use spine_protocol::{Detail, MemoryId};

use super::choose::Menu;
use super::offer::Priced;
use super::value::{Usefulness, claim};

/// For every memory that was gathered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// In the order of their claims.
    pub memories: Vec<MemoryExplanation>,
    /// What the search had to do without.
    pub degraded: Vec<String>,
}

/// Why one memory is or is not there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryExplanation {
    /// Which.
    pub id: MemoryId,
    /// Why it was gathered.
    pub source: String,
    /// What its source has on a place.
    pub claim: f64,
    /// Relevance, recency and priority.
    pub usefulness: Usefulness,
    /// What each detail costs and is worth; only those that were weighed.
    pub levels: Vec<WeighedLevel>,
    /// The detail it travels in.
    pub chosen: Option<Detail>,
    /// The rule that decided.
    pub rule: String,
}

/// One detail of one memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WeighedLevel {
    /// Which detail.
    pub detail: Detail,
    /// What it costs.
    pub tokens: u32,
    /// What it is worth.
    pub value: f64,
}

impl MemoryExplanation {
    pub(super) fn of(priced: &Priced, chosen: Option<Detail>) -> Self {
        let Menu { levels, .. } = priced.menu(false);
        let weighed = priced.levels.iter().zip(levels).map(|(packed, level)| WeighedLevel {
            detail: packed.detail,
            tokens: packed.tokens,
            value: level.value,
        });
        Self {
            id: priced.offer.id(),
            source: priced.offer.source.to_string(),
            claim: claim(&priced.offer.source),
            usefulness: priced.offer.usefulness,
            levels: weighed.collect(),
            chosen,
            rule: rule(priced, chosen).to_owned(),
        }
    }
}

fn rule(priced: &Priced, chosen: Option<Detail>) -> &'static str {
    match chosen {
        None => "left out: its place in the budget went to memories of more value",
        Some(detail) if detail < priced.natural && priced.is_pinned() => {
            "pinned: travels, with less detail since the pins exceed their half of the budget"
        }
        Some(detail) if detail < priced.natural => {
            "shortened: the budget had room for no more detail"
        }
        Some(_) if priced.is_pinned() => "pinned: always travels",
        Some(Detail::Full) => "travels in full",
        Some(Detail::Summary) => "travels as a summary, as its kind or the strategy asks",
        Some(Detail::Ref) => "travels as a reference, as the strategy asks",
    }
}
