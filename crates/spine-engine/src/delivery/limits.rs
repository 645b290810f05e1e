//! Every bound of delivery, with its unit last. What the spec calls a default can be set for server, agent and handoff.

use std::time::Duration;

/// Leases of one delivery with one agent, unless set.
pub const ATTEMPTS_DEFAULT: u32 = 3;
/// Leases of one delivery with one agent, at most.
pub const ATTEMPTS_MAX: u32 = 100;
/// How long a lease lives without a heartbeat, unless set.
pub const LEASE_MS_DEFAULT: u64 = 60_000;
/// The shortest lease: less would run out on the way.
pub const LEASE_MS_MIN: u64 = 1_000;
/// The longest lease.
pub const LEASE_MS_MAX: u64 = 12 * 60 * 60 * 1000;
/// The longest backoff of a first retry, unless set.
pub const BACKOFF_FIRST_MS_DEFAULT: u64 = 1_000;
/// The longest backoff of any retry, unless set.
pub const BACKOFF_MS_DEFAULT_MAX: u64 = 30_000;
/// No backoff is longer, whoever asks for it.
pub const BACKOFF_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// How long a direct handoff waits for somebody to take it before that is an attempt, unless set.
pub const TAKE_MS_DEFAULT: u64 = 15_000;
/// How long a handoff waits in a queue before it is parked, unless set.
pub const PENDING_MS_DEFAULT: u64 = 24 * 60 * 60 * 1000;
/// How long a handoff can be made to wait in a queue.
pub const PENDING_MS_MAX: u64 = 90 * 24 * 60 * 60 * 1000;
/// Fallback agents of one delivery.
pub const FALLBACKS_MAX: usize = 16;
/// Protocol versions that a webhook names.
pub const VERSIONS_MAX: usize = 16;
/// One of them.
pub const VERSION_CHARS_MAX: usize = 16;
/// Of what an agent is for.
pub const DESCRIPTION_CHARS_MAX: usize = 1_024;
/// Deliveries that ran out of attempts in a row, until the breaker opens.
pub const BREAKER_FAILURES_MAX: u32 = 3;
/// How long a breaker stays open before a probe.
pub const BREAKER_OPEN_MS: u64 = 60_000;
/// Attempts kept in the story of a delivery; older ones are counted.
pub const ATTEMPTS_KEPT_MAX: usize = 100;
/// Progress notes kept in the story of a delivery; older ones are counted.
pub const PROGRESS_KEPT_MAX: usize = 50;
/// Reasons kept of a parked delivery; older ones stay in the audit log.
pub const PARKED_REASONS_MAX: usize = 20;
/// A reason, a question, a note.
pub const REASON_BYTES_MAX: usize = 4096;
/// A checkpoint, as JSON.
pub const CHECKPOINT_BYTES_MAX: usize = 256 * 1024;
/// A result, as JSON.
pub const RESULT_BYTES_MAX: usize = 1024 * 1024;
/// Deliveries of one receive.
pub const RECEIVE_MAX: usize = 100;
/// How long one receive or one wait may take.
pub const WAIT_MAX: Duration = Duration::from_secs(300);
/// How often a wait looks by itself: another server on the same store may have done what is waited for.
pub const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Ready deliveries that are read ahead for one agent.
pub const READ_AHEAD_MAX: usize = 64;
/// Deliveries of one send, acknowledgement or review of many.
pub const BATCH_MAX: usize = 1_000;
/// Receivers of one publication.
pub const RECEIVERS_MAX: usize = 1_000;
/// Steps of a pipeline.
pub const PIPELINE_STEPS_MAX: usize = 64;
/// Envelopes of one lineage that are read together; deliveries and events likewise. One with more is refused, never read in part.
pub const LINEAGE_ROWS_MAX: usize = 100_000;
/// Writes of an erasure in one command.
pub const ERASED_TOGETHER: usize = 500;
/// Due rows that are looked at in one go.
pub const DUE_ROWS_MAX: usize = 256;
/// How often a decision is made anew because another writer was first.
pub const RACE_ATTEMPTS_MAX: usize = 64;
