//! Handing off: assembling and sending in one step.

use futures_util::stream::{self, StreamExt};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::Serialize;
use spine_engine::Caller;
use spine_engine::assembly::HandoffRequest;
use spine_engine::delivery::Origin;
use spine_protocol::{DeliveryId, Digest, ReadError};
use spine_store::IdempotencyKey;

use super::{check_holder, place_to_wait, waited};
use crate::App;
use crate::access::{DELIVERY_HEADER, Pass, named};
use crate::limits::{HANDOFFS_AT_ONCE, HANDOFFS_MAX};
use crate::problem::{Problem, ProblemDocument, ProblemKind};
use crate::route::{Call, Created, Json};
use crate::trace::{self, traced};
use crate::wire::delivery::DeliveryDocument;
use crate::wire::envelope::HandoffDocument;
use crate::wire::handoff::{HandoffBody, ParentWord};
use crate::wire::one_or_many::OneOrMany;
use crate::wire::send::{SendBody, WaitBody};

/// What was asked for, as the engine is asked.
pub struct Asked {
    /// The handoff.
    pub request: HandoffRequest,
    /// The delivery that it comes out of.
    pub origin: Option<Origin>,
    /// How it is sent.
    pub send: Option<SendBody>,
}

/// Reads a handoff, with the delivery that it comes out of.
pub async fn asked(
    app: &App,
    pass: &Pass,
    headers: &HeaderMap,
    mut body: HandoffBody,
) -> Result<Asked, Problem> {
    let header: Option<DeliveryId> = named(headers, DELIVERY_HEADER)?;
    let has_parents = body.parent.is_some() || !body.parents.is_empty();
    if body.new_task && has_parents {
        return Err(unexpected("/new_task", "a handoff with a parent is no new task"));
    }
    let delivery = match body.parent {
        Some(ParentWord::Delivery(id)) => Some(id),
        _ => header,
    };
    let origin = delivery.map(|delivery| Origin { delivery, new_task: body.new_task });
    if let Some(origin) = origin {
        check_holder(app, pass, origin.delivery).await?;
    }
    let send = body.send.take();
    let request = request_of(app, &pass.caller, headers, body).await?;
    Ok(Asked { request, origin, send })
}

/// Reads a handoff whose origin is known otherwise.
pub async fn request_of(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    body: HandoffBody,
) -> Result<HandoffRequest, Problem> {
    let parent = body.parent;
    let mut request = body.into_request(trace::here(app, headers));
    if let Some(ParentWord::Delivery(id)) = parent {
        let envelope = app.deliveries.get(caller, id).await?.row.envelope;
        request.parents.insert(0, envelope);
    }
    Ok(request)
}

/// Refuses to be told how to send where nothing is sent, or not from here.
pub fn no_send(is_given: bool, at: &str) -> Result<(), Problem> {
    match is_given {
        true => Err(unexpected(at, "this is not where it is sent from: leave it out")),
        false => Ok(()),
    }
}

/// Refuses to wait where the answer does not wait.
pub fn no_wait(wait: Option<WaitBody>, at: &str) -> Result<(), Problem> {
    match wait {
        Some(_) => {
            Err(unexpected(at, "this answer does not wait: ask for the delivery with `wait_until`"))
        }
        None => Ok(()),
    }
}

fn unexpected(at: &str, problem: &str) -> Problem {
    Problem::body(ProblemKind::InvalidBody, &ReadError::at(at, problem))
}

/// A handoff that was made and sent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HandedOffDocument {
    /// What was made.
    pub handoff: HandoffDocument,
    /// How it was sent.
    pub delivery: DeliveryDocument,
}

/// What became of one of many.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOfManyDocument {
    /// It was made and sent.
    Done(Box<HandedOffDocument>),
    /// It was not.
    Failed {
        /// Why.
        #[schemars(with = "ProblemDocument")]
        problem: Problem,
    },
}

