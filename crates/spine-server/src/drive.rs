//! What happens to deliveries because time passes: leases run out, retries come up, joins are made.

use std::sync::Arc;
use std::time::Duration;

use spine_store::UnixMs;

use crate::App;
use crate::limits::{DRIVE_PAUSE_MAX, DRIVE_PAUSE_MIN};

/// Does what is due, again and again. A failure is no reason to stop: the store may be back in a moment.
pub async fn drive(app: Arc<App>) {
    let mut pause = DRIVE_PAUSE_MIN;
    loop {
        match run_due(&app).await {
            Some(next) => {
                pause = DRIVE_PAUSE_MIN;
                app.deliveries.until_due(next).await;
            }
            None => {
                tokio::time::sleep(pause).await;
                pause = longer(pause);
            }
        }
    }
}

fn longer(pause: Duration) -> Duration {
    (pause * 2).min(DRIVE_PAUSE_MAX)
}

/// Does what is due now, once; says when there is more, unless it failed.
pub async fn run_due(app: &App) -> Option<Option<UnixMs>> {
    let done = app.deliveries.run_due().await;
    done.inspect_err(|error| tracing::warn!(%error, "what is due could not be done")).ok()
}
