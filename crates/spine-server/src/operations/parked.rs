//! What waits for a person, and what a person does about it.

use spine_engine::Caller;
use spine_engine::delivery::Reviewed;

use super::handoffs::request_of;
use super::{check_agent, page_rows, place_to_wait, waited};
use crate::problem::Problem;
use crate::route::{Call, Created, Json};
use crate::wire::cursor;
use crate::wire::delivery::{
    DeliveriesDocument, DeliveryDocument, DeliveryListDocument, DeliveryPath,
};
use crate::wire::envelope::HandoffDocument;
use crate::wire::handoff::HandoffBody;
use crate::wire::parked::{
    DiscardBody, ManyBody, ParkBody, ParkedListQuery, RequeueBody, ResentDocument, ResolveBody,
    ReviewedDocument,
};
use crate::wire::send::WaitBody;

const LIST: &str = "parked";

pub async fn list(
    call: Call<(), ParkedListQuery, ()>,
) -> Result<Json<DeliveryListDocument>, Problem> {
    let (after, filter) =
        (cursor::decode(LIST, call.query.cursor.as_deref())?, call.query.filter());
    let limit = page_rows(call.query.limit)?;
    let page = call.app.deliveries.parked(call.caller(), &filter, after, limit).await?;
    let next_cursor = page.next.map(|id| cursor::encode(LIST, id));
    let deliveries = DeliveryDocument::list(page.items, call.app.store.now());
    Ok(Json::of(DeliveryListDocument { deliveries, next_cursor }))
}

pub async fn park(call: Call<(), (), ParkBody>) -> Result<Json<DeliveriesDocument>, Problem> {
    let ParkBody { envelope_id, reason } = &call.body;
    let parked = call.app.deliveries.park_envelope(call.caller(), *envelope_id, reason).await?;
    let deliveries = DeliveryDocument::list(parked, call.app.store.now());
    Ok(Json::of(DeliveriesDocument { deliveries }))
}

pub async fn requeue(
    call: Call<DeliveryPath, (), RequeueBody>,
) -> Result<Json<DeliveryDocument>, Problem> {
    let (app, caller, id) = (&call.app, &call.pass.caller, call.path.id);
    let RequeueBody { target, reason } = call.body;
    let delivery = app.deliveries.requeue(caller, id, target, &reason).await?;
    Ok(Json::of(DeliveryDocument::of(delivery, app.store.now())))
}

pub async fn resend(
    call: Call<DeliveryPath, (), HandoffBody>,
) -> Result<Created<ResentDocument>, Problem> {
    let (app, caller, id) = (&call.app, &call.pass.caller, call.path.id);
    let mut body = call.body;
    let send = body.send.take().unwrap_or_default();
    let wait = send.wait;
    let _place = place_to_wait(app, wait.map(WaitBody::timeout).unwrap_or_default())?;
    let options = send.into_options("/send")?;
    let request = request_of(app, caller, &call.headers, body).await?;
    app.quotas.admit_handoff(&caller.workspace).await?;
    let (replaced, sent) = app.deliveries.resend(caller, id, request, options).await?;
    let envelope = app.deliveries.envelope(caller, &sent).await?;
    let sent = waited(app, caller, sent, wait).await?;
    let now = app.store.now();
    Ok(Created(Json::of(ResentDocument {
        replaced: DeliveryDocument::of(replaced, now),
        delivery: DeliveryDocument::of(sent, now),
        handoff: HandoffDocument::of(&envelope, Vec::new())?,
    })))
}

pub async fn resolve(
    call: Call<DeliveryPath, (), ResolveBody>,
) -> Result<Json<DeliveryDocument>, Problem> {
    let ResolveBody { result, by } = call.body;
    let mut caller: Caller = call.pass.caller.clone();
    if let Some(by) = by {
        check_agent(&call.pass, &by)?;
        caller.agent = Some(by);
    }
    let delivery = call.app.deliveries.resolve(&caller, call.path.id, result).await?;
    Ok(Json::of(DeliveryDocument::of(delivery, call.app.store.now())))
}

pub async fn discard(
    call: Call<DeliveryPath, (), DiscardBody>,
) -> Result<Json<DeliveryDocument>, Problem> {
    let (deliveries, caller) = (&call.app.deliveries, call.caller());
    let delivery = deliveries.discard(caller, call.path.id, &call.body.reason).await?;
    Ok(Json::of(DeliveryDocument::of(delivery, call.app.store.now())))
}

pub async fn requeue_many(call: Call<(), (), ManyBody>) -> Result<Json<ReviewedDocument>, Problem> {
    let dry_run = call.body.dry_run;
    let (deliveries, caller) = (&call.app.deliveries, &call.pass.caller);
    Ok(reviewed(deliveries.requeue_many(caller, &call.body.into()).await?, dry_run))
}

pub async fn discard_many(call: Call<(), (), ManyBody>) -> Result<Json<ReviewedDocument>, Problem> {
    let dry_run = call.body.dry_run;
    let (deliveries, caller) = (&call.app.deliveries, &call.pass.caller);
    Ok(reviewed(deliveries.discard_many(caller, &call.body.into()).await?, dry_run))
}

fn reviewed(reviewed: Reviewed, dry_run: bool) -> Json<ReviewedDocument> {
    let Reviewed { ids, missed } = reviewed;
    Json::of(ReviewedDocument { ids, missed, dry_run })
}