/// One handoff, or many: as it was asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HandOffAnswer {
    /// The one.
    One(Box<HandedOffDocument>),
    /// Each, in the order they were sent.
    Many {
        /// What became of each.
        handoffs: Vec<OneOfManyDocument>,
    },
}

pub async fn hand_off(
    call: Call<(), (), OneOrMany<HandoffBody>>,
) -> Result<Created<HandOffAnswer>, Problem> {
    let OneOrMany { mut items, is_list } = call.body;
    let (app, pass, headers) = (&call.app, &call.pass, &call.headers);
    if !is_list && let Some(body) = items.pop() {
        let done = one(app, pass, headers, body).await?;
        return Ok(Created(Json::of(HandOffAnswer::One(Box::new(done)))));
    }
    check_many(items.len())?;
    let each = items.into_iter().enumerate().map(|(nth, body)| async move {
        let pass = of_many(pass, nth)?;
        no_wait(
            body.send.as_ref().and_then(|send| send.wait),
            &format!("/handoffs/{nth}/send/wait"),
        )?;
        one(app, &pass, headers, body).await
    });
    let outcomes: Vec<Result<HandedOffDocument, Problem>> =
        stream::iter(each).buffered(HANDOFFS_AT_ONCE).collect().await;
    let shown = |outcome: Result<HandedOffDocument, Problem>| match outcome {
        Ok(done) => OneOfManyDocument::Done(Box::new(done)),
        Err(problem) => OneOfManyDocument::Failed { problem },
    };
    let handoffs = outcomes.into_iter().map(shown).collect();
    Ok(Created(Json::of(HandOffAnswer::Many { handoffs })))
}

fn check_many(found: usize) -> Result<(), Problem> {
    if found <= HANDOFFS_MAX {
        return Ok(());
    }
    let said = format!("there are {found} handoffs, at most {HANDOFFS_MAX} are taken: split them");
    Err(Problem::new(ProblemKind::TooLarge, said).with("pointer", "/handoffs"))
}

/// Each of many has a key of its own, made from the one that was sent.
pub fn of_many(pass: &Pass, nth: usize) -> Result<Pass, Problem> {
    let mut pass = pass.clone();
    if let Some(key) = &pass.caller.idempotency_key {
        let own = Digest::of(&[key.as_str().as_bytes(), b"\n", nth.to_string().as_bytes()]);
        let own = own.to_string().parse::<IdempotencyKey>();
        pass.caller.idempotency_key = Some(own.map_err(|error| {
            Problem::parameter(crate::access::IDEMPOTENCY_HEADER, &error.to_string())
        })?);
    }
    Ok(pass)
}

async fn one(
    app: &App,
    pass: &Pass,
    headers: &HeaderMap,
    body: HandoffBody,
) -> Result<HandedOffDocument, Problem> {
    let mut asked = asked(app, pass, headers, body).await?;
    let span = trace::handoff(app, pass, headers, &mut asked).await;
    traced(span, handed_off(app, &pass.caller, asked)).await
}

async fn handed_off(
    app: &App,
    caller: &Caller,
    asked: Asked,
) -> Result<HandedOffDocument, Problem> {
    let Asked { request, origin, send } = asked;
    let send = send.unwrap_or_default();
    let wait = send.wait;
    let options = send.into_options("/send")?;
    let _place = place_to_wait(app, wait.map(WaitBody::timeout).unwrap_or_default())?;
    app.quotas.admit_handoff(&caller.workspace).await?;
    let (made, sent) = app.deliveries.hand_off_from(caller, origin, request, options).await?;
    trace::note_made(&made.envelope, Some(sent.row.id));
    let handoff = HandoffDocument::of(&made.envelope, made.explanation.degraded)?;
    let delivery = waited(app, caller, sent, wait).await?;
    Ok(HandedOffDocument { handoff, delivery: DeliveryDocument::of(delivery, app.store.now()) })
}
