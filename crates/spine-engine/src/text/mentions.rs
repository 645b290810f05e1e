//! Which memories a text mentions, one by one (`ms-4821`) or as a range (`ms-4821 through ms-4825`).

use std::collections::HashSet;

use spine_protocol::MemoryId;

/// Memories taken from one range; the rest is counted.
pub const RANGE_MEMORIES_MAX: u64 = 200;

/// The memories that a text mentions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    /// In the order of their first mention, each once.
    pub ids: Vec<MemoryId>,
    /// The ranges of which not all could be taken, each once.
    pub cut: Vec<CutRange>,
}

/// A range longer than [`RANGE_MEMORIES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CutRange {
    /// Where the range begins, as written.
    pub from: MemoryId,
    /// Where the range ends, as written.
    pub to: MemoryId,
    /// How many at its end were not taken.
    pub left_out: u64,
}

/// Finds every mention in `text`.
pub fn mentioned(text: &str) -> Mentions {
    let mut found = Collected::default();
    let mut before = None;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let mention = if joins_a_word(before) { None } else { prefixed_id(rest) };
        match mention {
            Some((id, after)) => rest = found.take_mention(id, after),
            None => rest = after_char(rest, next),
        }
        before = mention.map_or(Some(next), |_| None);
    }
    found.mentions
}

#[derive(Default)]
struct Collected {
    mentions: Mentions,
    ids_seen: HashSet<MemoryId>,
    cuts_seen: HashSet<CutRange>,
}

impl Collected {
    /// Takes an id and the ranges that go on from it (`ms-1 to ms-3 to ms-9`); returns what follows.
    fn take_mention<'a>(&mut self, id: MemoryId, after: &'a str) -> &'a str {
        self.take(id);
        let (mut from, mut rest) = (id, after);
        while let Some((to, after)) = range_end(rest) {
            self.take_range(from, to);
            (from, rest) = (to, after);
        }
        rest
    }

    fn take_range(&mut self, from: MemoryId, to: MemoryId) {
        let last = to.number().min(from.number().saturating_add(RANGE_MEMORIES_MAX - 1));
        let left_out = to.number() - last;
        (from.number()..=last).filter_map(MemoryId::new).for_each(|id| self.take(id));
        if to < from {
            // Backwards: more likely two memories than everything between them.
            self.take(to);
        }
        let cut = CutRange { from, to, left_out };
        if left_out > 0 && self.cuts_seen.insert(cut) {
            self.mentions.cut.push(cut);
        }
    }

    fn take(&mut self, id: MemoryId) {
        if self.ids_seen.insert(id) {
            self.mentions.ids.push(id);
        }
    }
}

/// Whether a mention cannot begin after this character: `items-4821`, `x-ms-4821`.
fn joins_a_word(before: Option<char>) -> bool {
    before.is_some_and(|before| is_word(before) || before == '-')
}

/// Letters and digits of scripts that put spaces between words: `见ms-4821。` is a mention.
fn is_word(c: char) -> bool {
    const CJK_FIRST: char = '\u{2e80}';
    c == '_' || (c < CJK_FIRST && c.is_alphanumeric())
}

/// `ms-4821` at the beginning of `text`, and what follows it.
fn prefixed_id(text: &str) -> Option<(MemoryId, &str)> {
    const PREFIX: &str = "ms-";
    let (prefix, rest) = text.split_at_checked(PREFIX.len())?;
    if prefix.eq_ignore_ascii_case(PREFIX) { number(rest) } else { None }
}

/// An id's number at the beginning of `text`, as ids are written: not `007`, not `7x`.
fn number(text: &str) -> Option<(MemoryId, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_suffix(rest)?;
    let whole = !digits.starts_with('0') && !rest.starts_with(is_word);
    let id = digits.parse().ok().filter(|_| whole).and_then(MemoryId::new)?;
    Some((id, rest))
}

/// The end of a range whose beginning stands just before `text`, and what follows it.
fn range_end(text: &str) -> Option<(MemoryId, &str)> {
    let text = without_marks(text);
    let signs = ["..", "-", "–"].iter().find_map(|sign| text.strip_prefix(sign));
    if let Some(end) = signs.or_else(|| after_word(text, "through")) {
        let end = without_marks(end);
        return prefixed_id(end).or_else(|| bare_end(end));
    }
    // A bare number after "to" is no id: "shorten ms-4821 to 3 lines".
    prefixed_id(without_marks(after_word(text, "to")?))
}

/// `4825` of `ms-4821..4825`, but not the year of `ms-4821-2026-01-15`.
fn bare_end(text: &str) -> Option<(MemoryId, &str)> {
    let (id, rest) = number(text)?;
    let goes_on = |sign| {
        rest.strip_prefix(sign).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if goes_on('-') || goes_on('.') { None } else { Some((id, rest)) }
}

/// What stands after `word`, which has white space on both sides.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let start = Some(text.trim_start()).filter(|start| start.len() < text.len())?;
    let (found, rest) = start.split_at_checked(word.len())?;
    let end = rest.trim_start();
    (found.eq_ignore_ascii_case(word) && end.len() < rest.len()).then_some(end)
}

