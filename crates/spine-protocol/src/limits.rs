//! Every bound of the protocol, with its unit last.

/// One envelope on the wire or in a store.
pub const ENVELOPE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Arrays and objects inside each other, in anything that is read.
pub const JSON_DEPTH_MAX: usize = 64;
/// The largest integer that every JSON reader keeps exactly: 2^53 - 1.
pub const JSON_INTEGER_MAX: u64 = (1 << 53) - 1;
/// Names of agents, workspaces and constraints.
pub const NAME_BYTES_MAX: usize = 128;
/// Subjects, formats, reasons and other short texts.
pub const SHORT_TEXT_BYTES_MAX: usize = 1024;
/// The user's request.
pub const INTENT_BYTES_MAX: usize = 256 * 1024;
/// What the receiver is to do now.
pub const SUMMARY_BYTES_MAX: usize = 256 * 1024;
/// One memory's text.
pub const MEMORY_TEXT_BYTES_MAX: usize = 256 * 1024;
/// Envelopes joined in one child.
pub const PARENTS_MAX: usize = 256;
/// Memories in one envelope.
pub const MEMORIES_MAX: usize = 2_000;
/// Steps on record in one envelope.
pub const HISTORY_ENTRIES_MAX: usize = 10_000;
/// Constraints in one envelope, and waivers likewise.
pub const CONSTRAINTS_MAX: usize = 256;
/// Progress notes, decisions, questions, gaps and trimmed items: each list.
pub const LIST_ENTRIES_MAX: usize = 10_000;
/// The highest hop limit that can be asked for.
pub const HOPS_MAX: u32 = 1_000;
/// The hop limit of a root that names none.
pub const HOPS_DEFAULT: u32 = 10;
/// The largest budget.
pub const BUDGET_TOKENS_MAX: u32 = 10_000_000;
/// Words whose tokens are remembered by one thread for each tokenizer, 16 bytes each.
pub const REMEMBERED_WORDS_MAX: usize = 16 * 1024;
/// The budget where neither the call, nor the target, nor a parent names one.
pub const BUDGET_TOKENS_DEFAULT: u32 = 4_000;
