//! Whose turn it is to load a workspace, or to read what is new in it: what one does, those who wait need not do again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::lock::Mutex as Turn;
use spine_protocol::WorkspaceName;

/// The turns that somebody has or waits for.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<WorkspaceName, Weak<Turn<()>>>>);

impl Turns {
    /// The one of a workspace, to be locked.
    pub(crate) fn of(&self, workspace: &WorkspaceName) -> Arc<Turn<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(workspace).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(Turn::new(()));
        turns.insert(workspace.clone(), Arc::downgrade(&turn));
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> WorkspaceName {
        name.parse().unwrap()
    }

    #[test]
    fn a_workspace_has_one_turn_as_long_as_somebody_wants_it() {
        let turns = Turns::default();
        let other_name = name("b");
        let (first, other) = (turns.of(&name("a")), turns.of(&other_name));
        assert!(Arc::ptr_eq(&first, &turns.of(&name("a"))) && !Arc::ptr_eq(&first, &other));
        let mine = first.try_lock();
        assert!(mine.is_some() && turns.of(&name("a")).try_lock().is_none());
        drop(mine);
        drop(first);
        assert!(turns.of(&name("a")).try_lock().is_some());
        drop(turns.of(&name("c")));
        let mut kept: Vec<_> = turns.0.lock().unwrap().keys().cloned().collect();
        kept.sort();
        assert_eq!(kept, [other_name, name("c")]);
    }
}
