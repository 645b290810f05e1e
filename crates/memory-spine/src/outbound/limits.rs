//! Every bound of what calls out, with its unit last.

use spine_engine::delivery::limits::RESULT_BYTES_MAX;
use spine_server::limits::{PUSH_AGENTS_MAX, PUSHES_SHARED_MAX};

/// One attempt to tell a webhook of an alert: less than a test of all of them may take.
pub const ALERT_REQUEST_MS_MAX: u64 = 8_000;
/// The answer to a push: a result, and what stands around it.
pub const PUSH_ANSWER_BYTES_MAX: usize = RESULT_BYTES_MAX + 64 * 1024;
/// Pushes at once: as many as the server begins.
pub const PUSHES_MAX: usize = PUSH_AGENTS_MAX + PUSHES_SHARED_MAX;
/// What a webhook answers to an alert is read for its status only.
pub const ALERT_ANSWER_BYTES_MAX: usize = 64 * 1024;
