//! Everything that one simulation shares: time, luck, the disk, and the servers on it.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use spine_engine::Entropy;
use spine_engine::assembly::Handoffs;
use spine_engine::delivery::policy::Policy;
use spine_engine::delivery::{Deliveries, Retention};
use spine_engine::memories::Memories;
use spine_store::testing::ModelRetriever;
use spine_store::{Store, UnixMs};

use crate::calls::Held;
use crate::disk::{Disk, Meta};
use crate::lock;
use crate::mutation::Mutation;
use crate::scheduler::{Home, Orders, Scheduler, SimTimer, TaskId, Time, step_aside};
use crate::store::SimStore;
use crate::watch::Rule;

/// Servers on the one store.
pub const ENGINES: usize = 2;
/// When every simulation begins.
const START: UnixMs = UnixMs(1_768_469_400_000);
/// The end of the story, as it is shown.
const TRACE_LINES_MAX: usize = 80;
/// Between two rounds of pruning.
const PRUNE_MS_MAX: u64 = 6_000;

/// How bad things get, in 256ths.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weather {
    /// Writes that fail, or seem to.
    pub faults: u8,
    /// Calls of the store that take a while.
    pub slow: u8,
    /// Calls of the store before or after which others go first.
    pub aside: u8,
    /// Whether receivers are as good as they can be.
    pub healthy: bool,
}

/// A server: its memory is lost when it crashes.
#[derive(Clone)]
pub struct Server {
    /// Its deliveries.
    pub deliveries: Deliveries,
    /// Its assembly.
    pub handoffs: Handoffs,
}

/// What everybody shares.
pub struct Inner {
    /// Time.
    pub time: Arc<Time>,
    /// What the scheduler is to do.
    pub orders: Arc<Mutex<Orders>>,
    /// Luck.
    pub rng: Arc<Mutex<fastrand::Rng>>,
    /// The data, and who watches it.
    pub disk: Mutex<Disk>,
    /// How bad things are now.
    pub weather: Mutex<Weather>,
    /// Every lease that a receiver was told of: some come back late, or twice.
    pub held: Mutex<Vec<Held>>,
    /// How long lineages are kept, if any is pruned.
    retention: Option<Retention>,
    servers: Mutex<Vec<Option<Server>>>,
    trace: Option<Mutex<VecDeque<String>>>,
}

/// A handle on all of it.
#[derive(Clone)]
pub struct World(pub Arc<Inner>);

impl std::ops::Deref for World {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl World {
    /// A world with an empty disk and no servers.
    pub fn new(seed: u64, mutation: Mutation, traced: bool) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let weather = Weather {
            faults: rng.u8(0..24),
            slow: rng.u8(0..40),
            aside: rng.u8(20..160),
            healthy: false,
        };
        let some_ms = |rng: &mut fastrand::Rng| rng.u64(1..6_000);
        let retention = Retention { ended_ms: some_ms(&mut rng), unsent_ms: some_ms(&mut rng) };
        let retention = rng.bool().then_some(retention);
        let time = Time::at(START);
        Self(Arc::new(Inner {
            disk: Mutex::new(Disk::new(time.clock(), mutation)),
            time,
            orders: Arc::default(),
            rng: Arc::new(Mutex::new(rng)),
            weather: Mutex::new(weather),
            held: Mutex::default(),
            retention,
            servers: Mutex::new(vec![None; ENGINES]),
            trace: traced.then(Mutex::default),
        }))
    }

    /// Whoever polls its futures.
    pub fn scheduler(&self) -> Scheduler {
        let (orders, rng) = (Arc::clone(&self.orders), Arc::clone(&self.rng));
        Scheduler::new(Arc::clone(&self.time), orders, rng)
    }

    /// A number below this one.
    pub fn below(&self, end: u64) -> u64 {
        lock(&self.rng).u64(0..end.max(1))
    }

