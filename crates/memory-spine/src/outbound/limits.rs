//! Every bound of what calls out, with its unit last.

use std::time::Duration;

use spine_engine::delivery::limits::RESULT_BYTES_MAX;
use spine_server::limits::{PUSH_AGENTS_MAX, PUSHES_SHARED_MAX};

/// One attempt to tell a webhook of an alert: less than a test of all of them may take.
pub const ALERT_REQUEST_MS_MAX: u64 = 8_000;
/// The answer to a push: a result, and what stands around it.
pub const PUSH_ANSWER_BYTES_MAX: usize = RESULT_BYTES_MAX + 64 * 1024;
/// Pushes at once: as many as the server begins.
pub const PUSHES_MAX: usize = PUSH_AGENTS_MAX + PUSHES_SHARED_MAX;
/// One request for vectors in the background.
pub const EMBED_REQUEST_MS_MAX: u64 = 60_000;
/// Texts that a search has embedded while somebody waits; more are left to the background.
pub const EMBED_SEARCH_TEXTS_MAX: usize = 16;
/// How much of a text is embedded when the endpoint refused more.
pub const EMBED_SHORT_TEXT_BYTES_MAX: usize = 4 * 1024;
/// How long an embeddings endpoint that failed is left alone.
pub const EMBED_PAUSE: Duration = Duration::from_secs(30);
/// One request for a summary.
pub const SUMMARY_REQUEST_MS_MAX: u64 = 120_000;
/// Memories that wait for a summary; more are looked for when some have theirs.
pub const SUMMARIES_WAITING_MAX: usize = 1_000;
/// Changed memories that are looked at in one go.
pub const SUMMARY_ROWS: usize = 200;
/// How often memories without a summary are looked for.
pub const SUMMARY_ROUND: Duration = Duration::from_secs(2);
/// How long a chat endpoint that failed is left alone.
pub const SUMMARY_PAUSE: Duration = Duration::from_secs(30);
/// What a webhook answers to an alert is read for its status only.
pub const ALERT_ANSWER_BYTES_MAX: usize = 64 * 1024;