/// Markdown around ids: "`ms-4821` through `ms-4825`".
fn without_marks(text: &str) -> &str {
    text.trim_start_matches(['`', '*'])
}

fn after_char(text: &str, c: char) -> &str {
    text.get(c.len_utf8()..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<u64> {
        mentioned(text).ids.into_iter().map(MemoryId::number).collect()
    }

    #[test]
    fn single_ids_are_found_at_word_boundaries() {
        let cases: &[(&str, &[u64])] = &[
            ("", &[]),
            ("ms-4821", &[4821]),
            ("See ms-4821, ms-7 and (ms-9).", &[4821, 7, 9]),
            ("MS-4821 and Ms-5", &[4821, 5]),
            ("ms-2 ms-1 ms-2", &[2, 1]),
            ("/v1/memories/ms-12?x=1", &[12]),
            ("`ms-3`: **ms-4**; \"ms-5\"!", &[3, 4, 5]),
            ("见ms-4821。ms-5を読む", &[4821, 5]),
            ("the ms-4821-based design", &[4821]),
            ("ms-4821-", &[4821]),
            ("items-4821 forms-1 x-ms-2 _ms-3 éms-4", &[]),
            ("ms-4821x ms-4_ ms-5é ms- ms-x", &[]),
            ("ms-0 ms-007", &[]),
            ("ms-9007199254740991 ms-9007199254740992", &[9_007_199_254_740_991]),
            ("ms-99999999999999999999999999999", &[]),
            ("ms-ms-5", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(ids(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn every_way_to_write_a_range_is_read() {
        let ways = [
            "ms-4821 through ms-4825",
            "ms-4821 to ms-4825",
            "ms-4821..4825",
            "ms-4821..ms-4825",
            "ms-4821-4825",
            "ms-4821-ms-4825",
            "ms-4821–4825",
            "ms-4821–ms-4825",
            "ms-4821 through 4825",
            "MS-4821 Through\n  MS-4825",
            "`ms-4821` through `ms-4825`",
            "**ms-4821**–**ms-4825**",
            "ms-4821 to ms-4823 to ms-4825",
        ];
        for way in ways {
            let text = format!("Read {way}.");
            assert_eq!(ids(&text), [4821, 4822, 4823, 4824, 4825], "{text:?}");
        }
    }

    #[test]
    fn what_only_resembles_a_range_is_not_one() {
        let cases: &[(&str, &[u64])] = &[
            ("shorten ms-4821 to 3 lines", &[4821]),
            ("ms-4821-2026-01-15", &[4821]),
            ("ms-1..3x", &[1]),
            ("ms-1throughms-3", &[]),
            ("ms-1 throughout ms-3", &[1, 3]),
            ("ms-1 to", &[1]),
            ("ms-5 through ms-3", &[5, 3]),
            ("ms-5..3", &[5, 3]),
            ("ms-5 through ms-5", &[5]),
            ("ms-5..9007199254740992", &[5]),
            ("ms-3. 4 things", &[3]),
        ];
        for (text, expected) in cases {
            assert_eq!(ids(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn a_long_range_is_cut_and_the_rest_counted() {
        let all = mentioned("ms-1 through ms-200");
        assert_eq!((all.ids.len(), all.cut.len()), (200, 0));

        let cut = mentioned("ms-10..1009, again ms-10..1009");
        let id = |number| MemoryId::new(number).unwrap();
        assert_eq!(cut.ids.len(), 200);
        assert_eq!(cut.ids.last(), Some(&id(209)));
        assert_eq!(cut.cut, [CutRange { from: id(10), to: id(1009), left_out: 800 }]);

        let widest = mentioned("ms-1..9007199254740991");
        assert_eq!(widest.cut[0].left_out, 9_007_199_254_740_991 - 200);
    }

    #[test]
    fn random_texts_give_distinct_ids_in_order_and_never_panic() {
        const PIECES: [&str; 20] = [
            "ms-", "MS-", "1", "42", "4821", "900", " ", "  ", "..", "-", "–", "through", "to",
            "`", ".", "é", "见", "x", "\n", "0",
        ];
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..20_000 {
            let length = random.usize(..14);
            let text: String = (0..length).map(|_| PIECES[random.usize(..PIECES.len())]).collect();
            let found = mentioned(&text);
            let distinct: HashSet<_> = found.ids.iter().collect();
            assert_eq!(distinct.len(), found.ids.len(), "{text:?}");
            assert!(found.cut.iter().all(|cut| cut.left_out > 0), "{text:?}");
            // A mention more, apart from the text, is always found and changes nothing before it.
            let more = mentioned(&format!("{text} | ms-77777"));
            assert!(more.ids.starts_with(&found.ids), "{text:?}");
            assert!(more.ids.contains(&MemoryId::new(77_777).unwrap()), "{text:?}");
        }
    }

    #[test]
    fn long_hostile_texts_take_linear_time() {
        for piece in ["ms-1 ", "ms-1 to ", "ms-", "ms-1-", "1", " ", "`", "ms-1`", "ms-99999999999"]
        {
            let text = piece.repeat((256 << 10) / piece.len());
            let began = std::time::Instant::now();
            mentioned(&text);
            assert!(began.elapsed().as_secs() < 2, "{piece:?} took {:?}", began.elapsed());
        }
    }
}
