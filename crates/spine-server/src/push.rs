//! Deliveries are pushed to agents that are registered with a webhook: taken as by any receiver, posted, and settled as the
//! answer says. The loop waits for the agent's bell, never for time alone.

mod answer;

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use spine_engine::Caller;
use spine_engine::delivery::{DeliveryError, ReceiveRequest, Received, Webhook};
use spine_protocol::{AgentName, Major, WorkspaceName};
use spine_store::all_workspaces;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinSet};

use crate::App;
use crate::limits::{
    DRIVE_PAUSE_MAX, DRIVE_PAUSE_MIN, PUSH_AGENTS_LOOK, PUSH_AGENTS_MAX, PUSH_WAIT,
    PUSHES_PER_AGENT_MAX, PUSHES_SHARED_MAX,
};
use crate::operations::receive::{InHands, Shape, accepted_version};
use crate::problem::Problem;
use crate::wire::receive::ReceivedDocument;

/// The name under which the story of a delivery has its pushes.
const HOLDER: &str = "webhook";

/// What is posted.
pub struct Push {
    /// Where to, and what signs it.
    pub webhook: Webhook,
    /// The delivery's id: the same at every attempt.
    pub id: String,
    /// The body, in JSON.
    pub body: Vec<u8>,
    /// For the whole of it.
    pub time_max: Duration,
}

/// What came of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pushed {
    /// A success, and what it says.
    Answered {
        /// The status, from 200 to 299.
        status: u16,
        /// The body.
        body: Vec<u8>,
    },
    /// Another status.
    Refused {
        /// Which.
        status: u16,
        /// In words.
        reason: String,
        /// How long the receiver asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// Somebody was there, and the answer cannot be used.
    Unreadable {
        /// Why.
        reason: String,
    },
    /// Nobody was there.
    Unreached {
        /// Why.
        reason: String,
        /// Whether it stays so until somebody changes something.
        is_final: bool,
    },
    /// This server pushes as much as it can: not the receiver's fault.
    Busy,
}

/// What is wrong with a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadWebhook {
    /// `url` or `secret`.
    pub field: &'static str,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// What comes of pushing.
pub type Pushing<'a> = Pin<Box<dyn Future<Output = Pushed> + Send + 'a>>;

/// Posts deliveries. The server calls nobody itself: whoever puts it together brings this.
pub trait Pusher: Send + Sync {
    /// Whether a webhook can be used, as far as that can be said without calling it.
    fn check(&self, webhook: &Webhook) -> Result<(), BadWebhook>;

    /// Posts once.
    fn push(&self, push: Push) -> Pushing<'_>;
}

/// A delivery as it is posted: as a receiver gets it, with where it is from.
#[derive(Serialize)]
struct PushDocument<'a> {
    r#type: &'static str,
    workspace: &'a WorkspaceName,
    #[serde(flatten)]
    received: ReceivedDocument,
}

/// The newest version that a webhook reads.
pub fn pushed_version(webhook: &Webhook) -> Result<Major, Problem> {
    accepted_version(webhook.accept_versions.as_deref().unwrap_or_default())
}

/// Pushes to every agent that has a webhook, until the server stops; then lets those under way finish.
pub async fn push_deliveries(app: Arc<App>) {
    let Some(pusher) = app.pusher.clone() else { return };
    let shared = Arc::new(Semaphore::new(PUSHES_SHARED_MAX));
    let house = House { app: app.clone(), pusher, shared };
    let (mut tasks, mut known) = (JoinSet::new(), Known::new());
    while !app.is_stopping() {
        if let Err(error) = house.start_new(&mut tasks, &mut known).await {
            tracing::warn!(%error, "agents with webhooks could not be looked for");
        }
        tokio::select! {
            () = app.webhooks_changed.notified() => {}
            () = tokio::time::sleep(PUSH_AGENTS_LOOK) => {}
            // One that lost its webhook may have it back by now.
            Some(_) = tasks.join_next() => {}
            () = app.stopped() => {}
        }
    }
    while tasks.join_next().await.is_some() {}
}

type Known = HashMap<(WorkspaceName, AgentName), AbortHandle>;

/// What pushing takes.
#[derive(Clone)]
struct House {
    app: Arc<App>,
    pusher: Arc<dyn Pusher>,
    /// Places beyond each agent's first.
    shared: Arc<Semaphore>,
}

impl House {
    async fn start_new(
        &self,
        tasks: &mut JoinSet<()>,
        known: &mut Known,
    ) -> Result<(), DeliveryError> {
        known.retain(|_, task| !task.is_finished());
        for state in all_workspaces(self.app.store.as_ref()).await? {
            for agent in self.app.deliveries.pushed_agents(&state.name).await? {
                let key = (state.name.clone(), agent);
                if known.contains_key(&key) {
                    continue;
                }
                if known.len() >= PUSH_AGENTS_MAX {
                    tracing::warn!(agent = %key.1, "no more than {PUSH_AGENTS_MAX} agents are pushed to: this one must receive by itself");
                    continue;
                }
                let (workspace, agent) = key.clone();
                known.insert(key, tasks.spawn(Line::new(self.clone(), workspace, agent).run()));
            }
        }
        Ok(())
    }
}

