//! Wakes those who wait for something to happen in a workspace. A wake-up may be missed: whoever waits also
//! looks by itself from time to time.

use spine_protocol::WorkspaceName;
use tokio::sync::broadcast;

use crate::limits::{EVENTS_POLL, WAKE_UPS_MAX};

/// Where something happened.
pub struct Wake(broadcast::Sender<WorkspaceName>);

impl Wake {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(WAKE_UPS_MAX))
    }

    /// Something may have happened there.
    pub fn up(&self, workspace: &WorkspaceName) {
        if self.0.receiver_count() > 0 {
            // Nobody may be left by now, which is fine.
            let _ = self.0.send(workspace.clone());
        }
    }

    /// Listens from now on.
    pub fn listen(&self, workspace: WorkspaceName) -> Listener {
        Listener { workspace, wake_ups: self.0.subscribe() }
    }
}

/// One who waits.
pub struct Listener {
    workspace: WorkspaceName,
    wake_ups: broadcast::Receiver<WorkspaceName>,
}

impl Listener {
    /// Until something may have happened, or it is time to look.
    pub async fn wait(&mut self) {
        // Too late is no loss: the caller looks again either way.
        let _ = tokio::time::timeout(EVENTS_POLL, self.woken()).await;
    }

    async fn woken(&mut self) {
        loop {
            match self.wake_ups.recv().await {
                Ok(workspace) if workspace == self.workspace => return,
                Ok(_) => {}
                // It missed some, or the server is going.
                Err(_) => return,
            }
        }
    }
}
