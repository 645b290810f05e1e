//! Lineages whose time is over become skeletons, in the background, a few at a time.

use std::sync::Arc;

use spine_engine::delivery::{DeliveryError, Retention};
use spine_protocol::WorkspaceName;
use spine_store::limits::PAGE_ROWS_MAX;

use crate::App;
use crate::limits::RETENTION_ROUND;

/// Goes round all workspaces until it is dropped.
pub async fn prune_lineages(app: Arc<App>) {
    loop {
        tokio::time::sleep(RETENTION_ROUND).await;
        if let Err(error) = round(&app).await {
            tracing::warn!(%error, "old lineages could not be pruned");
        }
    }
}

async fn round(app: &App) -> Result<(), DeliveryError> {
    let mut after = None;
    loop {
        let page = app.store.workspaces(after, PAGE_ROWS_MAX).await?;
        for state in page.items {
            prune(app, &state.name).await?;
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn prune(app: &App, workspace: &WorkspaceName) -> Result<(), DeliveryError> {
    let (retention, mut after) = (Retention::default(), None);
    loop {
        let pruned = app.deliveries.prune_some(workspace, after, &retention).await?;
        after = pruned.next;
        if after.is_none() {
            return Ok(());
        }
    }
}
