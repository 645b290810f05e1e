//! Who is there: every open connection counts. A server that nobody needs can end itself.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// How many connections are open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Presence(Arc<watch::Sender<usize>>);

/// One connection, as long as this lives.
pub(crate) struct Guest(Presence);

impl Presence {
    pub(crate) fn enter(&self) -> Guest {
        self.0.send_modify(|open| *open += 1);
        Guest(self.clone())
    }

    /// Done when nobody was there for so long; never without a limit.
    pub(crate) async fn deserted(&self, idle: Option<Duration>) {
        let Some(idle) = idle else { return std::future::pending().await };
        let mut changes = self.0.subscribe();
        loop {
            // The sender is in here: it is not dropped while this waits.
            let _ = changes.wait_for(|open| *open == 0).await;
            if tokio::time::timeout(idle, changes.changed()).await.is_err() {
                return;
            }
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.0.0.send_modify(|open| *open = open.saturating_sub(1));
    }
}
