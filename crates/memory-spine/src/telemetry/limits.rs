//! Every bound of telemetry, with its unit last.

/// One export, from its start to the last byte of the answer.
pub const REQUEST_MS_MAX: u64 = 10_000;
/// What a collector answers.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// How long the last spans, and the last figures, may take when the server stops.
pub const STOP_MS_MAX: u64 = 5_000;