    /// Whether something of this chance, in percent, happens.
    pub fn chance(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn one_of<'a, T>(&self, all: &'a [T]) -> Option<&'a T> {
        let index = self.below(all.len() as u64);
        all.get(usize::try_from(index).unwrap_or_default())
    }

    /// Waits a while: up to so long.
    pub async fn rest_ms(&self, most: u64) {
        let ms = self.below(most);
        self.time.sleep_ms(ms).await;
    }

    /// How bad things are.
    pub fn weather(&self) -> Weather {
        *lock(&self.weather)
    }

    /// Somebody who calls the servers.
    pub fn spawn(&self, job: impl Future<Output = ()> + Send + 'static) -> TaskId {
        lock(&self.orders).spawn(Home::Client, Box::pin(job))
    }

    /// Writes a line of the story, if anybody reads it.
    pub fn note(&self, line: impl FnOnce() -> String) {
        let Some(trace) = &self.trace else { return };
        let mut trace = lock(trace);
        if trace.len() == TRACE_LINES_MAX {
            trace.pop_front();
        }
        let at = self.time.now().0 - START.0;
        trace.push_back(format!("{at:>7} ms  {}", line()));
    }

    /// The end of the story.
    pub fn story(&self) -> Vec<String> {
        self.trace.as_ref().map(|trace| lock(trace).iter().cloned().collect()).unwrap_or_default()
    }

    /// Something happened that must never happen.
    pub fn fail(&self, rule: Rule, detail: String) {
        lock(&self.disk).watch.fail(rule, detail);
    }

    /// Starts a server, in place of the one before: a new instance, in a new incarnation.
    pub fn start(&self, engine: usize) {
        let identity = lock(&self.disk).open();
        let seed = self.below(u64::MAX);
        let store: Arc<dyn Store> = Arc::new(SimStore::new(self.clone(), identity));
        let server = server(store, seed, Arc::clone(&self.time));
        self.note(|| format!("server {engine} starts"));
        if let Some(slot) = lock(&self.servers).get_mut(engine) {
            *slot = Some(server.clone());
        }
        let home = Home::Engine(engine);
        let (world, deliveries) = (self.clone(), server.deliveries.clone());
        lock(&self.orders).spawn(home, Box::pin(async move { world.keep_time(deliveries).await }));
        let (world, deliveries) = (self.clone(), server.deliveries);
        lock(&self.orders).spawn(home, Box::pin(async move { world.prune(deliveries).await }));
    }

    /// A server's own loop.
    async fn keep_time(&self, deliveries: Deliveries) {
        loop {
            match deliveries.run_due().await {
                Ok(next) => deliveries.until_due(next).await,
                Err(_) => self.time.sleep_ms(50).await,
            }
            step_aside().await;
        }
    }

    /// A server's rounds of pruning.
    async fn prune(&self, deliveries: Deliveries) {
        let Some(retention) = self.retention else { return };
        loop {
            self.rest_ms(PRUNE_MS_MAX).await;
            for workspace in ["north", "south"].iter().filter_map(|name| name.parse().ok()) {
                let round = deliveries.prune_some(&workspace, None, &retention).await;
                let pruned = round.map_or(0, |pruned| pruned.lineages);
                if pruned > 0 {
                    self.note(|| format!("{pruned} lineages of {workspace} are pruned"));
                }
            }
        }
    }

    /// Everything a server had in memory is gone.
    pub fn crash(&self, engine: usize) {
        self.note(|| format!("server {engine} crashes"));
        if let Some(slot) = lock(&self.servers).get_mut(engine) {
            *slot = None;
        }
        lock(&self.orders).crash(Home::Engine(engine));
    }

    /// The end of this world: whoever lives in it holds on to it, and is let go.
    pub fn close(&self) {
        lock(&self.servers).clear();
        let left = std::mem::take(&mut *lock(&self.orders));
        drop(left);
    }

    /// A server that is up.
    pub fn server(&self, engine: usize) -> Option<Server> {
        lock(&self.servers).get(engine).cloned().flatten()
    }

    /// Asks any server; the answer may never come.
    pub fn ask<T, F, A>(&self, meta: Meta, run: F) -> Reply<T>
    where
        T: Send + 'static,
        F: FnOnce(Server) -> A,
        A: Future<Output = T> + Send + 'static,
    {
        let engine = usize::try_from(self.below(ENGINES as u64)).unwrap_or_default();
        let slot = Arc::new(Mutex::new(Slot { answer: None, closed: false, waker: None }));
        let mut reply = Reply { slot: Arc::clone(&slot), world: self.clone(), task: None };
        let Some(server) = self.server(engine) else {
            lock(&slot).closed = true;
            return reply;
        };
        let (answer, open) = (run(server), Open(slot));
        let job = async move {
            let answer = answer.await;
            lock(&open.0).answer = Some(answer);
        };
        let task = lock(&self.orders).spawn(Home::Engine(engine), Box::pin(job));
        lock(&self.disk).metas.insert(task, meta);
        reply.task = Some(task);
        reply
    }
}

fn server(store: Arc<dyn Store>, seed: u64, time: Arc<Time>) -> Server {
    let mut secret = [0; 32];
    secret.iter_mut().zip(seed.to_be_bytes()).for_each(|(to, from)| *to = from);
    let entropy = Arc::new(Entropy::from_seed(secret));
    let retriever = Arc::new(ModelRetriever::new(Arc::clone(&store)));
    let memories = Memories::new(Arc::clone(&store), retriever);
    let timer = Arc::new(SimTimer(time));
    let handoffs = Handoffs::new(Arc::clone(&store), memories, Arc::clone(&entropy), timer.clone());
    let deliveries = Deliveries::new(store, handoffs.clone(), entropy, timer, Policy::default());
    Server { deliveries, handoffs }
}

struct Slot<T> {
    answer: Option<T>,
    closed: bool,
    waker: Option<Waker>,
}

/// The server's end of a call; when it is gone, so is the connection.
struct Open<T>(Arc<Mutex<Slot<T>>>);

impl<T> Drop for Open<T> {
    fn drop(&mut self) {
        let mut slot = lock(&self.0);
        slot.closed = true;
        if let Some(waker) = slot.waker.take() {
            waker.wake();
        }
    }
}

/// The client's end of a call. Nothing comes if the server is gone.
pub struct Reply<T> {
    slot: Arc<Mutex<Slot<T>>>,
    world: World,
    task: Option<TaskId>,
}

impl<T> Future for Reply<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = lock(&self.slot);
        if !slot.closed {
            slot.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(slot.answer.take())
    }
}

impl<T> Drop for Reply<T> {
    /// A client that goes may take its request with it, or leave it running.
    fn drop(&mut self) {
        let Some(task) = self.task else { return };
        if !lock(&self.slot).closed && self.world.chance(50) {
            lock(&self.world.orders).end(task);
        }
    }
}
