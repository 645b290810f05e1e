//! Every bound of health, with its unit last.

/// Events that are read back at the start, at most: a day of them, or the newest of it.
pub const EVENTS_READ_BACK_MAX: usize = 1_000_000;
/// Events of one page.
pub const EVENTS_ROWS: usize = spine_store::limits::PAGE_ROWS_MAX;
/// Alerts that are kept; the oldest resolved ones go first.
pub const ALERTS_KEPT_MAX: usize = 900;
/// Alerts of one round: one beyond waits for the next.
pub const ALERTS_OPEN_MAX: usize = 500;
/// Deliveries that an alert names.
pub const ALERT_DELIVERIES_MAX: usize = 10;
/// Results of sending that an alert keeps: of ten webhooks, that it opened and that it is over.
pub const ALERT_SENT_MAX: usize = 20;
/// How old what people were to be told may be when a server starts: later it is in the list of alerts only.
pub const ALERT_OWED_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// A note, a name, a reason on an alert.
pub const ALERT_NOTE_BYTES_MAX: usize = 1024;
/// The longest silence.
pub const SILENCE_MS_MAX: u64 = 30 * 24 * 60 * 60 * 1000;
/// Failures in a row to one target that are worth a warning.
pub const FAILURES_IN_A_ROW: u32 = 3;
/// A failed handoff is old news after this long without another.
pub const FAILED_QUIET_MS: u64 = 5 * 60_000;
/// A chain at its limit is old news after this long without another.
pub const HOP_LIMIT_QUIET_MS: u64 = 60 * 60_000;
/// How often a decision is made anew because another engine was first.
pub const RACE_ATTEMPTS_MAX: usize = 16;
