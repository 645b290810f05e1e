//! One thread, many futures: which one goes on is drawn, and time passes when nobody can.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use spine_engine::{Elapsed, Timer};
use spine_store::testing::ManualClock;
use spine_store::{Clock, UnixMs};

use crate::lock;

/// A future of the simulation.
pub type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Which future is meant.
pub type TaskId = u64;

/// Whose memory a future lives in: it is gone when that one crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// Somebody who calls the servers.
    Client,
    /// A server.
    Engine(usize),
    /// What was given to the disk, which no crash takes back.
    Disk,
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Task {
    id: TaskId,
    home: Home,
    job: Job,
    woken: Arc<Flag>,
    waker: Waker,
}

/// Time, and everything that waits for it.
pub struct Time {
    clock: Arc<ManualClock>,
    timers: Mutex<Timers>,
}

#[derive(Default)]
struct Timers {
    set: u64,
    due: BTreeMap<(i64, u64), Waker>,
}

impl Time {
    /// Time that starts at a moment.
    pub fn at(now: UnixMs) -> Arc<Self> {
        Arc::new(Self { clock: Arc::new(ManualClock::at(now)), timers: Mutex::default() })
    }

    /// The present moment.
    pub fn now(&self) -> UnixMs {
        self.clock.now()
    }

    /// The clock that a store reads.
    pub fn clock(&self) -> Arc<ManualClock> {
        Arc::clone(&self.clock)
    }

    /// Done that many milliseconds later.
    pub fn sleep_ms(self: &Arc<Self>, ms: u64) -> Sleep {
        let until = self.now().after(Duration::from_millis(ms)).0;
        Sleep { time: Arc::clone(self), until, timer: None }
    }

    fn next(&self) -> Option<i64> {
        lock(&self.timers).due.keys().next().map(|(at, _)| *at)
    }

    /// Moves the clock on and wakes whoever waited for that.
    fn advance_to(&self, at: i64) {
        self.clock.advance_ms((at - self.now().0).max(0));
        let now = self.now().0;
        let mut timers = lock(&self.timers);
        let later = timers.due.split_off(&(now + 1, 0));
        let due = std::mem::replace(&mut timers.due, later);
        drop(timers);
        due.into_values().for_each(Waker::wake);
    }
}

/// A wait for a moment.
pub struct Sleep {
    time: Arc<Time>,
    until: i64,
    timer: Option<(i64, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.time.now().0 >= self.until {
            return Poll::Ready(());
        }
        let mut timers = lock(&self.time.timers);
        timers.set += 1;
        let key = self.timer.unwrap_or((self.until, timers.set));
        timers.due.insert(key, context.waker().clone());
        drop(timers);
        self.timer = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.timer {
            lock(&self.time.timers).due.remove(&key);
        }
    }
}

/// The engine's timer, in simulated time.
pub struct SimTimer(pub Arc<Time>);

