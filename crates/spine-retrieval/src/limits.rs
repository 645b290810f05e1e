//! Every bound of the index, with its unit last.

/// Where one way of searching ends and the next begins. None of them changes what words find, but for
/// `read_postings_max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexLimits {
    /// Memories that are in the index but not committed; when there are as many, housekeeping commits. As many are read again
    /// after a restart.
    pub tail_memories_max: usize,
    /// The most there may be, where more come than housekeeping is quick to see: whoever brings them commits, even a search.
    pub bulk_tail_memories_max: usize,
    /// Up to so many memories that pass the filter are scored one by one; above, postings lead there.
    pub direct_memories_max: usize,
    /// Postings that are read for one query. Words so common that theirs do not fit in bring no further
    /// candidates, once there are as many as the next limit says.
    pub read_postings_max: u64,
    /// Memories that lead when the bound of postings is reached, and are scored with every word.
    pub leading_memories_max: usize,
    /// Up to so many vectors of a workspace are compared exactly; above, a scan of sign bits picks.
    pub exact_vectors_max: usize,
}

impl Default for IndexLimits {
    fn default() -> Self {
        Self {
            tail_memories_max: 8_192,
            bulk_tail_memories_max: 262_144,
            direct_memories_max: 8_192,
            read_postings_max: 50_000,
            leading_memories_max: 2_000,
            exact_vectors_max: 50_000,
        }
    }
}

/// Memories of workspaces that are kept loaded, one workspace at least; the longest unused go first.
pub const RESIDENT_MEMORIES_MAX: usize = 4_000_000;
/// In a large workspace one posting is read for so many memories, if that is more than the bound: with
/// fewer, too many of the best were missed.
pub const MEMORIES_PER_READ: u64 = 2;
/// Partial scores that one thread keeps room for between searches, four bytes each; larger workspaces get theirs anew.
pub const KEPT_SUMS_MAX: usize = 262_144;
/// Vectors that a scan of sign bits picks for the exact comparison.
pub const PICKED_VECTORS: usize = 2_000;
/// In a large workspace one vector is picked for so many memories, if that is more.
pub const MEMORIES_PER_PICK: usize = 100;
/// Terms of one query that count; the rest is not looked at.
pub const QUERY_TERMS_MAX: usize = 256;
/// One term; a longer run of letters is found by its beginning.
pub const TERM_BYTES_MAX: usize = 128;
/// Texts that are embedded in one call.
pub const EMBED_TEXTS_MAX: usize = 256;
/// Words whose stems and tokens are remembered by one thread.
pub const REMEMBERED_WORDS_MAX: usize = 16_384;
/// Bytes of a word that is worth remembering.
pub const REMEMBERED_WORD_BYTES_MAX: usize = 32;
/// The highest number of a memory that can be indexed.
pub const MEMORY_NUMBER_MAX: u64 = u32::MAX as u64 - 1;
/// Bytes that wait to be given to tantivy, which can wait longer than those who write and search.
pub const WAITING_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Operations that tantivy is given in one go.
pub const HANDED_OVER_TOGETHER: usize = 1_000;
/// Memory of the index writer.
pub const WRITER_BYTES: usize = 64 * 1024 * 1024;
/// How often a commit is opened that merges keep taking files from.
pub const OPEN_TRIES_MAX: usize = 8;
/// How often a search starts again because the index was rebuilt under it.
pub const SEARCH_RESTARTS_MAX: usize = 8;
