//! What clients ask of servers. Every answer is shown to the watch before it leaves the server.

use std::time::Duration;

use serde_json::json;
use spine_engine::Caller;
use spine_engine::assembly::HandoffRequest;
use spine_engine::delivery::breaker::{Breaker, BreakerState};
use spine_engine::delivery::machine::Note;
use spine_engine::delivery::pipeline::{Branch, Condition, Pipeline, Step};
use spine_engine::delivery::{
    Ack, Delivery, DeliveryError, Done, Fence, JoinRequest, Next, PublicationView, PublishRequest,
    ReceiveRequest, Received, SendOptions, Until,
};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, TokenizerName, WorkspaceName};
use spine_store::testing::block_on;
use spine_store::{Collection, RecordKey, RecordReads};

use crate::disk::Meta;
use crate::lock;
use crate::watch::Rule;
use crate::world::World;

/// What a call gives: nothing at all if the server is gone.
pub type Answer<T> = Option<Result<T, DeliveryError>>;

/// Somebody in a workspace.
#[derive(Clone)]
pub struct Client {
    /// The world it lives in.
    pub world: World,
    /// Where.
    pub workspace: WorkspaceName,
    /// Who.
    pub agent: AgentName,
}

/// A lease as its receiver knows it.
#[derive(Debug, Clone)]
pub struct Held {
    /// Where.
    pub workspace: WorkspaceName,
    /// As whom.
    pub agent: AgentName,
    /// What.
    pub id: DeliveryId,
    /// The token.
    pub fence: Fence,
}

/// Something to send.
#[derive(Clone)]
pub struct Plan {
    /// The request, with a summary that no other has.
    pub request: HandoffRequest,
    /// How.
    pub options: SendOptions,
    /// What makes it recognisable when it is repeated.
    pub key: Option<String>,
    /// Whether nobody asked for it before.
    pub first: bool,
}

/// A request that says little.
pub fn handoff(target: AgentName, summary: String, max_hops: u32) -> HandoffRequest {
    HandoffRequest {
        include_recent: 0,
        include_pins: false,
        max_hops: Some(max_hops),
        tokenizer: TokenizerName::Approx,
        ..HandoffRequest::new(target, summary)
    }
}

/// The pipeline of every workspace: ada may leave bob out.
pub fn line() -> Pipeline {
    let agent = |name: &str| name.parse::<AgentName>().ok();
    let step = |name, next| Some(Step { agent: agent(name)?, summary: None, next });
    let skip = Condition { at: "/skip".to_owned(), equals: Some(json!(true)), not: false };
    let branches = vec![
        Branch { to: agent("cleo"), when: Some(skip) },
        Branch { to: agent("bob"), when: None },
    ];
    let steps = [step("ada", branches), step("bob", Vec::new()), step("cleo", Vec::new())];
    Pipeline { steps: steps.into_iter().flatten().collect() }
}

impl Client {
    fn meta(&self) -> Meta {
        Meta { workspace: Some(self.workspace.clone()), ..Meta::default() }
    }

    fn caller(&self, key: Option<&str>) -> Caller {
        let agent = Some(self.agent.clone());
        let idempotency_key = key.and_then(|key| key.parse().ok());
        Caller { agent, idempotency_key, ..Caller::of(self.workspace.clone()) }
    }

    /// Sends.
    pub async fn hand_off(&self, plan: Plan) -> Answer<Delivery> {
        let (own, caller) = (self.clone(), self.caller(plan.key.as_deref()));
        let ask = self.world.ask(self.meta(), move |server| async move {
            let (request, options) = (plan.request.clone(), plan.options.clone());
            let outcome = server.deliveries.hand_off(&caller, request, options).await;
            let mut disk = lock(&own.world.disk);
            match &outcome {
                Ok((made, sent)) => disk.watch.sent(&own.workspace, made.envelope.id, sent),
                Err(error) if plan.first => disk.watch.not_sent(&plan.request.summary, error),
                Err(_) => {}
            }
            drop(disk);
            own.told("hand_off", &plan.request.summary, &outcome);
            outcome.map(|(_, sent)| sent)
        });
        ask.await
    }

    fn told<T>(&self, what: &str, about: &str, outcome: &Result<T, DeliveryError>) {
        self.world.note(|| {
            let word = outcome.as_ref().map_or_else(DeliveryError::code, |_| "ok");
            format!("{} {what} {about}: {word}", self.agent)
        });
    }

