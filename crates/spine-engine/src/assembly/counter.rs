//! Token counts, each made once: the same pieces are weighed again and again, in one handoff and in the next.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use spine_protocol::{Format, TokenizerError, TokenizerName, count};

use super::limits::REMEMBERED_COUNTS_MAX;

/// What stands in Markdown behind a memory's title and behind its details. Neither a letter nor a mark but `/` shares a
/// token with a newline before it, so the counts of the parts add up.
const PARAGRAPH_END: &str = "\n\n";

/// Counts tokens and remembers the counts, by a keyed hash of each text: no text stays here, so none has to be erased
/// from here. A hash that stood for two texts would give a wrong price, never an envelope over its budget: what is
/// sealed is counted anew.
pub(super) struct Counter {
    hasher: RandomState,
    counts: Mutex<LruCache<u64, u32>>,
}

impl Default for Counter {
    fn default() -> Self {
        let limit = NonZeroUsize::new(REMEMBERED_COUNTS_MAX).unwrap_or(NonZeroUsize::MIN);
        Self { hasher: RandomState::default(), counts: Mutex::new(LruCache::new(limit)) }
    }
}

impl Counter {
    /// How many tokens a text takes.
    pub fn count(&self, tokenizer: &TokenizerName, text: &str) -> Result<u32, TokenizerError> {
        let key = self.hasher.hash_one((tokenizer.as_str(), text));
        if let Some(tokens) = self.counts().get(&key) {
            return Ok(*tokens);
        }
        let tokens = count(tokenizer, text)?;
        self.counts().put(key, tokens);
        Ok(tokens)
    }

    fn counts(&self) -> MutexGuard<'_, LruCache<u64, u32>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many tokens a memory's piece takes. Its title is the same in each detail; version and age are those of many
    /// memories; its text, the long part, is the same in the next handoff, and in a summary that is the text itself.
    pub fn count_memory(
        &self,
        tokenizer: &TokenizerName,
        format: &Format,
        piece: &str,
    ) -> Result<u32, TokenizerError> {
        if *format != Format::Markdown {
            return self.count(tokenizer, piece);
        }
        let (title, rest) = after_paragraph(piece);
        let (details, text) = after_paragraph(rest);
        let parts = [title, details, text].into_iter().filter(|part| !part.is_empty());
        parts.map(|part| self.count(tokenizer, part)).sum()
    }
}

fn after_paragraph(text: &str) -> (&str, &str) {
    let end = text.find(PARAGRAPH_END).map_or(text.len(), |at| at + PARAGRAPH_END.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_counts_the_same_in_its_three_parts() {
        let counter = Counter::default();
        let bodies =
            ["a\n\n``` b\n", "/x\n", " \n \n", "`\n", "```\n\n`code`\n", "漢字 🎉\n", "\u{a0}\n"];
        for head in [
            "### ms-1\n\nfull text · 1 day old",
            "### ms-1: `t` /\n\nsummary · by x!",
            "### ms-1: ⟨U+0000⟩ \n\nreference only /",
            "###\n\nfull text \u{a0}",
        ] {
            for body in bodies {
                let piece = format!("{head}\n\n````memory ms-1\n{body}````\n\n");
                for name in
                    [TokenizerName::O200kBase, TokenizerName::Cl100kBase, TokenizerName::Approx]
                {
                    let whole = count(&name, &piece).unwrap();
                    for _ in 0..2 {
                        let parts = counter.count_memory(&name, &Format::Markdown, &piece);
                        assert_eq!(parts, Ok(whole), "{name:?} {piece:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_used_stays_and_what_is_not_is_forgotten() {
        let counter = Counter::default();
        let mut counts = counter.counts();
        for key in 0..REMEMBERED_COUNTS_MAX as u64 * 2 {
            counts.put(key, 1);
            assert_eq!(counts.get(&0), Some(&1));
        }
        assert_eq!(counts.get(&1), None);
        assert!(counts.len() <= REMEMBERED_COUNTS_MAX);
    }
}
