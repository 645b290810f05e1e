//! Every key there is, in the store, and a small memory of those that were used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use spine_protocol::WorkspaceName;
use spine_store::{
    Change, Collection, Command, ErrorKind, EventDraft, Put, Record, RecordKey, RecordName, Store,
    StoreError,
};

use super::key::{Key, Token, new_id, new_secret, spelled};
use super::{Need, RESERVED_PREFIX};
use crate::limits::{KEY_REMEMBERED, KEYS_REMEMBERED_MAX};
use crate::problem::{Problem, ProblemKind};

/// The keys of a server.
pub struct Keyring {
    store: Arc<dyn Store>,
    workspace: WorkspaceName,
    remembered: Mutex<HashMap<String, (Arc<Key>, Instant)>>,
    is_used: AtomicBool,
}

/// A key that was just made, or got a new secret: the only time that it can be shown.
pub struct Issued {
    /// What is kept of it.
    pub key: Key,
    /// The key itself.
    pub token: String,
}

impl Keyring {
    /// The keys in a store.
    pub async fn open(store: Arc<dyn Store>) -> Result<Self, StoreError> {
        let unspeakable = |_| StoreError::new(ErrorKind::Unavailable, "no such workspace name");
        let workspace: WorkspaceName =
            format!("{RESERVED_PREFIX}server").parse().map_err(unspeakable)?;
        let keyring = Self {
            store,
            workspace,
            remembered: Mutex::default(),
            is_used: AtomicBool::new(false),
        };
        let any = !keyring.page(None, 1).await?.0.is_empty();
        keyring.is_used.store(any, Ordering::Release);
        Ok(keyring)
    }

    /// Whether there ever was a key: from then on every request needs one.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Acquire)
    }

    /// The key that a token proves.
    pub async fn verify(&self, token: &str) -> Result<Arc<Key>, Problem> {
        let parsed = Token::parse(token).ok_or_else(refused)?;
        let key = self.find(parsed.id).await?.ok_or_else(refused)?;
        let now = self.store.now();
        if key.is_live(now) && key.has_secret(parsed.secret, now) {
            Ok(key)
        } else {
            Err(refused())
        }
    }

    /// One that was used a moment ago is not read again; a revocation here is seen at once.
    async fn find(&self, id: &str) -> Result<Option<Arc<Key>>, StoreError> {
        let known = self.remembered().get(id).cloned();
        if let Some((key, _)) = known.filter(|(_, read_at)| read_at.elapsed() < KEY_REMEMBERED) {
            return Ok(Some(key));
        }
        let Some((key, _)) = self.read(id).await? else { return Ok(None) };
        let key = Arc::new(key);
        let mut remembered = self.remembered();
        if remembered.len() >= KEYS_REMEMBERED_MAX {
            remembered.clear();
        }
        remembered.insert(id.to_owned(), (key.clone(), Instant::now()));
        Ok(Some(key))
    }

    fn remembered(&self) -> MutexGuard<'_, HashMap<String, (Arc<Key>, Instant)>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(&self, id: &str) -> Result<Option<(Key, Change)>, StoreError> {
        let Ok(key) = record_key(id) else { return Ok(None) };
        let found = self.store.records(&self.workspace, vec![key]).await?.pop();
        found.map(|record| Ok((parsed(&record)?, record.change))).transpose()
    }

    /// Keys by their ids, behind `after`.
    pub async fn page(
        &self,
        after: Option<RecordName>,
        limit: usize,
    ) -> Result<(Vec<Key>, Option<RecordName>), StoreError> {
        let page = self
            .store
            .list_records(&self.workspace, Collection::Key, String::new(), after, limit)
            .await?;
        let keys = page.items.iter().map(parsed).collect::<Result<_, _>>()?;
        Ok((keys, page.next))
    }

    /// Makes a key out of what it is to allow.
    pub async fn create(&self, mut key: Key) -> Result<Issued, Problem> {
        let (id, secret) = (new_id().map_err(no_randomness)?, new_secret().map_err(no_randomness)?);
        let now = self.store.now();
        (key.id, key.created_at) = (id, now);
        key.rotate(&secret, now, Duration::ZERO);
        self.write(&key, Change::ZERO, "key.created").await?;
        self.is_used.store(true, Ordering::Release);
        Ok(Issued { token: spelled(&key.id, &secret), key })
    }

    /// Gives a key a new secret; the old one is good for the time of grace.
    pub async fn rotate(&self, id: &str, grace: Duration) -> Result<Issued, Problem> {
        let secret = new_secret().map_err(no_randomness)?;
        let now = self.store.now();
        let key = self.change(id, "key.rotated", |key| key.rotate(&secret, now, grace)).await?;
        Ok(Issued { token: spelled(&key.id, &secret), key })
    }

    /// Ends a key, at once. Twice is once.
    pub async fn revoke(&self, id: &str) -> Result<Key, Problem> {
        let now = self.store.now();
        self.change(id, "key.revoked", |key| key.revoked_at = key.revoked_at.or(Some(now))).await
    }

    /// One key.
    pub async fn get(&self, id: &str) -> Result<Key, Problem> {
        Ok(self.read(id).await?.ok_or_else(|| unknown(id))?.0)
    }

    async fn change(
        &self,
        id: &str,
        event: &'static str,
        change: impl FnOnce(&mut Key),
    ) -> Result<Key, Problem> {
        let (mut key, at) = self.read(id).await?.ok_or_else(|| unknown(id))?;
        change(&mut key);
        let written = self.write(&key, at, event).await;
        self.remembered().remove(id);
        written.map(|()| key)
    }

    async fn write(&self, key: &Key, on: Change, event: &'static str) -> Result<(), Problem> {
        let value = serde_json::to_vec(key)
            .map_err(|error| StoreError::new(ErrorKind::TooLarge, error.to_string()))?;
        let record = Record { key: record_key(&key.id)?, value, due_at: None, change: on };
        let mut command = Command::new(self.workspace.clone(), self.store.now());
        command.puts.push(Put::Record(Box::new(record)));
        let mut noted = EventDraft::new(event);
        noted.data.note("key", &key.id);
        command.events.push(noted);
        for outcome in self.store.apply(vec![command]).await? {
            outcome?;
        }
        Ok(())
    }
}

