//! The circuit breaker of one target in one workspace, as a pure function. It counts only that nobody took or held the work.

use serde::{Deserialize, Serialize};
use spine_protocol::DeliveryId;
use spine_store::UnixMs;

use super::limits::{BREAKER_FAILURES_MAX, BREAKER_OPEN_MS};
use super::policy::later;

/// Where a breaker stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// Work flows.
    #[default]
    Closed,
    /// Work waits.
    Open,
    /// One probe is out.
    HalfOpen,
}

/// A breaker, kept in the store so that all senders and a restart see the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Breaker {
    /// Where it stands.
    pub state: BreakerState,
    /// Deliveries in a row that ran out of attempts.
    pub failures: u32,
    /// Since when it is open.
    pub opened_at: Option<UnixMs>,
    /// When one probe may go, or the next one.
    pub retry_at: Option<UnixMs>,
    /// The delivery that is the probe.
    pub probe: Option<DeliveryId>,
    /// Held open by a person, until a person resets it.
    pub forced: bool,
}

/// Whether work may flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Any.
    All,
    /// One delivery, as a probe.
    Probe,
    /// None before this moment.
    None(UnixMs),
}

impl Breaker {
    /// Whether work may flow now.
    pub fn admits(&self, now: UnixMs) -> Admission {
        match self.state {
            BreakerState::Closed => Admission::All,
            _ if self.forced => Admission::None(UnixMs::MAX),
            BreakerState::Open | BreakerState::HalfOpen => match self.retry_at {
                Some(at) if at > now => Admission::None(at),
                _ => Admission::Probe,
            },
        }
    }

    /// Until when work is held back.
    pub fn held_until(&self, now: UnixMs) -> Option<UnixMs> {
        match self.admits(now) {
            Admission::None(until) => Some(until),
            Admission::All | Admission::Probe => None,
        }
    }

    /// After a delivery ran out of attempts because nobody took or held it.
    pub fn exhausted(&self, now: UnixMs) -> Self {
        let failures = self.failures.saturating_add(1);
        if self.state == BreakerState::Closed && failures < BREAKER_FAILURES_MAX {
            return Self { failures, ..self.clone() };
        }
        self.opened(failures, now)
    }

    /// After the lease on a delivery ran out: of the probe, that is an answer.
    pub fn dropped(&self, delivery: DeliveryId, now: UnixMs) -> Self {
        let probed = self.state == BreakerState::HalfOpen && self.probe == Some(delivery);
        if probed { self.opened(self.failures, now) } else { self.clone() }
    }

    /// After anything was accepted.
    pub fn alive(&self) -> Self {
        if self.forced { self.clone() } else { Self::default() }
    }

    /// When this delivery is the probe. Should nothing come of it, another may follow later.
    pub fn probing(&self, delivery: DeliveryId, now: UnixMs) -> Self {
        let retry_at = Some(later(now, BREAKER_OPEN_MS));
        Self { state: BreakerState::HalfOpen, probe: Some(delivery), retry_at, ..self.clone() }
    }

    /// Opened by a person, until a person resets it.
    pub fn forced_open(&self, now: UnixMs) -> Self {
        Self { forced: true, ..self.opened(self.failures, now) }
    }

    fn opened(&self, failures: u32, now: UnixMs) -> Self {
        let opened_at = self.opened_at.or(Some(now));
        let retry_at = Some(later(now, BREAKER_OPEN_MS));
        let forced = self.forced;
        Self { state: BreakerState::Open, failures, opened_at, retry_at, probe: None, forced }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMs = UnixMs(1_000_000);
    const LATER: UnixMs = UnixMs(1_060_000);

    fn opened() -> Breaker {
        (0..3).fold(Breaker::default(), |breaker, _| breaker.exhausted(NOW))
    }

    fn probe() -> DeliveryId {
        DeliveryId::from_parts(1, 1)
    }

    #[test]
    fn opens_at_the_third_in_a_row_and_lets_one_probe_go_after_a_minute() {
        let two = Breaker::default().exhausted(NOW).exhausted(NOW);
        assert_eq!(two.admits(NOW), Admission::All);
        assert_eq!(opened().admits(NOW), Admission::None(LATER));
        assert_eq!(opened().admits(LATER), Admission::Probe);
        let probing = opened().probing(probe(), LATER);
        assert_eq!(probing.state, BreakerState::HalfOpen);
        assert_eq!(probing.admits(LATER), Admission::None(UnixMs(1_120_000)));
    }

    #[test]
    fn a_probe_that_is_accepted_closes_it_and_one_that_is_dropped_opens_it_again() {
        let probing = opened().probing(probe(), LATER);
        assert_eq!(probing.alive(), Breaker::default());
        assert_eq!(probing.dropped(DeliveryId::from_parts(2, 2), LATER), probing);
        let again = probing.dropped(probe(), LATER);
        assert_eq!((again.state, again.retry_at), (BreakerState::Open, Some(UnixMs(1_120_000))));
        assert_eq!(again.opened_at, Some(NOW));
    }

    #[test]
    fn something_accepted_in_between_starts_the_count_anew() {
        let two = Breaker::default().exhausted(NOW).exhausted(NOW);
        assert_eq!(two.alive().exhausted(NOW).admits(NOW), Admission::All);
    }

    #[test]
    fn one_that_was_forced_open_stays_open() {
        let forced = Breaker::default().forced_open(NOW);
        assert_eq!(forced.admits(UnixMs(i64::MAX)), Admission::None(UnixMs::MAX));
        assert_eq!(forced.alive(), forced);
    }
}