    /// Waits for what becomes of it.
    pub async fn wait(&self, id: DeliveryId, until: Until, ms: u64) -> Answer<Delivery> {
        let caller = self.caller(None);
        let ask = self.world.ask(self.meta(), move |server| async move {
            server.deliveries.wait(&caller, id, until, Duration::from_millis(ms)).await
        });
        ask.await
    }

    /// Assembles an envelope for everybody.
    pub async fn assemble(&self, plan: Plan) -> Option<Option<EnvelopeId>> {
        let caller = self.caller(plan.key.as_deref());
        let ask = self.world.ask(self.meta(), move |server| async move {
            let made = server.handoffs.assemble(&caller, plan.request).await;
            made.ok().map(|made| made.envelope.id)
        });
        ask.await
    }

    /// Publishes.
    pub async fn publish(
        &self,
        envelope: EnvelopeId,
        receivers: Vec<AgentName>,
        join: Option<JoinRequest>,
        options: SendOptions,
        key: String,
    ) -> Answer<PublicationView> {
        let (own, caller) = (self.clone(), self.caller(Some(&key)));
        let ask = self.world.ask(self.meta(), move |server| async move {
            let receivers = Some(receivers);
            let request = PublishRequest { envelope, receivers, join, options };
            let outcome = server.deliveries.publish(&caller, "news", request).await;
            if let Ok(view) = &outcome {
                let mut disk = lock(&own.world.disk);
                for delivery in &view.deliveries {
                    disk.watch.sent(&own.workspace, envelope, delivery);
                }
            }
            own.told("publish", &key, &outcome);
            outcome
        });
        ask.await
    }

    /// Receives.
    pub async fn receive(&self, request: ReceiveRequest) -> Vec<Held> {
        let (own, caller) = (self.clone(), self.caller(None));
        let ask = self.world.ask(self.meta(), move |server| async move {
            let accept = request.accept;
            let received = server.deliveries.receive(&caller, request).await.unwrap_or_default();
            received.iter().map(|received| own.holds(received, accept)).collect::<Vec<_>>()
        });
        let held: Vec<Held> = ask.await.unwrap_or_default();
        lock(&self.world.held).extend(held.iter().cloned());
        held
    }

    fn holds(&self, received: &Received, accepted: bool) -> Held {
        let (id, fence) = (received.delivery.row.id, received.fence.clone());
        self.world.note(|| format!("{} received {id} with {fence}", self.agent));
        let mut disk = lock(&self.world.disk);
        disk.watch.received(&self.workspace, &self.agent, received);
        drop(disk);
        if accepted {
            self.check_probe(id);
        }
        Held { workspace: self.workspace.clone(), agent: self.agent.clone(), id, fence }
    }

    /// What was accepted is not a probe any more.
    fn check_probe(&self, id: DeliveryId) {
        let Ok(name) = self.agent.as_str().parse() else { return };
        let key = RecordKey { collection: Collection::Breaker, name };
        let mut disk = lock(&self.world.disk);
        let record = block_on(disk.model.records(&self.workspace, vec![key]));
        let record = record.ok().and_then(|mut records| records.pop());
        let breaker =
            record.and_then(|record| serde_json::from_slice::<Breaker>(&record.value).ok());
        let probing = |breaker: &Breaker| {
            breaker.state == BreakerState::HalfOpen && breaker.probe == Some(id) && !breaker.forced
        };
        if breaker.as_ref().is_some_and(probing) {
            disk.watch.fail(Rule::ProbeCloses, format!("{id} was accepted: {breaker:?}"));
        }
    }

    fn speaking(&self, held: &Held, after_ms: Option<u64>) -> Meta {
        let shown = Some((held.id, held.fence.clone()));
        Meta { shown, after_ms, ..self.meta() }
    }

    /// Says something with a lease.
    pub async fn say(&self, held: &Held, word: Word) -> Answer<Delivery> {
        let (own, held, caller) = (self.clone(), held.clone(), self.caller(None));
        let after_ms = if let Word::Nack(after_ms, _) = word { after_ms } else { None };
        let ask = self.world.ask(self.speaking(&held, after_ms), move |server| async move {
            let (deliveries, id, fence) = (&server.deliveries, held.id, held.fence.clone());
            let reason = || "as it is".to_owned();
            let outcome = match word {
                Word::Accept => deliveries.accept(&caller, id, fence).await,
                Word::Extend => deliveries.extend(&caller, id, fence, None).await,
                Word::Progress => {
                    let note = Note { text: "half".to_owned(), ..Note::default() };
                    deliveries.progress(&caller, id, fence, note).await
                }
                Word::Nack(after_ms, retry) => {
                    deliveries.nack(&caller, id, fence, reason(), retry, after_ms).await
                }
                Word::Unreached(retry) => {
                    deliveries.unreached(&caller, id, fence, reason(), retry).await
                }
                Word::Reject => deliveries.reject(&caller, id, fence, reason(), None).await,
            };
            own.answered(&held, &format!("{word:?}"), &outcome);
            outcome
        });
        ask.await
    }

