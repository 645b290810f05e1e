//! Deliveries, as their senders see them.

use std::time::Duration;

use spine_engine::delivery::{Delivery, DeliveryError};
use spine_protocol::{DeliveryId, EnvelopeId};
use spine_store::{DeliveryQuery, UnixMs};

use super::handoffs::no_wait;
use super::{check_agent, page_rows, place_to_wait, waited};
use crate::App;
use crate::access::Pass;
use crate::problem::Problem;
use crate::route::{Call, Created, Json};
use crate::trace::{self, traced};
use crate::wire::cursor;
use crate::wire::delivery::{
    DeliveriesDocument, DeliveryAnswer, DeliveryDocument, DeliveryListDocument, DeliveryListQuery,
    DeliveryPath, OrderWord,
};
use crate::wire::one_or_many::OneOrMany;
use crate::wire::send::{CancelBody, DeliveryBody, DeliveryWaitQuery, WaitBody};

const LIST: &str = "deliveries";

pub async fn send(
    call: Call<(), (), OneOrMany<DeliveryBody>>,
) -> Result<Created<DeliveryAnswer>, Problem> {
    let OneOrMany { items, is_list } = call.body;
    let (app, caller) = (&call.app, &call.pass.caller);
    let (mut requests, mut wait) = (Vec::with_capacity(items.len()), None);
    for (nth, item) in items.into_iter().enumerate() {
        let at = if is_list { format!("/{LIST}/{nth}") } else { String::new() };
        if is_list {
            no_wait(item.wait, &format!("{at}/wait"))?;
        }
        wait = item.wait;
        requests.push(item.into_request(&at)?);
    }
    let _place = place_to_wait(app, wait.map(WaitBody::timeout).unwrap_or_default())?;
    for _ in &requests {
        app.quotas.admit_handoff(&caller.workspace).await?;
    }
    let first = requests.first().map(|request| request.envelope);
    let span = trace::send(app, caller, &call.headers, first).await;
    let sending = async { app.deliveries.send(caller, requests).await.map_err(Problem::from) };
    let mut sent = traced(span, sending).await?;
    if is_list {
        let deliveries = DeliveryDocument::list(sent, app.store.now());
        return Ok(Created(Json::of(DeliveryAnswer::Many(DeliveriesDocument { deliveries }))));
    }
    let one = sent.pop().ok_or(DeliveryError::Contended)?;
    let one = waited(app, caller, one, wait).await?;
    let one = DeliveryDocument::of(one, app.store.now());
    Ok(Created(Json::of(DeliveryAnswer::One(Box::new(one)))))
}

pub async fn list(
    call: Call<(), DeliveryListQuery, ()>,
) -> Result<Json<DeliveryListDocument>, Problem> {
    let asked = call.query;
    let query = DeliveryQuery {
        states: asked.state.into_iter().map(Into::into).collect(),
        agent: asked.agent,
        since: asked.since.as_ref().map(UnixMs::from),
        until: asked.until.as_ref().map(UnixMs::from),
        after: cursor::decode(LIST, asked.cursor.as_deref())?,
        limit: page_rows(asked.limit)?,
        newest_first: asked.order == OrderWord::Newest,
    };
    let (items, next) = match (asked.envelope_id, asked.root) {
        (None, None) => {
            let page = call.app.deliveries.list(&call.pass.caller, query).await?;
            (page.items, page.next)
        }
        (envelope, root) => of_lineage(&call.app, &call.pass, &query, envelope, root).await?,
    };
    let next_cursor = next.map(|id| cursor::encode(LIST, id));
    let deliveries = DeliveryDocument::list(items, call.app.store.now());
    Ok(Json::of(DeliveryListDocument { deliveries, next_cursor }))
}

type Listed = (Vec<Delivery>, Option<DeliveryId>);

/// One task's deliveries, which are read at once: it has few.
async fn of_lineage(
    app: &App,
    pass: &Pass,
    query: &DeliveryQuery,
    envelope: Option<EnvelopeId>,
    root: Option<EnvelopeId>,
) -> Result<Listed, Problem> {
    let Some(of) = root_of(app, pass, envelope, root).await? else { return Ok(Default::default()) };
    let mut found = app.deliveries.lineage_deliveries(&pass.caller, of).await?;
    found.retain(|delivery| {
        query.admits(&delivery.row) && envelope.is_none_or(|id| id == delivery.row.envelope)
    });
    found.sort_by_key(|delivery| delivery.row.id);
    if query.newest_first {
        found.reverse();
    }
    if let Some(after) = query.after {
        found.retain(|delivery| match query.newest_first {
            true => delivery.row.id < after,
            false => delivery.row.id > after,
        });
    }
    let is_last = found.len() <= query.limit;
    found.truncate(query.limit);
    let next = found.last().map(|delivery| delivery.row.id).filter(|_| !is_last);
    Ok((found, next))
}

/// The root that is meant; none where the two do not go together or nothing is there.
async fn root_of(
    app: &App,
    pass: &Pass,
    envelope: Option<EnvelopeId>,
    root: Option<EnvelopeId>,
) -> Result<Option<EnvelopeId>, Problem> {
    let Some(envelope) = envelope else { return Ok(root) };
    let stored = app.store.envelope(&pass.caller.workspace, envelope).await?;
    let own = stored.map(|stored| stored.root);
    Ok(own.filter(|own| root.is_none_or(|root| root == *own)))
}

pub async fn get(
    call: Call<DeliveryPath, DeliveryWaitQuery, ()>,
) -> Result<Json<DeliveryDocument>, Problem> {
    let (app, caller, id) = (&call.app, &call.pass.caller, call.path.id);
    let DeliveryWaitQuery { wait_until, wait_s } = call.query;
    let delivery = app.deliveries.get(caller, id).await?;
    let wait = wait_until.map(|until| WaitBody { until, timeout_s: wait_s });
    let _place = place_to_wait(app, wait.map(WaitBody::timeout).unwrap_or(Duration::ZERO))?;
    let delivery = waited(app, caller, delivery, wait).await?;
    Ok(Json::of(DeliveryDocument::of(delivery, app.store.now())))
}

pub async fn cancel(
    call: Call<DeliveryPath, (), CancelBody>,
) -> Result<Json<DeliveryAnswer>, Problem> {
    let (app, caller, id) = (&call.app, &call.pass.caller, call.path.id);
    let CancelBody { reason, lineage } = call.body;
    let delivery = app.deliveries.get(caller, id).await?;
    check_sender(&call.pass, &delivery)?;
    if lineage {
        let deliveries = &app.deliveries;
        let over = deliveries.cancel_lineage(caller, delivery.row.envelope, &reason).await?;
        let deliveries = DeliveryDocument::list(over, app.store.now());
        return Ok(Json::of(DeliveryAnswer::Many(DeliveriesDocument { deliveries })));
    }
    let cancelled = app.deliveries.cancel(caller, id, &reason).await?;
    let document = DeliveryDocument::of(cancelled, app.store.now());
    Ok(Json::of(DeliveryAnswer::One(Box::new(document))))
}

/// A key that names its agents calls off what they sent, or have, and nothing else.
fn check_sender(pass: &Pass, delivery: &Delivery) -> Result<(), Problem> {
    match delivery.story.sender.as_ref() {
        Some(sender) if pass.caller.agent.as_ref() == Some(sender) => Ok(()),
        _ => check_agent(pass, &delivery.row.agent),
    }
}
