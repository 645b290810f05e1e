//! Which failures are worth another attempt, and when.

use std::time::Duration;

use crate::error::{OutboundError, OutboundErrorKind};
use crate::limits::{
    ATTEMPTS_DEFAULT, BACKOFF_MS_FIRST_DEFAULT, BACKOFF_MS_MAX_DEFAULT, RETRY_AFTER_MS_MAX_DEFAULT,
};

/// How often and how patiently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts, the first included.
    pub attempts_max: u32,
    /// The longest pause after the first attempt; it doubles with each.
    pub backoff_ms_first: u64,
    /// No pause is longer, unless the other side asks for it.
    pub backoff_ms_max: u64,
    /// The longest Retry-After that is waited for; beyond it the failure is final.
    pub retry_after_ms_max: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts_max: ATTEMPTS_DEFAULT,
            backoff_ms_first: BACKOFF_MS_FIRST_DEFAULT,
            backoff_ms_max: BACKOFF_MS_MAX_DEFAULT,
            retry_after_ms_max: RETRY_AFTER_MS_MAX_DEFAULT,
        }
    }
}

impl RetryPolicy {
    /// The pause after a failed attempt (the first is 1), or nothing if the failure is final.
    /// `random` is any number, each time another.
    pub fn pause_ms(&self, attempt: u32, failure: &OutboundError, random: u64) -> Option<u64> {
        if attempt >= self.attempts_max || !may_pass(failure.kind()) {
            return None;
        }
        let jittered = full_jitter_ms(self.ceiling_ms(attempt), random);
        match failure.retry_after_ms() {
            Some(wanted) if wanted > self.retry_after_ms_max => None,
            // Never before the time that was asked for, and not all at that very moment.
            Some(wanted) => Some(wanted.saturating_add(jittered)),
            None => Some(jittered),
        }
    }

    fn ceiling_ms(&self, attempt: u32) -> u64 {
        let factor = 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX);
        self.backoff_ms_first.saturating_mul(factor).min(self.backoff_ms_max)
    }
}

/// Anything from nothing to the ceiling: a crowd that failed together comes back spread out.
fn full_jitter_ms(ceiling_ms: u64, random: u64) -> u64 {
    let scaled = (u128::from(random) * (u128::from(ceiling_ms) + 1)) >> 64;
    u64::try_from(scaled).unwrap_or(ceiling_ms)
}

/// Whether the same request may succeed later without anyone changing anything.
fn may_pass(kind: OutboundErrorKind) -> bool {
    use OutboundErrorKind::{
        AddressRefused, AnswerTooLarge, BadAnswer, BadInput, BadUrl, Busy, CannotConnect, Status,
        TimedOut, TlsFailed,
    };
    match kind {
        CannotConnect | TimedOut | Busy => true,
        Status(status) => matches!(status, 408 | 429 | 500..=599),
        AddressRefused | BadUrl | BadInput | TlsFailed | AnswerTooLarge | BadAnswer => false,
    }
}

/// Attempts something until it succeeds, its failure is final, or the attempts are used up.
/// Time and randomness are the caller's.
pub async fn retrying<T, Attempt, Sleep>(
    policy: RetryPolicy,
    mut random: impl FnMut() -> u64,
    mut sleep: impl FnMut(Duration) -> Sleep,
    mut attempt: impl FnMut(u32) -> Attempt,
) -> Result<T, OutboundError>
where
    Attempt: Future<Output = Result<T, OutboundError>>,
    Sleep: Future<Output = ()>,
{
    let mut number = 1;
    loop {
        let failure = match attempt(number).await {
            Ok(value) => return Ok(value),
            Err(failure) => failure,
        };
        match policy.pause_ms(number, &failure, random()) {
            Some(pause_ms) => sleep(Duration::from_millis(pause_ms)).await,
            None => return Err(failure),
        }
        number += 1;
    }
}
