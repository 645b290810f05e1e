//! Telling of changes: to those who subscribed to a resource, in either revision.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ErrorData, ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionContext};
use tokio::task::AbortHandle;

use super::asker::Asker;
use super::place::Place;
use super::refusal::protocol_error;
use super::resources::{list_mark, mark};
use crate::limits::{EVENTS_POLL, MCP_SUBSCRIPTIONS_MAX};
use crate::operations::place_to_wait;
use crate::problem::{Problem, ProblemKind};
use crate::wake::Listener;

/// What one session follows; its end is theirs.
#[derive(Default)]
pub struct Following(Mutex<HashMap<String, AbortHandle>>);

impl Drop for Following {
    fn drop(&mut self) {
        self.tasks().drain().for_each(|(_, task)| task.abort());
    }
}

impl Following {
    fn tasks(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of changes of a resource from now on.
    pub async fn begin(
        &self,
        asker: Asker,
        uri: String,
        peer: Peer<RoleServer>,
    ) -> Result<(), Problem> {
        let place: Place = uri.parse()?;
        let waiting = place_to_wait(&asker.app, std::time::Duration::MAX)?;
        let mut watched = Watched::new(asker, vec![(uri.clone(), place)], false).await?;
        let mut tasks = self.tasks();
        if tasks.len() >= MCP_SUBSCRIPTIONS_MAX && !tasks.contains_key(&uri) {
            return Err(too_many());
        }
        let told = async move {
            let _waiting = waiting;
            loop {
                for uri in watched.changed().await.uris {
                    let note = ResourceUpdatedNotificationParam::new(uri);
                    if peer.notify_resource_updated(note).await.is_err() {
                        return;
                    }
                }
            }
        };
        if let Some(before) = tasks.insert(uri, tokio::spawn(told).abort_handle()) {
            before.abort();
        }
        Ok(())
    }

    /// Tells no more of a resource.
    pub fn end(&self, uri: &str) {
        if let Some(task) = self.tasks().remove(uri) {
            task.abort();
        }
    }
}

fn too_many() -> Problem {
    let said = format!("at most {MCP_SUBSCRIPTIONS_MAX} resources are followed: end some first");
    Problem::new(ProblemKind::TooLarge, said)
}

/// Which of what is asked for can be told of.
pub fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    let uris = requested.resource_subscriptions.iter().flatten();
    let known = uris.filter(|uri| uri.parse::<Place>().is_ok()).take(MCP_SUBSCRIPTIONS_MAX);
    let known: Vec<String> = known.cloned().collect();
    accepted.resource_subscriptions = (!known.is_empty()).then_some(known);
    accepted
}

/// One subscription of the stateless revision, until somebody ends it.
pub async fn listen(context: SubscriptionContext) -> Result<(), ErrorData> {
    let asker = Asker::of(&context.request_context().extensions)?;
    let app = asker.app.clone();
    let refused = |problem: Problem| protocol_error(&problem);
    let _waiting = place_to_wait(&app, std::time::Duration::MAX).map_err(refused)?;
    let accepted = context.accepted();
    let uris = accepted.resource_subscriptions.iter().flatten();
    let places = uris.filter_map(|uri| Some((uri.clone(), uri.parse().ok()?))).collect();
    let with_list = accepted.resources_list_changed == Some(true);
    let watched = Watched::new(asker, places, with_list).await.map_err(refused)?;
    tokio::select! {
        () = told(&context, watched) => {}
        () = context.cancelled() => {}
        () = app.stopped() => {}
    }
    Ok(())
}

async fn told(context: &SubscriptionContext, mut watched: Watched) {
    loop {
        let changes = watched.changed().await;
        for uri in changes.uris {
            if context.sink().notify_resource_updated(uri).await.is_err() {
                return;
            }
        }
        if changes.list && context.sink().notify_resource_list_changed().await.is_err() {
            return;
        }
    }
}

/// What is watched, and how it was.
struct Watched {
    asker: Asker,
    listener: Listener,
    places: Vec<(String, Place, String)>,
    list: Option<String>,
}

/// What is not as it was.
struct Changes {
    uris: Vec<String>,
    list: bool,
}

impl Watched {
    async fn new(
        asker: Asker,
        places: Vec<(String, Place)>,
        with_list: bool,
    ) -> Result<Self, Problem> {
        let listener = asker.app.wake.listen(asker.pass.caller.workspace.clone());
        let mut marked = Vec::with_capacity(places.len());
        for (uri, place) in places {
            let now = mark(&asker, &place).await?;
            marked.push((uri, place, now));
        }
        let list = if with_list { Some(list_mark(&asker).await?) } else { None };
        Ok(Self { asker, listener, places: marked, list })
    }

    /// Waits until something may have happened, and looks; not more often than every second.
    async fn changed(&mut self) -> Changes {
        tokio::time::sleep(EVENTS_POLL).await;
        self.listener.wait().await;
        let mut uris = Vec::new();
        for (uri, place, before) in &mut self.places {
            // What cannot be read now is looked at again.
            let Ok(now) = mark(&self.asker, place).await else { continue };
            if now != *before {
                *before = now;
                uris.push(uri.clone());
            }
        }
        let list = self.list_changed().await;
        Changes { uris, list }
    }

    async fn list_changed(&mut self) -> bool {
        let Some(before) = &mut self.list else { return false };
        match list_mark(&self.asker).await {
            Ok(now) if now != *before => {
                *before = now;
                true
            }
            _ => false,
        }
    }
}