impl Timer for SimTimer {
    fn after(&self, duration: Duration) -> Elapsed {
        Box::pin(self.0.sleep_ms(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// Lets others go first, once.
pub async fn step_aside() {
    let mut aside = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut aside, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// What a future can ask of the scheduler while it is polled.
#[derive(Default)]
pub struct Orders {
    next: TaskId,
    current: TaskId,
    spawned: Vec<(TaskId, Home, Job)>,
    ended: Vec<TaskId>,
    crashed: Vec<Home>,
    asleep: BTreeMap<usize, i64>,
}

impl Orders {
    /// A new future.
    pub fn spawn(&mut self, home: Home, job: Job) -> TaskId {
        self.next += 1;
        self.spawned.push((self.next, home, job));
        self.next
    }

    /// The future that is being polled.
    pub fn current(&self) -> TaskId {
        self.current
    }

    /// Drops a future wherever it is.
    pub fn end(&mut self, id: TaskId) {
        self.ended.push(id);
    }

    /// Drops everything that lives there.
    pub fn crash(&mut self, home: Home) {
        self.crashed.push(home);
        self.asleep.retain(|engine, _| home != Home::Engine(*engine));
    }

    /// Does not poll a server until then, whatever happens.
    pub fn put_to_sleep(&mut self, engine: usize, until: UnixMs) {
        self.asleep.insert(engine, until.0);
    }

    /// Wakes all servers.
    pub fn wake_all(&mut self) {
        self.asleep.clear();
    }
}

/// Polls one after the other.
pub struct Scheduler {
    time: Arc<Time>,
    orders: Arc<Mutex<Orders>>,
    rng: Arc<Mutex<fastrand::Rng>>,
    tasks: Vec<Task>,
    polls: u64,
}

impl Scheduler {
    /// Over shared time, orders and luck.
    pub fn new(
        time: Arc<Time>,
        orders: Arc<Mutex<Orders>>,
        rng: Arc<Mutex<fastrand::Rng>>,
    ) -> Self {
        Self { time, orders, rng, tasks: Vec::new(), polls: 0 }
    }

    /// How often somebody was polled.
    pub fn polls(&self) -> u64 {
        self.polls
    }

    /// Runs until a moment, or until told to stop, or until nobody will ever wake again.
    pub fn run_until(&mut self, end: UnixMs, mut stop: impl FnMut() -> bool) {
        while self.time.now() < end && !stop() {
            self.follow_orders();
            let ready = self.ready();
            if ready.is_empty() {
                let Some(next) = self.next_moment() else { return };
                self.time.advance_to(next.min(end.0));
                continue;
            }
            let mut rng = lock(&self.rng);
            let chosen = ready.get(rng.usize(0..ready.len())).copied().unwrap_or_default();
            let passes = if rng.u8(..) < 40 { rng.i64(1..8) } else { 0 };
            drop(rng);
            if passes > 0 {
                self.time.advance_to(self.time.now().0 + passes);
            }
            self.poll(chosen);
        }
    }

    fn follow_orders(&mut self) {
        let mut orders = lock(&self.orders);
        let (spawned, ended) =
            (std::mem::take(&mut orders.spawned), std::mem::take(&mut orders.ended));
        let crashed = std::mem::take(&mut orders.crashed);
        let now = self.time.now().0;
        orders.asleep.retain(|_, until| *until > now);
        drop(orders);
        // Dropping a future can give orders of its own.
        self.tasks.retain(|task| !crashed.contains(&task.home));
        self.tasks.extend(spawned.into_iter().map(|(id, home, job)| task(id, home, job)));
        if !ended.is_empty() {
            self.tasks.retain(|task| !ended.contains(&task.id));
        }
    }

    fn ready(&self) -> Vec<usize> {
        let orders = lock(&self.orders);
        let awake = |task: &Task| match task.home {
            Home::Engine(engine) => !orders.asleep.contains_key(&engine),
            _ => true,
        };
        let woken = |task: &Task| task.woken.0.load(Ordering::Relaxed) && awake(task);
        let all = self.tasks.iter().enumerate();
        all.filter(|(_, task)| woken(task)).map(|(index, _)| index).collect()
    }

    fn next_moment(&self) -> Option<i64> {
        let wakes = lock(&self.orders).asleep.values().min().copied();
        wakes.into_iter().chain(self.time.next()).min()
    }

    fn poll(&mut self, index: usize) {
        let Some(task) = self.tasks.get_mut(index) else { return };
        lock(&self.orders).current = task.id;
        task.woken.0.store(false, Ordering::Relaxed);
        self.polls += 1;
        let done = task.job.as_mut().poll(&mut Context::from_waker(&task.waker)).is_ready();
        if done {
            drop(self.tasks.swap_remove(index));
        }
    }
}

fn task(id: TaskId, home: Home, job: Job) -> Task {
    let woken = Arc::new(Flag(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    Task { id, home, job, woken, waker }
}
