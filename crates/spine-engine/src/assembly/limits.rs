//! Every bound of assembly, with its unit last.

/// Useful memories that travel beside those asked for, if not said otherwise.
pub const RECENT_MEMORIES_DEFAULT: usize = 20;
/// The most useful memories that can be asked for.
pub const RECENT_MEMORIES_MAX: usize = 500;
/// Pinned memories of one workspace and subject that one envelope can carry.
pub const PINS_MAX: usize = 500;
/// Memories asked for by id, mention, history and inheritance together.
pub const REFERENCES_MAX: usize = 1_000;
/// Parents of one envelope.
pub const PARENTS_MAX: usize = spine_protocol::limits::PARENTS_MAX;
/// The newest memories that are weighed beside what the search finds.
pub const NEWEST_MEMORIES_WEIGHED: usize = 100;
/// What the search is asked for at the least, so that recency and priority have something to choose from.
pub const HITS_WEIGHED_MIN: usize = 200;
/// Hits that are read at first, beyond as many as are asked for: most of the time no other could be chosen.
pub const HITS_READ_AHEAD: usize = 16;
/// Token counts that are remembered.
pub const REMEMBERED_COUNTS_MAX: usize = 65_536;
/// The longest query that is sent to the search.
pub const QUERY_BYTES_MAX: usize = 4 * 1024;
/// How long a handoff waits for the search; then it goes without, and says so.
pub const SEARCH_WAIT_MAX: std::time::Duration = std::time::Duration::from_millis(500);
/// Aspects of a summary that are searched for by themselves.
pub const ASPECTS_ASKED_MAX: usize = 6;
/// Hits that the search is asked for with one aspect: its best ones.
pub const ASPECT_HITS: usize = 20;
