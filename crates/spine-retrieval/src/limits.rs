//! Every bound of the index, with its unit last.

/// Memories that are written to the index but not committed; when it fills, a commit follows.
pub const TAIL_MEMORIES_MAX: usize = 4_096;
/// The same while a workspace is read from its beginning, where commits would cost more than they give.
pub const BULK_TAIL_MEMORIES_MAX: usize = 65_536;
/// Up to so many memories that pass the filter are scored one by one; above, postings lead to them.
pub const DIRECT_MEMORIES_MAX: usize = 8_192;
/// Up to so many vectors of a workspace are compared exactly.
pub const EXACT_VECTORS_MAX: usize = 50_000;
/// Vectors that a scan of sign bits picks for the exact comparison.
pub const PICKED_VECTORS_MAX: usize = 2_000;
/// Terms of one query that count; the rest is not looked at.
pub const QUERY_TERMS_MAX: usize = 256;
/// Texts that are embedded in one call.
pub const EMBED_TEXTS_MAX: usize = 256;
/// The highest number of a memory that can be indexed.
pub const MEMORY_NUMBER_MAX: u64 = u32::MAX as u64 - 1;
/// Memory of the index writer.
pub const WRITER_BYTES: usize = 64 * 1024 * 1024;
/// How often a search starts again because the index was rebuilt under it.
pub const SEARCH_RESTARTS_MAX: usize = 8;
