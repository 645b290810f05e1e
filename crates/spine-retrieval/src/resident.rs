//! Which workspaces are loaded.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use spine_protocol::WorkspaceName;

use crate::limits::RESIDENT_MEMORIES_MAX;
use crate::space::Space;

pub(crate) type SharedSpace = Arc<RwLock<Space>>;

/// The loaded workspaces, bounded by the memories in them.
#[derive(Default)]
pub(crate) struct Resident {
    spaces: HashMap<WorkspaceName, Loaded>,
    uses: u64,
}

struct Loaded {
    space: SharedSpace,
    /// As of loading: a bound that is roughly kept is enough.
    memories: usize,
    used: u64,
}

impl Resident {
    /// A workspace that is loaded.
    pub(crate) fn get(&mut self, workspace: &WorkspaceName) -> Option<SharedSpace> {
        self.uses += 1;
        let loaded = self.spaces.get_mut(workspace)?;
        loaded.used = self.uses;
        Some(loaded.space.clone())
    }

    /// Keeps a workspace, unless it is there already, and answers the one that is kept.
    pub(crate) fn insert(
        &mut self,
        workspace: &WorkspaceName,
        space: SharedSpace,
        memories: usize,
    ) -> SharedSpace {
        if let Some(first) = self.get(workspace) {
            return first;
        }
        self.make_room(memories);
        let loaded = Loaded { space: space.clone(), memories, used: self.uses };
        self.spaces.insert(workspace.clone(), loaded);
        space
    }

    fn make_room(&mut self, memories: usize) {
        let mut total: usize = memories + self.spaces.values().map(|l| l.memories).sum::<usize>();
        while total > RESIDENT_MEMORIES_MAX {
            let oldest = self.spaces.iter().min_by_key(|(_, loaded)| loaded.used);
            let Some(oldest) = oldest.map(|(workspace, _)| workspace.clone()) else { return };
            total -= self.spaces.remove(&oldest).map_or(0, |loaded| loaded.memories);
        }
    }

    /// Lets go of a workspace that has to be loaded again.
    pub(crate) fn forget(&mut self, workspace: &WorkspaceName, space: &SharedSpace) {
        let same = |loaded: &Loaded| Arc::ptr_eq(&loaded.space, space);
        if self.spaces.get(workspace).is_some_and(same) {
            self.spaces.remove(workspace);
        }
    }

    /// Lets go of all.
    pub(crate) fn clear(&mut self) {
        self.spaces.clear();
    }

    /// Every loaded workspace.
    pub(crate) fn all(&self) -> Vec<(WorkspaceName, SharedSpace)> {
        self.spaces.iter().map(|(name, loaded)| (name.clone(), loaded.space.clone())).collect()
    }
}
