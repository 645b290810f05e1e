//! Small keyed state that the engine keeps between calls: options, breakers, channels, keys.

use std::str::FromStr;

use spine_protocol::{ParseError, WorkspaceName};

use crate::limits::PAGE_ROWS_MAX;
use crate::{Change, Page, RecordName, StoreError, StoreFuture, UnixMs};

/// What kind of small state. The name is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collection {
    /// What an agent said of itself, and what is set for it.
    Agent,
    /// A target's circuit breaker.
    Breaker,
    /// A channel to publish on.
    Channel,
    /// Who gets what is published.
    Subscriber,
    /// A configured order of agents.
    Pipeline,
    /// A broadcast and its join.
    Publication,
    /// An API key.
    Key,
    /// What a workspace may use, and has used.
    Quota,
    /// What a person is to hear about.
    Alert,
    /// Counts that are kept over a restart.
    Figures,
    /// What was erased, to be replayed on a restored backup.
    Erasure,
    /// That something was erased: a mark for whoever read before that.
    Erased,
    /// What is set for a workspace.
    Setting,
}

impl Collection {
    /// Every collection.
    pub const ALL: [Self; 13] = [
        Self::Agent,
        Self::Breaker,
        Self::Channel,
        Self::Subscriber,
        Self::Pipeline,
        Self::Publication,
        Self::Key,
        Self::Quota,
        Self::Alert,
        Self::Figures,
        Self::Erasure,
        Self::Erased,
        Self::Setting,
    ];

    /// The name as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Breaker => "breaker",
            Self::Channel => "channel",
            Self::Subscriber => "subscriber",
            Self::Pipeline => "pipeline",
            Self::Publication => "publication",
            Self::Key => "key",
            Self::Quota => "quota",
            Self::Alert => "alert",
            Self::Figures => "figures",
            Self::Erasure => "erasure",
            Self::Erased => "erased",
            Self::Setting => "setting",
        }
    }
}

impl FromStr for Collection {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let known = Self::ALL.into_iter().find(|collection| collection.as_str() == text);
        known.ok_or_else(|| ParseError::new("a collection such as `agent`", text))
    }
}

/// Which record. Always within a workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    /// What kind of state.
    pub collection: Collection,
    /// Whose, or which one.
    pub name: RecordName,
}

/// One piece of small state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Which one.
    pub key: RecordKey,
    /// The engine's own JSON; a store does not look inside.
    pub value: Vec<u8>,
    /// When the engine must look at it next; none: never by itself.
    pub due_at: Option<UnixMs>,
    /// The change that last wrote it, and what a write on top of it is guarded by. Zero in a new one.
    pub change: Change,
}

/// Reading records.
pub trait RecordReads {
    /// Those found, in the order asked.
    fn records(
        &self,
        workspace: &WorkspaceName,
        keys: Vec<RecordKey>,
    ) -> StoreFuture<'_, Vec<Record>>;

    /// One collection's records whose names start with the prefix, by name, behind `after`.
    fn list_records(
        &self,
        workspace: &WorkspaceName,
        collection: Collection,
        prefix: String,
        after: Option<RecordName>,
        limit: usize,
    ) -> StoreFuture<'_, Page<Record, RecordName>>;

    /// Records of all workspaces that are due, earliest first; of one moment in any order.
    fn due_records(
        &self,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(WorkspaceName, Record)>>;

    /// When the first record or delivery of any workspace is due.
    fn next_due(&self) -> StoreFuture<'_, Option<UnixMs>>;
}

/// Every record of a collection, by name.
pub async fn all_records<S>(
    store: &S,
    workspace: &WorkspaceName,
    collection: Collection,
) -> Result<Vec<Record>, StoreError>
where
    S: RecordReads + Sync + ?Sized,
{
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let listed = store.list_records(workspace, collection, String::new(), after, PAGE_ROWS_MAX);
        let page = listed.await?;
        found.extend(page.items);
        after = page.next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_collection_is_read_by_the_name_it_is_stored_under() {
        for collection in Collection::ALL {
            assert_eq!(collection.as_str().parse(), Ok(collection));
        }
        assert!("Agent".parse::<Collection>().is_err());
    }
}
