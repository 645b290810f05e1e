//! Publishes to several, with a join of all, of some, or by a time.

use spine_engine::assembly::HandoffRequest;
use spine_engine::delivery::{DeliveryError, JoinRequest, SendOptions};
use spine_protocol::AgentName;

use super::{AGENTS, some_agent, some_options};
use crate::calls::{Client, Plan, handoff};

/// Tries of one request.
const TRIES: u32 = 5;

pub(super) async fn live(client: Client) {
    let world = client.world.clone();
    while !world.weather().healthy {
        world.rest_ms(16_000).await;
        publish(&client).await;
    }
}

async fn publish(client: &Client) {
    let world = &client.world;
    let number = world.below(u64::MAX);
    let Ok(everybody) = "broadcast".parse::<AgentName>() else { return };
    let max_hops = 1 + u32::try_from(world.below(5)).unwrap_or_default();
    let request = handoff(everybody, format!("send {number:x}"), max_hops);
    let key = Some(format!("envelope-{number:x}"));
    let plan = Plan { request, options: SendOptions::default(), key, first: false };
    let mut envelope = None;
    for _ in 0..TRIES {
        envelope = client.assemble(plan.clone()).await.flatten();
        if envelope.is_some() {
            break;
        }
    }
    let Some(envelope) = envelope else { return };
    let receivers: Vec<AgentName> = AGENTS.iter().filter_map(|name| name.parse().ok()).collect();
    let options = SendOptions { fallbacks: None, ..some_options(client) };
    let join = some_join(client, number, receivers.len() as u64);
    for _ in 0..TRIES {
        let (to, join, options) = (receivers.clone(), join.clone(), options.clone());
        let answer = client.publish(envelope, to, join, options, format!("pub-{number:x}")).await;
        match answer {
            Some(Ok(_) | Err(DeliveryError::CircuitOpen { .. })) => return,
            _ => world.rest_ms(500).await,
        }
    }
}

fn some_join(client: &Client, number: u64, receivers: u64) -> Option<JoinRequest> {
    let world = &client.world;
    world.chance(85).then(|| JoinRequest {
        handoff: HandoffRequest {
            max_hops: None,
            ..handoff(some_agent(client), format!("join {number:x}"), 1)
        },
        need: world.chance(40).then(|| 1 + u32::try_from(world.below(receivers)).unwrap_or(0)),
        timeout_ms: world.chance(40).then(|| 1_000 + world.below(30_000)),
        options: some_options(client),
    })
}
