//! Time to wait, from the runtime.

use std::time::Duration;

use spine_engine::{Elapsed, Timer};

/// The runtime's timer.
pub struct TokioTimer;

impl Timer for TokioTimer {
    fn after(&self, duration: Duration) -> Elapsed {
        Box::pin(tokio::time::sleep(duration))
    }
}