/// A key that allows nothing yet.
pub fn blank_key(name: String) -> Key {
    Key {
        id: String::new(),
        name,
        scopes: Vec::new(),
        workspaces: Some(Vec::new()),
        secrets: Vec::new(),
        created_at: spine_store::UnixMs(0),
        expires_at: None,
        revoked_at: None,
    }
}

fn record_key(id: &str) -> Result<RecordKey, StoreError> {
    let name = id.parse::<RecordName>();
    let name = name.map_err(|error| StoreError::new(ErrorKind::TooLarge, error.to_string()))?;
    Ok(RecordKey { collection: Collection::Key, name })
}

fn parsed(record: &Record) -> Result<Key, StoreError> {
    serde_json::from_slice(&record.value)
        .map_err(|error| StoreError::new(ErrorKind::Corrupt, error.to_string()))
}

/// One answer for a wrong id, a wrong secret, an expired and a revoked key: a guesser learns nothing.
fn refused() -> Problem {
    let said = "the key is not valid here, has expired or was revoked: send `Authorization: Bearer msk_…` with one that is";
    Problem::new(ProblemKind::Unauthenticated, said)
}

fn unknown(id: &str) -> Problem {
    Problem::new(ProblemKind::NotFound, format!("there is no key {id:?}: list the keys"))
}

fn no_randomness(error: getrandom::Error) -> Problem {
    let said = "the machine gave no randomness, so no key was made: try again";
    Problem::new(ProblemKind::Internal, said).logged(error.to_string())
}

/// What a key must allow, and where.
pub fn check_grant(key: &Key, need: Need, workspace: &WorkspaceName) -> Result<(), Problem> {
    if !key.grants(need) {
        let said =
            format!("this needs the scope `{need}`, which the key does not have: use another key");
        return Err(
            Problem::new(ProblemKind::Forbidden, said).with("needed_scope", need.to_string())
        );
    }
    if !key.covers(workspace) {
        let said =
            "the key is not for this workspace: use another key, or name a workspace of this one";
        return Err(
            Problem::new(ProblemKind::Forbidden, said).with("parameter", super::WORKSPACE_HEADER)
        );
    }
    Ok(())
}
