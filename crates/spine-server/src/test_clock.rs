//! A clock that tests move: the machine's, ahead by as much as was asked for. It is the store's clock and the engine's timer at
//! once, so that whoever waits looks again when it moves. A server has one only if it was started for tests.

use std::sync::Arc;
use std::time::Duration;

use spine_engine::delivery::DeliveryError;
use spine_engine::{Elapsed, Timer};
use spine_store::{Clock, SystemClock, UnixMs};
use tokio::sync::{Mutex, watch};

use crate::App;
use crate::limits::{CLOCK_LOOKS, CLOCK_PAUSE_MIN, CLOCK_STEP_MIN, CLOCK_STEPS_MAX};
use crate::retention::prune_round;
use crate::watch::{Seen, watch_round};

/// The machine's clock, moved ahead.
#[derive(Default)]
pub struct TestClock {
    ahead: watch::Sender<Duration>,
    turn: Mutex<()>,
}

impl TestClock {
    /// Hears of every move.
    pub fn moves(&self) -> watch::Receiver<Duration> {
        self.ahead.subscribe()
    }

    /// It is this moment from now on, or later.
    fn advance_to(&self, moment: UnixMs) {
        let left = until(self.now(), moment);
        self.ahead.send_modify(|ahead| *ahead += left);
    }
}

impl Clock for TestClock {
    fn now(&self) -> UnixMs {
        moved(*self.ahead.borrow())
    }
}

impl Timer for TestClock {
    fn after(&self, duration: Duration) -> Elapsed {
        let (mut moves, due) = (self.moves(), self.now().after(duration));
        Box::pin(async move {
            loop {
                let left = until(moved(*moves.borrow_and_update()), due);
                if left.is_zero() {
                    return;
                }
                // Without a clock that could move, the time passes by itself.
                let _ = tokio::time::timeout(left, moves.changed()).await;
            }
        })
    }
}

fn moved(ahead: Duration) -> UnixMs {
    SystemClock.now().after(ahead)
}

fn until(now: UnixMs, moment: UnixMs) -> Duration {
    Duration::from_millis(u64::try_from(moment.0 - now.0).unwrap_or_default())
}

/// Lets time pass. What falls due on the way is done at its moment, one after the other, as if the server had waited;
/// when this returns, everything that was due has been done or set in motion.
pub async fn advance(
    app: &Arc<App>,
    clock: &TestClock,
    by: Duration,
) -> Result<UnixMs, DeliveryError> {
    let _turn = clock.turn.lock().await;
    let (end, pause) = (clock.now().after(by), (by / CLOCK_LOOKS).max(CLOCK_PAUSE_MIN));
    let mut seen = Seen::new();
    for _ in 0..CLOCK_STEPS_MAX {
        let (next, now) = (settle(app, &mut seen).await?, clock.now());
        if now >= end {
            break;
        }
        let next = next.unwrap_or(end).clamp(now.after(CLOCK_STEP_MIN), now.after(pause));
        clock.advance_to(next.min(end));
    }
    clock.advance_to(end);
    settle(app, &mut seen).await?;
    prune_round(app).await?;
    Ok(clock.now())
}

/// Does what is due and looks after health; says when there is more to do.
async fn settle(app: &Arc<App>, seen: &mut Seen) -> Result<Option<UnixMs>, DeliveryError> {
    let next = app.deliveries.run_due().await?;
    watch_round(app, seen).await?;
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    /// A wait that was begun before ends when the clock is moved past it, and not when it is moved less far.
    #[tokio::test]
    async fn who_waits_sees_the_clock_move() {
        let clock = Arc::new(TestClock::default());
        let (near, far) = (clock.after(HOUR), clock.after(HOUR * 3));
        let far = tokio::spawn(far);
        clock.advance_to(clock.now().after(HOUR * 2));
        near.await;
        assert!(!far.is_finished());
        clock.advance_to(clock.now().after(HOUR * 2));
        far.await.unwrap();
    }

    #[tokio::test]
    async fn it_never_goes_back() {
        let clock = TestClock::default();
        let before = clock.now();
        clock.advance_to(UnixMs(0));
        assert!(clock.now() >= before);
    }
}
