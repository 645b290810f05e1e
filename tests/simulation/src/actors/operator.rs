//! A person: reviews what is parked, pauses agents, resets breakers.

use serde_json::json;
use spine_engine::Caller;
use spine_engine::assembly::HandoffRequest;
use spine_engine::delivery::{BreakerOrder, Delivery, ParkedFilter};
use spine_protocol::DeliveryId;

use super::{some_agent, some_options};
use crate::calls::{Client, Plan, handoff};
use crate::world::Server;

/// Tries of one request.
const TRIES: u32 = 3;

pub(super) async fn live(client: Client) {
    let world = client.world.clone();
    let mut resumed = false;
    loop {
        let healthy = world.weather().healthy;
        world.rest_ms(if healthy { 2_000 } else { 4_000 }).await;
        if healthy {
            resumed = resumed || resume_all(&client).await;
            review_all(&client).await;
            continue;
        }
        match world.below(10) {
            0..6 => review_one(&client).await,
            6 => hold_back(&client).await,
            7 => force_open(&client).await,
            _ => set_aside(&client).await,
        }
    }
}

async fn parked(client: &Client) -> Vec<Delivery> {
    let list = |server: Server, caller: Caller| async move {
        let page = server.deliveries.parked(&caller, &ParkedFilter::default(), None, 100).await;
        page.map(|page| page.items)
    };
    client.order("parked", list).await.and_then(Result::ok).unwrap_or_default()
}

async fn review_one(client: &Client) {
    let found = parked(client).await;
    let Some(id) = client.world.one_of(&found).map(|delivery| delivery.row.id) else { return };
    match client.world.below(5) {
        0 => resolve(client, id).await,
        2 => resend(client, id).await,
        1 => {
            let discard = |server: Server, caller: Caller| async move {
                server.deliveries.discard(&caller, id, "given up").await
            };
            client.order("discard", discard).await;
        }
        _ => {
            let other = client.world.chance(30).then(|| some_agent(client));
            let requeue = |server: Server, caller: Caller| async move {
                server.deliveries.requeue(&caller, id, other, "again").await
            };
            client.order("requeue", requeue).await;
        }
    }
}

async fn review_all(client: &Client) {
    for delivery in parked(client).await {
        resolve(client, delivery.row.id).await;
    }
}

async fn resolve(client: &Client, id: DeliveryId) {
    let resolve = |server: Server, caller: Caller| async move {
        server.deliveries.resolve(&caller, id, json!("by hand")).await
    };
    client.order("resolve", resolve).await;
}

async fn resend(client: &Client, id: DeliveryId) {
    let world = &client.world;
    let number = world.below(u64::MAX);
    let request = HandoffRequest {
        max_hops: None,
        ..handoff(some_agent(client), format!("again {id} {number:x}"), 1)
    };
    let key = world.chance(70).then(|| format!("again-{number:x}"));
    let first = key.is_none();
    let mut plan = Plan { request, options: some_options(client), key, first };
    for _ in 0..TRIES {
        let answer = client.resend(id, plan.clone()).await;
        if plan.key.is_none() || matches!(answer, Some(Ok(_))) {
            return;
        }
        plan.first = false;
        world.rest_ms(500).await;
    }
}

async fn hold_back(client: &Client) {
    let agent = some_agent(client);
    for paused in [true, false] {
        let name = agent.clone();
        let pause = move |server: Server, caller: Caller| async move {
            server.deliveries.pause(&caller, &name, paused).await
        };
        client.order(if paused { "pause" } else { "resume" }, pause).await;
        client.world.rest_ms(8_000).await;
    }
}

async fn force_open(client: &Client) {
    let agent = some_agent(client);
    for order in [BreakerOrder::ForceOpen, BreakerOrder::Reset] {
        let name = agent.clone();
        let force = move |server: Server, caller: Caller| async move {
            server.deliveries.order_breaker(&caller, &name, order).await
        };
        client.order("breaker", force).await;
        client.world.rest_ms(5_000).await;
    }
}

/// Parks an envelope that somebody has.
async fn set_aside(client: &Client) {
    let held = client.world.one_of(&crate::lock(&client.world.held)).cloned();
    let Some(held) = held.filter(|held| held.workspace == client.workspace) else { return };
    let park = |server: Server, caller: Caller| async move {
        let delivery = server.deliveries.get(&caller, held.id).await?;
        server.deliveries.park_envelope(&caller, delivery.row.envelope, "set aside").await
    };
    client.order("park", park).await;
}

/// Whoever was paused or held open when the operator died.
async fn resume_all(client: &Client) -> bool {
    let mut all = true;
    for name in super::AGENTS {
        let resume = move |server: Server, caller: Caller| async move {
            let agent =
                name.parse().map_err(|_| spine_engine::delivery::DeliveryError::Contended)?;
            server.deliveries.pause(&caller, &agent, false).await?;
            server.deliveries.order_breaker(&caller, &agent, BreakerOrder::Reset).await
        };
        all &= matches!(client.order("resume", resume).await, Some(Ok(_)));
    }
    all
}