    fn answered<T>(&self, held: &Held, word: &str, outcome: &Result<T, DeliveryError>) {
        self.told(word, &format!("{} with {}", held.id, held.fence), outcome);
        let mut disk = lock(&self.world.disk);
        if self.workspace != held.workspace {
            disk.watch.foreign(held.id, outcome);
        } else if let Err(DeliveryError::LeaseLost { .. }) = outcome {
            disk.watch.told_lost(&held.workspace, held.id, &held.fence);
        }
    }

    /// Says that it is done, and perhaps hands on.
    pub async fn complete(
        &self,
        held: &Held,
        next: Option<(AgentName, SendOptions)>,
    ) -> Answer<Done> {
        let (own, held, caller) = (self.clone(), held.clone(), self.caller(None));
        let token = format!("r{:x}", self.world.below(u64::MAX));
        let next = next.map(|(to, options)| {
            Box::new(Next {
                // Its hop limit is the parent's.
                handoff: HandoffRequest {
                    max_hops: None,
                    ..handoff(to, format!("next {} {token}", held.id), 1)
                },
                options,
            })
        });
        let (chosen, skip) = (next.is_some(), self.world.chance(30));
        let result = Some(json!({ "by": token, "skip": skip }));
        let ack = Ack { result, next, ..Ack::default() };
        lock(&self.world.disk).watch.offers(held.id, &held.fence, &token);
        let ask = self.world.ask(self.speaking(&held, None), move |server| async move {
            let (id, fence) = (held.id, held.fence.clone());
            let outcome = server.deliveries.complete(&caller, id, fence, ack).await;
            own.answered(&held, "complete", &outcome);
            if own.workspace == held.workspace {
                let mut disk = lock(&own.world.disk);
                match &outcome {
                    Ok(done) => {
                        disk.watch.completed(&held.workspace, id, &held.fence, done);
                        if !chosen {
                            disk.watch.followed(&held.workspace, id, done);
                        }
                    }
                    Err(error) => disk.watch.not_completed(&held.workspace, id, &token, error),
                }
            }
            outcome
        });
        ask.await
    }

    /// Edits what is parked and sends it again.
    pub async fn resend(&self, id: DeliveryId, plan: Plan) -> Answer<Delivery> {
        let (own, caller) = (self.clone(), self.caller(plan.key.as_deref()));
        let ask = self.world.ask(self.meta(), move |server| async move {
            let (request, options) = (plan.request.clone(), plan.options.clone());
            let outcome = server.deliveries.resend(&caller, id, request, options).await;
            let mut disk = lock(&own.world.disk);
            match &outcome {
                Ok((_, sent)) => disk.watch.sent(&own.workspace, sent.row.envelope, sent),
                Err(error) if plan.first => disk.watch.not_sent(&plan.request.summary, error),
                Err(_) => {}
            }
            drop(disk);
            own.told("resend", &plan.request.summary, &outcome);
            outcome.map(|(_, sent)| sent)
        });
        ask.await
    }

    /// Anything else.
    pub async fn order<T, A>(
        &self,
        what: &'static str,
        run: impl FnOnce(crate::world::Server, Caller) -> A,
    ) -> Answer<T>
    where
        T: Send + 'static,
        A: Future<Output = Result<T, DeliveryError>> + Send + 'static,
    {
        let (own, caller) = (self.clone(), self.caller(None));
        let ask = self.world.ask(self.meta(), move |server| {
            let run = run(server, caller);
            async move {
                let outcome = run.await;
                own.told(what, "", &outcome);
                outcome
            }
        });
        ask.await
    }
}

/// What a receiver says with its lease, beside that it is done.
#[derive(Debug, Clone, Copy)]
pub enum Word {
    /// It takes the work.
    Accept,
    /// It is alive.
    Extend,
    /// It is half done.
    Progress,
    /// It could not: when to try again, and whether with the same agent.
    Nack(Option<u64>, bool),
    /// It could not be reached by whoever has the lease: whether to try it again.
    Unreached(bool),
    /// It will not.
    Reject,
}
