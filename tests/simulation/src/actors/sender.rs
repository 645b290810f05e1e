//! Sends, waits or does not, repeats what it does not know the outcome of.

use spine_engine::Caller;
use spine_engine::delivery::{Delivery, DeliveryError, SendOptions, Until};

use super::{some_agent, some_options};
use crate::calls::{Client, Plan, handoff, line};
use crate::world::Server;

/// Tries of one request.
const TRIES: u32 = 5;
/// The name of the pipeline.
const LINE: &str = "line";

pub(super) async fn live(client: Client) {
    let world = client.world.clone();
    set_line(&client).await;
    let mut last = None;
    while !world.weather().healthy {
        world.rest_ms(6_000).await;
        let mut plan = some_plan(&client);
        if let Some(parent) = last.filter(|_| world.chance(25)) {
            // On from where it was, whatever has become of that.
            plan.request.parents = vec![parent];
            plan.request.max_hops = None;
        }
        if plan.key.is_some() && world.chance(15) {
            // The same request on another connection, at the same time.
            let (twin, plan) = (client.clone(), Plan { first: false, ..plan.clone() });
            world.spawn(async move {
                twin.hand_off(plan).await;
            });
        }
        if let Some(sent) = persist(&client, plan).await {
            last = Some(sent.row.envelope);
            follow(&client, &sent).await;
        }
    }
}

fn some_plan(client: &Client) -> Plan {
    let world = &client.world;
    let number = world.below(u64::MAX);
    let max_hops = 1 + u32::try_from(world.below(4)).unwrap_or_default();
    let key = world.chance(70).then(|| format!("key-{number:x}"));
    let first = key.is_none();
    // Its agents all live in the north.
    let piped = client.workspace.as_str() == "north" && world.chance(25);
    let pipeline = piped.then(|| LINE.to_owned());
    let start = if pipeline.is_some() { "line" } else { "send" };
    let request = handoff(some_agent(client), format!("{start} {number:x}"), max_hops);
    Plan { request, options: SendOptions { pipeline, ..some_options(client) }, key, first }
}

async fn set_line(client: &Client) {
    let set = |server: Server, caller: Caller| async move {
        server.deliveries.set_pipeline(&caller, LINE, line()).await
    };
    while !matches!(client.order("pipeline", set).await, Some(Ok(()))) {
        client.world.rest_ms(500).await;
    }
}

/// Whoever gave a key asks again until it knows.
async fn persist(client: &Client, mut plan: Plan) -> Option<Delivery> {
    for _ in 0..TRIES {
        match client.hand_off(plan.clone()).await {
            Some(Ok(sent)) => return Some(sent),
            Some(Err(DeliveryError::CircuitOpen { .. })) => return None,
            _ if plan.key.is_none() => return None,
            _ => plan.first = false,
        }
        client.world.rest_ms(500).await;
    }
    None
}

async fn follow(client: &Client, sent: &Delivery) {
    let (world, id) = (&client.world, sent.row.id);
    if sent.story.direct {
        let until = if world.chance(50) { Until::Accepted } else { Until::Done };
        let wait_ms = world.below(4_000);
        client.wait(id, until, wait_ms).await;
    }
    if world.chance(8) {
        world.rest_ms(2_000).await;
        let (envelope, whole, reason) =
            (sent.row.envelope, world.chance(50), "not wanted any more");
        let cancel = |server: Server, caller: Caller| async move {
            match whole {
                true => server.deliveries.cancel_lineage(&caller, envelope, reason).await.map(drop),
                false => server.deliveries.cancel(&caller, id, reason).await.map(drop),
            }
        };
        client.order("cancel", cancel).await;
    }
}
