//! Who waits for what, within this process. A bell says "look again", never what there is to see: the store says that.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use spine_protocol::{AgentName, DeliveryId, WorkspaceName};
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// What can be waited for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Topic {
    /// Work for an agent.
    Inbox(WorkspaceName, AgentName),
    /// A change of a delivery.
    Delivery(WorkspaceName, DeliveryId),
    /// A change of a publication.
    Publication(WorkspaceName, String),
    /// Something that is due at once.
    Due,
}

/// All bells of one engine.
#[derive(Default)]
pub(super) struct Bells {
    topics: Mutex<HashMap<Topic, Arc<Notify>>>,
    stopped: AtomicBool,
}

impl Bells {
    /// Done at the next ring after this call.
    pub(super) fn listen(self: &Arc<Self>, topic: Topic) -> Listener {
        let notify = Arc::clone(self.lock().entry(topic.clone()).or_default());
        let rung = Box::pin(Arc::clone(&notify).notified_owned());
        let mut listener = Listener { rung, bells: Arc::clone(self), topic, notify };
        listener.rung.as_mut().enable();
        listener
    }

    /// Wakes everybody who listens.
    pub(super) fn ring(&self, topic: &Topic) {
        if let Some(notify) = self.lock().get(topic) {
            notify.notify_waiters();
        }
    }

    /// Wakes everybody, whatever they listen for, and lets nobody wait again: the server stops.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.lock().values().for_each(|notify| notify.notify_waiters());
    }

    /// Whether waiting is over.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Topic, Arc<Notify>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who waits.
pub(super) struct Listener {
    rung: std::pin::Pin<Box<OwnedNotified>>,
    bells: Arc<Bells>,
    topic: Topic,
    notify: Arc<Notify>,
}

impl Listener {
    pub(super) async fn heard(&mut self) {
        self.rung.as_mut().await;
    }
}

impl Drop for Listener {
    /// A bell that nobody listens to is taken down, so that their number is that of those who wait.
    fn drop(&mut self) {
        let mut topics = self.bells.lock();
        // The map, this one, and the future in it.
        const OWN: usize = 3;
        if Arc::strong_count(&self.notify) <= OWN {
            topics.remove(&self.topic);
        }
    }
}
