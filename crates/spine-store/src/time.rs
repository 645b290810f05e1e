//! Moments as the server makes them: whole milliseconds, cheap to compare and to copy.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use spine_protocol::Timestamp;

/// Milliseconds since 1970.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMs(pub i64);

/// The last full second that is in the year 9999 in every time zone: later ones may have no spelling.
const WRITABLE_MS_MAX: i64 = 253_402_207_200_000;

impl UnixMs {
    /// The last moment that can be written down.
    pub const MAX: Self = Self(WRITABLE_MS_MAX);

    /// This much later, at most the last moment that can be written down.
    pub fn after(self, duration: Duration) -> Self {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(WRITABLE_MS_MAX);
        Self(self.0.saturating_add(ms).min(WRITABLE_MS_MAX))
    }

    /// As it is written in an envelope or an answer; moments outside the years 1970 to 9999 are clamped.
    pub fn to_timestamp(self) -> Option<Timestamp> {
        Timestamp::from_unix_ms(self.0.clamp(0, WRITABLE_MS_MAX))
    }
}

impl From<&Timestamp> for UnixMs {
    fn from(timestamp: &Timestamp) -> Self {
        Self(timestamp.unix_ms())
    }
}

/// Where a store takes `now` from. The engine has no other clock, so a simulation can own time.
pub trait Clock: Send + Sync {
    /// The present moment.
    fn now(&self) -> UnixMs;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixMs {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixMs(0).after(since_1970)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_can_be_written() {
        assert!(UnixMs(i64::MIN).to_timestamp().is_some());
        assert!(UnixMs(0).after(Duration::MAX).to_timestamp().is_some());
        assert_eq!(UnixMs(1).after(Duration::from_secs(1)), UnixMs(1001));
    }
}