/// The pushes to one agent.
struct Line {
    house: House,
    caller: Caller,
    agent: AgentName,
    under_way: JoinSet<()>,
}

impl Line {
    fn new(house: House, workspace: WorkspaceName, agent: AgentName) -> Self {
        let caller = Caller { agent: Some(agent.clone()), ..Caller::of(workspace) };
        Self { house, caller, agent, under_way: JoinSet::new() }
    }

    /// Until the server stops or the agent has no webhook any more.
    async fn run(mut self) {
        while !self.house.app.is_stopping() {
            match self.next().await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, agent = %self.agent, "nothing could be taken to push");
                    tokio::time::sleep(DRIVE_PAUSE_MAX).await;
                }
            }
        }
        while self.under_way.join_next().await.is_some() {}
    }

    /// Waits for work and begins to push it; false when the agent has no webhook any more.
    async fn next(&mut self) -> Result<bool, DeliveryError> {
        let (app, workspace) = (self.house.app.clone(), self.caller.workspace.clone());
        let is_work = app.deliveries.until_work(&workspace, &self.agent, PUSH_WAIT).await?;
        let options = app.deliveries.agent_options(&workspace, &self.agent).await?;
        let Some(webhook) = options.webhook else { return Ok(false) };
        if !is_work {
            return Ok(true);
        }
        let place = self.place().await;
        let request = ReceiveRequest {
            holder: Some(HOLDER.to_owned()),
            ..ReceiveRequest::new(self.agent.clone())
        };
        if let Some(received) = app.deliveries.receive(&self.caller, request).await?.pop() {
            app.wake.up(&workspace);
            let errand = Errand::new(&self.house, &self.caller, webhook, received);
            self.under_way.spawn(async move {
                errand.run().await;
                drop(place);
            });
        }
        Ok(true)
    }

    /// An agent's first push has a place of its own, so that nobody else's slowness holds it up. More than one share
    /// what there is, first come, first served.
    async fn place(&mut self) -> Option<OwnedSemaphorePermit> {
        loop {
            while self.under_way.try_join_next().is_some() {}
            if self.under_way.is_empty() {
                return None;
            }
            if self.under_way.len() >= PUSHES_PER_AGENT_MAX {
                self.under_way.join_next().await;
                continue;
            }
            tokio::select! {
                place = self.house.shared.clone().acquire_owned() => return place.ok(),
                _ = self.under_way.join_next() => {}
            }
        }
    }
}

/// One push.
struct Errand {
    house: House,
    caller: Caller,
    webhook: Webhook,
    received: Received,
    /// One that is dropped before it began gives it back.
    in_hands: InHands,
}

impl Errand {
    fn new(house: &House, caller: &Caller, webhook: Webhook, received: Received) -> Self {
        let (app, one) = (house.app.clone(), std::slice::from_ref(&received));
        let in_hands = InHands::new(app, caller.clone(), one);
        Self { house: house.clone(), caller: caller.clone(), webhook, received, in_hands }
    }

    async fn run(mut self) {
        // From here on the receiver may have it.
        self.in_hands.disarm();
        let (app, caller) = (&self.house.app, &self.caller);
        match self.post().await {
            Pushed::Busy => {
                tokio::time::sleep(DRIVE_PAUSE_MIN).await;
                app.deliveries.give_back(caller, self.received.handle());
            }
            pushed => {
                let (id, fence) = (self.received.delivery.row.id, &self.received.fence);
                answer::settle(app, caller, id, fence, pushed).await;
                app.wake.up(&caller.workspace);
            }
        }
    }

    async fn post(&self) -> Pushed {
        let Some(body) = self.body() else {
            return Pushed::Unreadable { reason: "the envelope cannot be read".to_owned() };
        };
        let (webhook, id) = (self.webhook.clone(), self.received.delivery.row.id.to_string());
        let push = Push { webhook, id, body, time_max: self.time_max() };
        self.house.pusher.push(push).await
    }

    /// The answer must come while the lease lives, and a while before its end.
    fn time_max(&self) -> Duration {
        let lease = self.received.delivery.story.lease.as_ref();
        let lease_ms = lease.map_or(0, |lease| lease.lease_ms);
        self.house.app.settings.push_time_max.min(Duration::from_millis(lease_ms - lease_ms / 10))
    }

    fn body(&self) -> Option<Vec<u8>> {
        let received = pushed_version(&self.webhook).and_then(|major| {
            let shape = Shape { major, format: None };
            shape.document(&self.house.app, self.received.clone())
        });
        let received = received
            .inspect_err(|problem| tracing::warn!(%problem, "a delivery cannot be pushed"))
            .ok()?;
        let workspace = &self.caller.workspace;
        serde_json::to_vec(&PushDocument { r#type: "delivery", workspace, received }).ok()
    }
}
