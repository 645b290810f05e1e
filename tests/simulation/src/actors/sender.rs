//! Sends, waits or does not, repeats what it does not know the outcome of.

use spine_engine::delivery::{Delivery, DeliveryError, Until};

use super::{some_agent, some_options};
use crate::calls::{Client, Plan, handoff};

/// Tries of one request.
const TRIES: u32 = 5;

pub(super) async fn live(client: Client) {
    let world = client.world.clone();
    while !world.weather().healthy {
        world.rest_ms(6_000).await;
        let plan = some_plan(&client);
        if plan.key.is_some() && world.chance(15) {
            // The same request on another connection, at the same time.
            let (twin, plan) = (client.clone(), Plan { first: false, ..plan.clone() });
            world.spawn(async move {
                twin.hand_off(plan).await;
            });
        }
        if let Some(sent) = persist(&client, plan).await {
            follow(&client, &sent).await;
        }
    }
}

fn some_plan(client: &Client) -> Plan {
    let world = &client.world;
    let number = world.below(u64::MAX);
    let max_hops = 1 + u32::try_from(world.below(4)).unwrap_or_default();
    let request = handoff(some_agent(client), format!("send {number:x}"), max_hops);
    let key = world.chance(70).then(|| format!("key-{number:x}"));
    let first = key.is_none();
    Plan { request, options: some_options(client), key, first }
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
        let cancel = |server: crate::world::Server, caller: spine_engine::Caller| async move {
            server.deliveries.cancel(&caller, id, "not wanted any more").await
        };
        client.order("cancel", cancel).await;
    }
}
