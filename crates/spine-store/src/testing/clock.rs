//! Time that passes when it is told to.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::{Clock, UnixMs};

/// A clock that a test moves.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at this moment.
    pub fn at(now: UnixMs) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Moves it on.
    pub fn advance_ms(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> UnixMs {
        UnixMs(self.0.load(Ordering::SeqCst))
    }
}
