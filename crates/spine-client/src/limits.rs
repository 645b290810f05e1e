//! Every bound of the client, with its unit.

use std::time::Duration;

/// To reach the server.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);
/// For an answer, beyond what a call asks the server to wait.
pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
/// An answer.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Tries of what can be repeated.
pub const TRIES_MAX: u32 = 4;
/// Before the second try; it doubles from there.
pub const BACKOFF_FIRST: Duration = Duration::from_millis(100);
/// Before any try. A server that asks for more is not asked again.
pub const BACKOFF_MAX: Duration = Duration::from_secs(5);
/// Shorter than the server keeps a silent connection, so that none is used while it is being closed.
pub const IDLE_TIME_MAX: Duration = Duration::from_secs(5);
/// Rows of a page.
pub const PAGE_ROWS: usize = 200;
