//! A server's way to the disk: slow, refused, or of unknown outcome.

use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use spine_engine::delivery::AgentOptions;
use spine_engine::delivery::breaker::Breaker;
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, MemoryId, WorkspaceName};
use spine_store::testing::{ModelStore, block_on};
use spine_store::{
    Change, Collection, Command, ContentKey, Delivery, DeliveryQuery, DeliveryReads, DeliveryState,
    EnvelopeReads, ErrorKind, Event, EventQuery, IdempotencyKey, IdempotencyRecord, Identity,
    ListQuery, LogReads, Memory, MemoryReads, MemoryRow, Outcome, Page, QueueState, Record,
    RecordKey, RecordName, RecordReads, Store, StoreError, StoreFuture, StoredEnvelope, UnixMs,
    WorkspaceState,
};

use crate::disk::{Disk, Standing};
use crate::lock;
use crate::mutation::Mutation;
use crate::scheduler::{Home, TaskId, step_aside};
use crate::world::World;

type Answer<T> = Result<T, StoreError>;

/// The store as one server sees it.
pub struct SimStore {
    world: World,
    identity: Identity,
}

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Written,
    Refused,
    WrittenUnseen,
    LostUnseen,
    TornUnseen,
}

impl SimStore {
    /// Opened under this identity.
    pub fn new(world: World, identity: Identity) -> Self {
        Self { world, identity }
    }

    fn task(&self) -> TaskId {
        lock(&self.world.orders).current()
    }

    /// Others go first, or time passes.
    async fn hesitate(&self) {
        let weather = self.world.weather();
        let drawn = self.world.below(256);
        if drawn < u64::from(weather.slow) {
            let most = if self.world.chance(10) { 6_000 } else { 300 };
            self.world.rest_ms(most).await;
        } else if drawn < u64::from(weather.aside) {
            step_aside().await;
        }
    }

    fn read<'a, T: Send + 'a>(
        &'a self,
        read: impl FnOnce(&mut Disk, TaskId) -> Answer<T> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        let task = self.task();
        Box::pin(async move {
            self.hesitate().await;
            let refused = self.world.below(2048) < u64::from(self.world.weather().faults);
            if refused {
                return Err(StoreError::new(ErrorKind::Unavailable, "a read was refused"));
            }
            let answer = read(&mut lock(&self.world.disk), task);
            self.hesitate().await;
            answer
        })
    }

    fn plain<'a, T: Send + 'a>(
        &'a self,
        read: impl FnOnce(&ModelStore) -> StoreFuture<'_, T> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        self.read(move |disk, _| block_on(read(&disk.model)))
    }

    fn fate(&self) -> Fate {
        if self.world.below(256) >= u64::from(self.world.weather().faults) {
            return Fate::Written;
        }
        match self.world.below(4) {
            0 => Fate::Refused,
            1 => Fate::WrittenUnseen,
            2 => Fate::LostUnseen,
            _ => Fate::TornUnseen,
        }
    }
}

fn written(
    disk: &mut Disk,
    task: TaskId,
    commands: Vec<Command>,
    fate: Fate,
) -> Answer<Vec<Outcome>> {
    let unseen = || Err(StoreError::new(ErrorKind::OutcomeUnknown, "nobody knows"));
    match fate {
        Fate::Written => Ok(disk.apply(task, commands)),
        Fate::Refused => Err(StoreError::new(ErrorKind::Unavailable, "a write was refused")),
        Fate::WrittenUnseen => {
            disk.apply(task, commands);
            unseen()
        }
        Fate::LostUnseen => unseen(),
        Fate::TornUnseen => {
            let some = commands.len() / 2;
            disk.apply(task, commands.into_iter().take(some).collect());
            unseen()
        }
    }
}

#[derive(Default)]
struct Landing {
    answer: Option<Answer<Vec<Outcome>>>,
    waker: Option<Waker>,
}

impl Store for SimStore {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn now(&self) -> UnixMs {
        self.world.time.now()
    }

    /// Given to the disk at the first poll; whoever stops waiting does not take it back.
    fn apply(&self, commands: Vec<Command>) -> StoreFuture<'_, Vec<Outcome>> {
        let task = self.task();
        Box::pin(async move {
            let fate = self.fate();
            let weather = self.world.weather();
            if self.world.below(256) >= u64::from(weather.slow.max(weather.aside)) {
                return written(&mut lock(&self.world.disk), task, commands, fate);
            }
            let landing = self.launch(task, commands, fate);
            std::future::poll_fn(|context| {
                let mut landing = lock(&landing);
                landing.waker = Some(context.waker().clone());
                landing.answer.take().map_or(Poll::Pending, Poll::Ready)
            })
            .await
        })
    }
}

