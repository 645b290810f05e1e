//! Everything the server has, shared by all requests.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use spine_engine::assembly::Handoffs;
use spine_engine::delivery::Deliveries;
use spine_engine::health::{Health, Notice};
use spine_engine::lineage::Lineages;
use spine_engine::memories::Memories;
use spine_engine::{Entropy, Timer};
use spine_store::{Retriever, Store, StoreError};
use tokio::sync::{Notify, Semaphore, watch};

use crate::access::keyring::Keyring;
use crate::access::quota::Quotas;
use crate::access::rate::Rates;
use crate::limits::BODIES_BYTES_MAX;
use crate::mcp::Door;
use crate::metrics::Named;
use crate::patience::TokioTimer;
use crate::push::Pusher;
use crate::searches::Searches;
use crate::settings::Settings;
use crate::test_clock::TestClock;
use crate::trace::Traces;
use crate::wake::Wake;
use crate::watch::Notifier;

/// The parts that somebody has to pick: a store, an index of it, a source of randomness.
pub struct Parts {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// An index of the same store.
    pub retriever: Arc<dyn Retriever>,
    /// Ids and salts.
    pub entropy: Arc<Entropy>,
    /// Who is told of alerts; none where nobody is.
    pub notifier: Option<Arc<dyn Notifier>>,
    /// Who pushes deliveries; none where nobody does.
    pub pusher: Option<Arc<dyn Pusher>>,
    /// Who records traces; none where nobody does.
    pub traces: Option<Arc<dyn Traces>>,
    /// The store's clock, where tests move it.
    pub clock: Option<Arc<TestClock>>,
}

/// Everything the server has.
pub struct App {
    /// A name that no other start of a server has.
    pub instance: String,
    /// How it is set up.
    pub settings: Settings,
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// The index, and how long its searches take.
    pub searches: Arc<Searches>,
    /// Storing and searching.
    pub memories: Memories,
    /// Assembling.
    pub handoffs: Handoffs,
    /// Sending, receiving, settling.
    pub deliveries: Deliveries,
    /// Figures, verdict, alerts.
    pub health: Health,
    /// Who is told of alerts.
    pub notifier: Option<Arc<dyn Notifier>>,
    /// Who pushes deliveries.
    pub pusher: Option<Arc<dyn Pusher>>,
    /// An agent may have a webhook that it did not have.
    pub webhooks_changed: Notify,
    /// Who records traces.
    pub traces: Option<Arc<dyn Traces>>,
    /// The store's clock, where tests move it.
    pub clock: Option<Arc<TestClock>>,
    /// Ids.
    pub entropy: Arc<Entropy>,
    /// Reading and verifying.
    pub lineages: Lineages,
    /// Who may do what.
    pub keys: Keyring,
    /// What each key has asked.
    pub rates: Rates,
    /// What each workspace may use.
    pub quotas: Quotas,
    /// Who waits for events.
    pub wake: Wake,
    /// The way in for the Model Context Protocol.
    pub mcp: Door,
    /// How many bytes of bodies may still be read.
    pub body_bytes: Arc<Semaphore>,
    /// How many requests may still come in.
    pub requests: Arc<Semaphore>,
    /// How many streams may still be opened.
    pub streams: Arc<Semaphore>,
    /// Agents that have series of their own among the figures.
    pub named: Named,
    /// Handlers that panicked: each is a defect.
    pub panics: AtomicU64,
    stopping: watch::Sender<bool>,
}

impl App {
    /// Puts the parts together.
    pub async fn open(parts: Parts, settings: Settings) -> Result<Self, StoreError> {
        let Parts { store, retriever, entropy, notifier, pusher, traces, clock } = parts;
        let keys = Keyring::open(store.clone()).await?;
        let searches = Arc::new(Searches::of(retriever));
        let memories = Memories::new(store.clone(), searches.clone());
        let patience: Arc<dyn Timer> = Arc::new(TokioTimer);
        // A search takes the machine's time, whatever the clock says.
        let (found, searching) = (memories.clone(), patience.clone());
        let handoffs = Handoffs::new(store.clone(), found, entropy.clone(), searching);
        let timer = clock.clone().map_or(patience, |clock| clock);
        let (assembling, policy) = (handoffs.clone(), settings.policy);
        let deliveries = Deliveries::new(store.clone(), assembling, entropy.clone(), timer, policy);
        let (known, thresholds) = (deliveries.clone(), settings.thresholds);
        let health = Health::new(store.clone(), known, entropy.clone(), thresholds)
            .with_webhooks(notifier.is_some());
        Ok(Self {
            instance: format!("{:032x}", entropy.next()),
            keys,
            rates: Rates::default(),
            quotas: Quotas::new(store.clone()),
            lineages: Lineages::new(store.clone()),
            wake: Wake::new(),
            mcp: Door::default(),
            body_bytes: Arc::new(Semaphore::new(BODIES_BYTES_MAX)),
            requests: Arc::new(Semaphore::new(settings.requests_max)),
            streams: Arc::new(Semaphore::new(settings.streams_max)),
            named: Named::default(),
            panics: AtomicU64::new(0),
            stopping: watch::Sender::new(false),
            settings,
            store,
            searches,
            memories,
            handoffs,
            deliveries,
            health,
            notifier,
            pusher,
            webhooks_changed: Notify::new(),
            traces,
            clock,
            entropy,
        })
    }

    /// Those who follow events hear of alerts at once.
    pub(crate) fn wake_all(&self, notices: &[Notice]) {
        notices.iter().for_each(|notice| self.wake.up(&notice.workspace));
    }

    /// Tells everybody who waits that the server stops.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
        self.deliveries.stop_waiting();
        self.mcp.stop();
    }

    /// Whether the server stops: nothing new is begun.
    pub fn is_stopping(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Done when the server stops: what waits should answer then.
    pub async fn stopped(&self) {
        let mut stopping = self.stopping.subscribe();
        // The sender is in here: it is not dropped while this waits.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }
}
