//! Looking at memories that lie far apart before they are needed: memory answers many requests in the time of one, but the
//! machine does not see past the arithmetic in between.

use std::hint::black_box;

use crate::space::Space;
use crate::term_key::TermCount;

/// Memories that are fetched together.
pub(crate) const FETCHED_TOGETHER: usize = 16;
/// Bytes that memory gives at a time.
const LINE_BYTES: usize = 64;
const LINE_TERMS: usize = LINE_BYTES / size_of::<TermCount>();

impl Space {
    /// Their vectors.
    #[inline(always)]
    pub(crate) fn fetch_vectors(&self, numbers: &[u32]) {
        let mut seen = 0;
        for number in numbers {
            for value in self.vector(*number).iter().step_by(LINE_BYTES) {
                seen ^= value;
            }
        }
        black_box(seen);
    }

    /// What is kept of them, and their terms.
    pub(crate) fn fetch_terms(&self, numbers: &[u32]) {
        let mut seen = 0;
        for slot in numbers.iter().filter_map(|number| self.slot(*number)) {
            seen ^= u64::from(slot.length);
        }
        for slot in numbers.iter().filter_map(|number| self.slot(*number)) {
            for term in self.terms(slot).iter().step_by(LINE_TERMS) {
                seen ^= term.0;
            }
        }
        black_box(seen);
    }
}