impl SimStore {
    /// What was under way when the data was set back is lost.
    fn land(
        &self,
        life: u32,
        task: TaskId,
        commands: Vec<Command>,
        fate: Fate,
    ) -> Option<Answer<Vec<Outcome>>> {
        let mut disk = lock(&self.world.disk);
        (disk.life == life).then(|| written(&mut disk, task, commands, fate))
    }

    fn launch(&self, task: TaskId, commands: Vec<Command>, fate: Fate) -> Arc<Mutex<Landing>> {
        let landing = Arc::new(Mutex::new(Landing::default()));
        let (store, told) = (Self::new(self.world.clone(), self.identity.clone()), landing.clone());
        let life = lock(&self.world.disk).life;
        let job = async move {
            store.hesitate().await;
            let Some(answer) = store.land(life, task, commands, fate) else { return };
            store.hesitate().await;
            let mut told = lock(&told);
            told.answer = Some(answer);
            if let Some(waker) = told.waker.take() {
                waker.wake();
            }
        };
        lock(&self.world.orders).spawn(Home::Disk, Box::pin(job));
        landing
    }
}

impl MemoryReads for SimStore {
    fn memory(&self, at: &WorkspaceName, id: MemoryId) -> StoreFuture<'_, Option<MemoryRow>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.memory(&at, id)))
    }

    fn memories(&self, at: &WorkspaceName, ids: Vec<MemoryId>) -> StoreFuture<'_, Vec<MemoryRow>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.memories(&at, ids)))
    }

    fn memory_version(
        &self,
        at: &WorkspaceName,
        id: MemoryId,
        version: u32,
    ) -> StoreFuture<'_, Option<Memory>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.memory_version(&at, id, version)))
    }

    fn memory_versions(
        &self,
        at: &WorkspaceName,
        id: MemoryId,
        after: u32,
        limit: usize,
    ) -> StoreFuture<'_, Page<Memory, u32>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.memory_versions(&at, id, after, limit)))
    }

    fn memories_by_content(
        &self,
        at: &WorkspaceName,
        keys: Vec<ContentKey>,
    ) -> StoreFuture<'_, Vec<(ContentKey, Memory)>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.memories_by_content(&at, keys)))
    }

    fn list_memories(
        &self,
        at: &WorkspaceName,
        query: ListQuery,
    ) -> StoreFuture<'_, Page<Memory, MemoryId>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.list_memories(&at, query)))
    }

    fn memory_changes(
        &self,
        at: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> StoreFuture<'_, Page<MemoryRow, Change>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.memory_changes(&at, after, limit)))
    }
}

impl EnvelopeReads for SimStore {
    fn envelope(
        &self,
        at: &WorkspaceName,
        id: EnvelopeId,
    ) -> StoreFuture<'_, Option<StoredEnvelope>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.envelope(&at, id)))
    }

    fn lineage(
        &self,
        at: &WorkspaceName,
        root: EnvelopeId,
        after: Option<EnvelopeId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<StoredEnvelope, EnvelopeId>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.lineage(&at, root, after, limit)))
    }
}

impl LogReads for SimStore {
    fn newest_change(&self, at: &WorkspaceName) -> StoreFuture<'_, Change> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.newest_change(&at)))
    }

    fn workspaces(
        &self,
        after: Option<WorkspaceName>,
        limit: usize,
    ) -> StoreFuture<'_, Page<WorkspaceState, WorkspaceName>> {
        self.plain(move |model| model.workspaces(after, limit))
    }

    fn events(
        &self,
        at: &WorkspaceName,
        after: Change,
        limit: usize,
    ) -> StoreFuture<'_, Page<Arc<Event>, Change>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.events(&at, after, limit)))
    }

    fn events_of(
        &self,
        at: &WorkspaceName,
        query: EventQuery,
    ) -> StoreFuture<'_, Page<Event, Change>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.events_of(&at, query)))
    }

    fn idempotency(
        &self,
        at: &WorkspaceName,
        key: &IdempotencyKey,
        now: UnixMs,
    ) -> StoreFuture<'_, Option<IdempotencyRecord>> {
        let (at, key) = (at.clone(), key.clone());
        self.read(move |disk, _| match disk.mutation {
            Mutation::KeysIgnored => Ok(None),
            _ => block_on(disk.model.idempotency(&at, &key, now)),
        })
    }
}

