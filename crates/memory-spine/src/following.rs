//! The index of a workspace that is written to stays close behind, so that whoever searches need not read first what others
//! wrote. Only with the built-in embedding: an endpoint is asked seldom, for many vectors at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use spine_protocol::WorkspaceName;
use spine_retrieval::SearchIndex;
use spine_store::{Change, StoreError, all_workspaces};
use tokio::runtime::Handle;

use crate::house::{House, off_the_workers};

/// Between two reads of what is new, unless there is much.
const FOLLOW_EVERY: Duration = Duration::from_millis(20);
/// Reads between two looks at which workspaces are written to.
const READS: u32 = 50;
/// Those beyond are left to the rounds of housekeeping.
const FOLLOWED_MAX: usize = 32;

/// Where each workspace was at the last look.
type Seen = HashMap<WorkspaceName, Change>;

/// Goes on until it is dropped.
pub async fn follow_writes(house: Arc<House>) {
    let mut seen = None;
    loop {
        if let Err(error) = follow_for_a_while(&house, &mut seen).await {
            tracing::warn!(detail = error.detail(), "the index does not follow: {error}");
            tokio::time::sleep(FOLLOW_EVERY * READS).await;
        }
    }
}

async fn follow_for_a_while(house: &House, seen: &mut Option<Seen>) -> Result<(), StoreError> {
    let busy = busy(house, seen).await?;
    if busy.is_empty() {
        tokio::time::sleep(FOLLOW_EVERY * READS).await;
        return Ok(());
    }
    let mut is_bulk = false;
    for _ in 0..READS {
        if !is_bulk {
            tokio::time::sleep(FOLLOW_EVERY).await;
        }
        is_bulk = read(house, busy.clone()).await?;
    }
    Ok(())
}

/// Those that were written to since the last look; before the first, nobody knows.
async fn busy(house: &House, seen: &mut Option<Seen>) -> Result<Vec<WorkspaceName>, StoreError> {
    let now = all_workspaces(house.store.as_ref()).await?;
    let now: Seen = now.into_iter().map(|state| (state.name, state.newest)).collect();
    let before = seen.replace(now.clone());
    let Some(before) = before else { return Ok(Vec::new()) };
    let moved = now.into_iter().filter(|(name, newest)| before.get(name) != Some(newest));
    Ok(moved.map(|(name, _)| name).take(FOLLOWED_MAX).collect())
}

/// Whether there is more already.
async fn read(house: &House, workspaces: Vec<WorkspaceName>) -> Result<bool, StoreError> {
    let follow_all = move |index: &SearchIndex, handle: &Handle| {
        let follow = |is_bulk, workspace| Ok(handle.block_on(index.follow(workspace))? || is_bulk);
        workspaces.iter().try_fold(false, follow)
    };
    off_the_workers(house.index.clone(), follow_all).await
}

#[cfg(test)]
mod tests {
    use spine_store::{Command, MemoryBody, MemoryDraft, Put, Retriever, Store};

    use super::*;
    use crate::house::house_in;

    async fn store_one(house: &House, workspace: &WorkspaceName) {
        let mut command = Command::new(workspace.clone(), house.store.now());
        let body = MemoryBody { text: "The gateway retries.".into(), ..MemoryBody::default() };
        command.puts.push(Put::NewMemory(Box::new(MemoryDraft { body, content: None })));
        house.store.apply(vec![command]).await.unwrap().pop().unwrap().unwrap();
    }

    /// A burst of writes was read by whoever searched next, up to five seconds later.
    #[tokio::test]
    async fn the_index_has_what_was_written_before_anybody_searches() {
        let folder = tempfile::tempdir().unwrap();
        let (house, workspace) = (house_in(folder.path()), "default".parse().unwrap());
        store_one(&house, &"elsewhere".parse().unwrap()).await;
        let mut seen = None;
        assert!(busy(&house, &mut seen).await.unwrap().is_empty());
        store_one(&house, &workspace).await;
        let moved = busy(&house, &mut seen).await.unwrap();
        assert_eq!(moved, std::slice::from_ref(&workspace));
        assert!(!read(&house, moved).await.unwrap());
        let status = house.index.status(&workspace).await.unwrap();
        assert_eq!((status.indexed, status.memories), (status.newest, 1));
        assert!(busy(&house, &mut seen).await.unwrap().is_empty());
    }
}
