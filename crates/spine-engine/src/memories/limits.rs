//! Every bound of a memory, with its unit last. The text's own is the protocol's.

pub use spine_protocol::limits::MEMORY_TEXT_BYTES_MAX;

/// A title.
pub const TITLE_BYTES_MAX: usize = 1024;
/// A summary that the author gives.
pub const SUMMARY_BYTES_MAX: usize = 16 * 1024;
/// Tags of one memory.
pub const TAGS_MAX: usize = 64;
/// Metadata as JSON.
pub const METADATA_BYTES_MAX: usize = 16 * 1024;
/// Arrays and objects inside each other in metadata.
pub const METADATA_DEPTH_MAX: usize = spine_protocol::limits::JSON_DEPTH_MAX;
/// Memories stored in one request.
pub const STORE_MEMORIES_MAX: usize = 5_000;
/// Memories asked for by id in one request.
pub const GET_MEMORIES_MAX: usize = 5_000;
/// Rows that are read in one go for them, or for a search.
pub const READ_TOGETHER: usize = 128;
/// The texts of all memories in one answer that is no page.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A search's own words.
pub const QUERY_BYTES_MAX: usize = 32 * 1024;
/// How often to plan again when another writer was first.
pub const RACE_ATTEMPTS_MAX: usize = 32;
pub use crate::idempotency::IDEMPOTENCY_KEPT;