impl RecordReads for SimStore {
    fn records(&self, at: &WorkspaceName, keys: Vec<RecordKey>) -> StoreFuture<'_, Vec<Record>> {
        let at = at.clone();
        self.read(move |disk, task| {
            let mut found = block_on(disk.model.records(&at, keys.clone()))?;
            remember(disk, task, &keys, &found);
            found.retain(|record| !disk.mutation.overlooks(record.key.collection));
            Ok(found)
        })
    }

    fn list_records(
        &self,
        at: &WorkspaceName,
        collection: Collection,
        prefix: String,
        after: Option<RecordName>,
        limit: usize,
    ) -> StoreFuture<'_, Page<Record, RecordName>> {
        let at = at.clone();
        self.read(move |disk, _| {
            block_on(disk.model.list_records(&at, collection, prefix, after, limit))
        })
    }

    fn due_records(
        &self,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(WorkspaceName, Record)>> {
        self.plain(move |model| model.due_records(now, limit))
    }

    fn next_due(&self) -> StoreFuture<'_, Option<UnixMs>> {
        self.plain(|model| model.next_due())
    }
}

/// How agents stood when a call last looked: whatever it decides, it decides on that.
fn remember(disk: &mut Disk, task: TaskId, keys: &[RecordKey], found: &[Record]) {
    let Some(meta) = disk.metas.get_mut(&task) else { return };
    for key in keys {
        let Ok(agent) = key.name.as_str().parse::<AgentName>() else { continue };
        let value = found.iter().find(|record| record.key == *key).map(|record| &record.value);
        let standing = meta.standing.entry(agent).or_insert_with(Standing::default);
        match key.collection {
            Collection::Agent => {
                let options =
                    value.and_then(|value| serde_json::from_slice::<AgentOptions>(value).ok());
                standing.paused = options.is_some_and(|options| options.paused);
            }
            Collection::Breaker => {
                let breaker = value.and_then(|value| serde_json::from_slice::<Breaker>(value).ok());
                standing.breaker = breaker.unwrap_or_default();
            }
            _ => {}
        }
    }
}

impl DeliveryReads for SimStore {
    fn deliveries(
        &self,
        at: &WorkspaceName,
        ids: Vec<DeliveryId>,
    ) -> StoreFuture<'_, Vec<Delivery>> {
        let at = at.clone();
        self.read(move |disk, task| {
            let mut found = block_on(disk.model.deliveries(&at, ids.clone()))?;
            if disk.mutation == Mutation::WorkspacesMixed && found.len() < ids.len() {
                let all = block_on(disk.model.workspaces(None, 10))?.items;
                for other in all.iter().filter(|other| other.name != at) {
                    found.extend(block_on(disk.model.deliveries(&other.name, ids.clone()))?);
                }
            }
            if let Some(meta) = disk.metas.get(&task) {
                found.iter_mut().for_each(|row| disk.mutation.read(row, meta));
            }
            Ok(found)
        })
    }

    fn ready_deliveries(
        &self,
        at: &WorkspaceName,
        agent: AgentName,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<Delivery>> {
        let at = at.clone();
        self.read(move |disk, _| {
            if disk.mutation != Mutation::OrderIgnored {
                return block_on(disk.model.ready_deliveries(&at, agent, now, limit));
            }
            let states = vec![DeliveryState::Pending];
            let query = DeliveryQuery { states, agent: Some(agent), limit, ..Default::default() };
            let mut pending = block_on(disk.model.list_deliveries(&at, query))?.items;
            pending.retain(|row| row.visible_at <= now);
            Ok(pending)
        })
    }

    fn next_visible(
        &self,
        at: &WorkspaceName,
        agent: AgentName,
    ) -> StoreFuture<'_, Option<UnixMs>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.next_visible(&at, agent)))
    }

    fn due_deliveries(
        &self,
        now: UnixMs,
        limit: usize,
    ) -> StoreFuture<'_, Vec<(WorkspaceName, Delivery)>> {
        self.plain(move |model| model.due_deliveries(now, limit))
    }

    fn lineage_deliveries(
        &self,
        at: &WorkspaceName,
        root: EnvelopeId,
        after: Option<DeliveryId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<Delivery, DeliveryId>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.lineage_deliveries(&at, root, after, limit)))
    }

    fn list_deliveries(
        &self,
        at: &WorkspaceName,
        query: DeliveryQuery,
    ) -> StoreFuture<'_, Page<Delivery, DeliveryId>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.list_deliveries(&at, query)))
    }

    fn queues(&self, at: &WorkspaceName) -> StoreFuture<'_, Vec<QueueState>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.queues(&at)))
    }

    fn old_roots(
        &self,
        at: &WorkspaceName,
        after: Option<EnvelopeId>,
        limit: usize,
    ) -> StoreFuture<'_, Page<EnvelopeId, EnvelopeId>> {
        let at = at.clone();
        self.read(move |disk, _| block_on(disk.model.old_roots(&at, after, limit)))
    }
}
