//! A text in short, in its own words: its most central sentences in their order, without a language model.
//!
//! What a handoff loses first are constraints, "do not"s and edge cases, so sentences that carry them are
//! lifted above the rest. Code is shortened to its signatures, a list to its weightiest items, JSON to its
//! keys, a log to its errors. The same text always gives the same summary.

mod cut;
mod json;
mod sentences;
mod units;
mod weight;

pub(crate) use sentences::sentences;
use std::borrow::Cow;
use std::collections::HashSet;

use cut::cut;
use units::{Kind, Unit};
use weight::Weight;

/// The usual length of a summary: about 80 tokens of English.
pub const SUMMARY_CHARS_MAX: usize = 320;
/// Of a longer text only the beginning and the end are read, where its point usually stands.
pub const HEAD_BYTES_MAX: usize = 24 * 1024;
/// See [`HEAD_BYTES_MAX`].
pub const TAIL_BYTES_MAX: usize = 8 * 1024;

/// Less of a sentence than this says too little to be worth its place.
const CUT_CHARS_MIN: usize = 60;
/// Room for "… (n more)" after the items of a list.
const MORE_CHARS_MAX: usize = 16;
/// What stands before code, whose fences are dropped.
const CODE_MARK: &str = "code: ";

/// A summary of at most `chars_max` characters; a text that is no longer comes back unchanged.
/// Empty only for a blank text, or when `chars_max` is 0.
pub fn summarise(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    if let Some(keys) = json::outline(text, chars_max) {
        return keys;
    }
    let units = units_in(text);
    let weights = weight::weigh(&units);
    let chosen = choose(&units, &weights, chars_max);
    if chosen.is_empty() {
        return cut(&units::on_one_line(text.trim()), None, chars_max);
    }
    render(&units, &chosen)
}

fn units_in(text: &str) -> Vec<Unit<'_>> {
    if text.len() <= HEAD_BYTES_MAX + TAIL_BYTES_MAX {
        return units::split(&[text]);
    }
    let head = text.get(..floor_boundary(text, HEAD_BYTES_MAX)).unwrap_or_default();
    let tail = text.get(floor_boundary(text, text.len() - TAIL_BYTES_MAX)..).unwrap_or_default();
    // The tail begins somewhere in a word.
    let tail = tail.find(char::is_whitespace).and_then(|at| tail.get(at..)).unwrap_or(tail);
    units::split(&[head, tail])
}

/// The last boundary between characters that is not after `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// A unit that is in the summary, whole or cut.
struct Chosen<'a> {
    at: usize,
    block: usize,
    text: Cow<'a, str>,
}

/// The weightiest units that fit together, in the order of the text.
fn choose<'a>(units: &'a [Unit<'_>], weights: &[Weight], chars_max: usize) -> Vec<Chosen<'a>> {
    let mut candidates: Vec<(usize, &Unit, &Weight)> = units
        .iter()
        .zip(weights)
        .enumerate()
        .map(|(at, (unit, weight))| (at, unit, weight))
        .collect();
    let worth = |unit: &Unit, weight: &Weight| weight.total / (1.0 + unit.share_of(chars_max));
    // Stable: of two that are worth the same, the first in the text.
    candidates.sort_by(|one, other| worth(other.1, other.2).total_cmp(&worth(one.1, one.2)));
    let mut chosen: Vec<Chosen> = Vec::new();
    let mut blocks_open = HashSet::new();
    let mut chars_left = chars_max;
    for (at, unit, weight) in candidates {
        let opens_block = !blocks_open.contains(&unit.block);
        let room = chars_left.saturating_sub(unit.extra_chars(opens_block));
        let is_first = chosen.is_empty();
        let Some(text) = fitted(unit, weight, room, is_first) else { continue };
        chars_left = room.saturating_sub(text.chars().count());
        blocks_open.insert(unit.block);
        chosen.push(Chosen { at, block: unit.block, text });
    }
    chosen.sort_by_key(|chosen| chosen.at);
    chosen
}

/// A unit as it fits into `room`: whole, or cut if it must not be missing.
fn fitted<'a>(
    unit: &'a Unit<'_>,
    weight: &Weight,
    room: usize,
    is_first: bool,
) -> Option<Cow<'a, str>> {
    if unit.chars <= room {
        return Some(Cow::Borrowed(&unit.text));
    }
    let worth_cutting = room >= CUT_CHARS_MIN && (is_first || weight.constraint_at.is_some());
    // A sentence without end leaves a third for others.
    let room = if is_first { room - room / 3 } else { room };
    worth_cutting.then(|| Cow::Owned(cut(&unit.text, weight.constraint_at, room)))
}

impl Unit<'_> {
    /// How much of the summary it would take: what fills it alone must be worth twice as much.
    fn share_of(&self, chars_max: usize) -> f64 {
        self.chars.min(chars_max) as f64 / chars_max.max(1) as f64
    }

    /// Characters that its place in the summary may need beyond its text, a separator included.
    fn extra_chars(&self, opens_block: bool) -> usize {
        match self.kind {
            Kind::Item if opens_block => 1 + MORE_CHARS_MAX,
            Kind::Code => 1 + CODE_MARK.len(),
            _ => 1,
        }
    }
}

fn render(units: &[Unit<'_>], chosen: &[Chosen<'_>]) -> String {
    let mut summary = String::new();
    let mut block_before = None;
    for (order, Chosen { at, block, text }) in chosen.iter().enumerate() {
        let Some(unit) = units.get(*at) else { continue };
        let opens_block = block_before != Some(*block);
        if order > 0 {
            let same_line = !opens_block && unit.kind == Kind::Sentence;
            summary.push_str(if same_line { space_after(&summary) } else { "\n" });
        }
        if opens_block && unit.kind == Kind::Code {
            summary.push_str(CODE_MARK);
        }
        summary.push_str(text);
        let closes_block = chosen.get(order + 1).is_none_or(|next| next.block != *block);
        if closes_block && unit.kind == Kind::Item {
            summary.push_str(&items_left_out(units, chosen, *block));
        }
        block_before = Some(*block);
    }
    summary
}

/// What stands between a sentence and the next one. Two lines that are no sentences, as in a chat, would
/// run into each other on one line.
fn space_after(text: &str) -> &'static str {
    let text = text.trim_end_matches(['"', '”', ')', '」']);
    if text.ends_with(['。', '！', '？']) {
        ""
    } else if text.ends_with(['.', '!', '?', '…']) {
        " "
    } else {
        "\n"
    }
}

/// " … (3 more)" for the items of a list that are not in the summary.
fn items_left_out(units: &[Unit<'_>], chosen: &[Chosen<'_>], block: usize) -> String {
    // Both are in the order of the blocks.
    let all = units.partition_point(|unit| unit.block <= block)
        - units.partition_point(|unit| unit.block < block);
    let kept = chosen.partition_point(|chosen| chosen.block <= block)
        - chosen.partition_point(|chosen| chosen.block < block);
    match all.saturating_sub(kept) {
        0 => String::new(),
        count => format!(" … ({count} more)"),
    }
}

#[cfg(test)]
mod tests;
