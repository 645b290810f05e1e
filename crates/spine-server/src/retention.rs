//! Lineages whose time is over become skeletons, in the background, a few at a time.

use std::sync::Arc;

use spine_engine::delivery::DeliveryError;
use spine_protocol::WorkspaceName;
use spine_store::all_workspaces;

use crate::App;
use crate::limits::RETENTION_ROUND;

/// Goes round all workspaces until it is dropped.
pub async fn prune_lineages(app: Arc<App>) {
    loop {
        tokio::time::sleep(RETENTION_ROUND).await;
        if let Err(error) = prune_round(&app).await {
            tracing::warn!(%error, "old lineages could not be pruned");
        }
    }
}

/// Prunes what is due in every workspace. One that fails holds up no other.
pub async fn prune_round(app: &App) -> Result<(), DeliveryError> {
    for state in all_workspaces(app.store.as_ref()).await? {
        if let Err(error) = prune(app, &state.name).await {
            let workspace = state.name.as_str();
            tracing::warn!(workspace, %error, "old lineages could not be pruned");
        }
    }
    Ok(())
}

async fn prune(app: &App, workspace: &WorkspaceName) -> Result<(), DeliveryError> {
    let (retention, mut after) = (app.settings.retention, None);
    loop {
        let pruned = app.deliveries.prune_some(workspace, after, &retention).await?;
        after = pruned.next;
        if after.is_none() {
            return Ok(());
        }
    }
}
