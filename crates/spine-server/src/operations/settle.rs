//! What a receiver does with a delivery in its hands.

use spine_engine::delivery::machine::Note;
use spine_engine::delivery::{Ack, Delivery, DeliveryError, Done, Next};
use spine_protocol::ReadError;

use super::handoffs::request_of;
use super::{check_holder, place_to_wait, waited};
use crate::App;
use crate::access::Pass;
use crate::problem::{Problem, ProblemKind};
use crate::route::{Call, Json};
use crate::wire::delivery::{DeliveryDocument, DeliveryPath};
use crate::wire::receive::{
    AcceptBody, AckBody, AckManyBody, AckManyDocument, AckOneBody, DoneDocument, ExtendBody,
    NackBody, OneAckDocument, ProgressBody, RecoveredDocument, RejectBody,
};
use crate::wire::send::{WaitBody, ms_of};

type Settled = Result<Json<DeliveryDocument>, Problem>;

fn settled(app: &App, delivery: Delivery) -> Settled {
    Ok(Json::of(DeliveryDocument::of(delivery, app.store.now())))
}

pub async fn accept(call: Call<DeliveryPath, (), AcceptBody>) -> Settled {
    let (app, id) = (&call.app, call.path.id);
    check_holder(app, &call.pass, id).await?;
    settled(app, app.deliveries.accept(&call.pass.caller, id, call.body.lease.0).await?)
}

pub async fn extend(call: Call<DeliveryPath, (), ExtendBody>) -> Settled {
    let (app, id) = (&call.app, call.path.id);
    check_holder(app, &call.pass, id).await?;
    let ExtendBody { lease, lease_s } = call.body;
    let lease_ms = lease_s.map(ms_of);
    settled(app, app.deliveries.extend(&call.pass.caller, id, lease.0, lease_ms).await?)
}

pub async fn progress(call: Call<DeliveryPath, (), ProgressBody>) -> Settled {
    let (app, id) = (&call.app, call.path.id);
    check_holder(app, &call.pass, id).await?;
    let ProgressBody { lease, note, percent, checkpoint } = call.body;
    let note = Note { text: note, percent, checkpoint };
    settled(app, app.deliveries.progress(&call.pass.caller, id, lease.0, note).await?)
}

pub async fn nack(call: Call<DeliveryPath, (), NackBody>) -> Settled {
    let (app, caller, id) = (&call.app, &call.pass.caller, call.path.id);
    check_holder(app, &call.pass, id).await?;
    let NackBody { lease, reason, retry, after_s } = call.body;
    let after_ms = after_s.map(ms_of);
    settled(app, app.deliveries.nack(caller, id, lease.0, reason, retry, after_ms).await?)
}

pub async fn reject(call: Call<DeliveryPath, (), RejectBody>) -> Settled {
    let (app, id) = (&call.app, call.path.id);
    check_holder(app, &call.pass, id).await?;
    let RejectBody { lease, reason, question } = call.body;
    settled(app, app.deliveries.reject(&call.pass.caller, id, lease.0, reason, question).await?)
}

pub async fn ack(call: Call<DeliveryPath, (), AckBody>) -> Result<Json<DoneDocument>, Problem> {
    let (app, caller, id) = (&call.app, &call.pass.caller, call.path.id);
    check_holder(app, &call.pass, id).await?;
    let AckBody { lease, result, action, why, next } = call.body;
    let (mut handed_on, mut wait) = (None, None);
    if let Some(mut body) = next {
        if body.new_task {
            let problem = "what a delivery goes on in is no new task: hand that off by itself";
            let error = ReadError::at("/next/new_task", problem);
            return Err(Problem::body(ProblemKind::InvalidBody, &error));
        }
        let send = body.send.take().unwrap_or_default();
        wait = send.wait;
        let options = send.into_options("/next/send")?;
        let handoff = Box::pin(request_of(app, caller, &call.headers, *body)).await?;
        app.quotas.admit_handoff(&caller.workspace).await?;
        handed_on = Some(Box::new(Next { handoff, options }));
    }
    let _place = place_to_wait(app, wait.map(WaitBody::timeout).unwrap_or_default())?;
    let ack = Ack { result, action, why, next: handed_on };
    let Done { delivery, next } = app.deliveries.complete(caller, id, lease.0, ack).await?;
    let next = match next {
        Some(next) => Some(waited(app, caller, next, wait).await?),
        None => None,
    };
    let now = app.store.now();
    Ok(Json::of(DoneDocument {
        delivery: DeliveryDocument::of(delivery, now),
        next: next.map(|next| DeliveryDocument::of(next, now)),
    }))
}

pub async fn ack_many(call: Call<(), (), AckManyBody>) -> Result<Json<AckManyDocument>, Problem> {
    let (app, caller, acks) = (&call.app, &call.pass.caller, call.body.acks);
    let refused = check_holders(app, &call.pass, &acks).await?;
    let allowed = acks.into_iter().zip(&refused).filter(|(_, refused)| refused.is_none());
    let allowed = allowed.map(|(ack, _)| ack.into_ack()).collect();
    let mut done = app.deliveries.complete_many(caller, allowed).await?.into_iter();
    let now = app.store.now();
    let mut next = || match done.next().unwrap_or(Err(DeliveryError::Contended)) {
        Ok(done) => OneAckDocument::Delivery(Box::new(DeliveryDocument::of(done.delivery, now))),
        Err(error) => OneAckDocument::Problem(error.into()),
    };
    let shown = |refused: Option<Problem>| refused.map_or_else(&mut next, OneAckDocument::Problem);
    Ok(Json::of(AckManyDocument { acks: refused.into_iter().map(shown).collect() }))
}

/// What a key that names its agents may not settle; an id that is not here answers as such later.
async fn check_holders(
    app: &App,
    pass: &Pass,
    acks: &[AckOneBody],
) -> Result<Vec<Option<Problem>>, Problem> {
    let mut refused = Vec::with_capacity(acks.len());
    for ack in acks {
        refused.push(check_holder(app, pass, ack.id).await.err());
    }
    Ok(refused)
}

pub async fn recover(call: Call<DeliveryPath, (), ()>) -> Result<Json<RecoveredDocument>, Problem> {
    check_holder(&call.app, &call.pass, call.path.id).await?;
    let recovered = call.app.deliveries.recover(call.caller(), call.path.id).await?;
    Ok(Json::of(RecoveredDocument {
        memories: recovered.memories.into_iter().map(Into::into).collect(),
        gaps: recovered.gaps,
        completeness: recovered.completeness,
    }))
}
