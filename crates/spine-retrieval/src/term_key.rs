//! A term in eight bytes: 48 bits of its hash and how often it stands in the text.

/// A term's hash in the upper 48 bits and a count in the lower 16: sorts by term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TermCount(pub(crate) u64);

const COUNT_BITS: u32 = 16;
/// A term that stands more often in a text counts as often as this.
pub(crate) const COUNT_MAX: u32 = (1 << COUNT_BITS) - 1;

impl TermCount {
    pub(crate) fn key(self) -> u64 {
        self.0 >> COUNT_BITS
    }

    pub(crate) fn whole_count(self) -> u32 {
        self.0 as u32 & COUNT_MAX
    }

    pub(crate) fn count(self) -> f64 {
        f64::from(self.whole_count())
    }
}

/// FNV-1a, folded to 48 bits: the same on every machine, since it is stored.
pub(crate) fn term_key(term: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = term.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    (hash ^ (hash >> 48)) & ((1 << 48) - 1)
}

/// Each term once with its count, sorted.
pub(crate) fn count_keys(mut keys: Vec<u64>) -> Vec<TermCount> {
    keys.sort_unstable();
    let count = |run: &[u64]| {
        let key = run.first().copied().unwrap_or_default();
        TermCount((key << COUNT_BITS) | (run.len() as u64).min(u64::from(COUNT_MAX)))
    };
    keys.chunk_by(|a, b| a == b).map(count).collect()
}
