//! Works, or does not: in time, late, twice, or never.

use std::time::Duration;

use spine_engine::delivery::{DeliveryError, ReceiveRequest};

use super::{some_agent, some_options};
use crate::calls::{Client, Held, Word};

/// Tries of one acknowledgement.
const TRIES: u32 = 4;

pub(super) async fn live(client: Client) {
    let world = client.world.clone();
    loop {
        if world.weather().healthy {
            work_well(&client).await;
            continue;
        }
        if world.chance(if client.agent.as_str() == "cleo" { 30 } else { 4 }) {
            world.note(|| format!("{} is away", client.agent));
            world.rest_ms(25_000).await;
        }
        for held in client.receive(some_request(&client)).await {
            handle(&client, &held).await;
        }
        world.rest_ms(300).await;
    }
}

async fn work_well(client: &Client) {
    let agent = client.agent.clone();
    let wait = Duration::from_secs(20);
    let request = ReceiveRequest { accept: true, max: 10, wait, ..ReceiveRequest::new(agent) };
    for held in client.receive(request).await {
        client.complete(&held, None).await;
    }
}

fn some_request(client: &Client) -> ReceiveRequest {
    let world = &client.world;
    ReceiveRequest {
        max: 1 + usize::try_from(world.below(3)).unwrap_or_default(),
        wait: Duration::from_millis(world.below(6_000)),
        lease_ms: world.chance(30).then(|| 1_000 + world.below(3_000)),
        accept: world.chance(50),
        ..ReceiveRequest::new(client.agent.clone())
    }
}

async fn handle(client: &Client, held: &Held) {
    let world = &client.world;
    match world.below(100) {
        0..15 => {}
        15..30 => {
            let after_ms = world.chance(60).then(|| 200 + world.below(3_000));
            client.say(held, Word::Nack(after_ms, world.chance(85))).await;
        }
        30..34 => {
            client.say(held, Word::Reject).await;
        }
        34..38 => {
            client.say(held, Word::Unreached(world.chance(80))).await;
        }
        _ => work(client, held).await,
    }
}

async fn work(client: &Client, held: &Held) {
    let world = &client.world;
    client.say(held, Word::Accept).await;
    for _ in 0..world.below(3) {
        // Now and then longer than the lease lives.
        world.rest_ms(1_600).await;
        let word = if world.chance(70) { Word::Extend } else { Word::Progress };
        if let Some(Err(DeliveryError::LeaseLost { .. })) = client.say(held, word).await
            && world.chance(70)
        {
            return;
        }
    }
    let next = world.chance(35).then(|| (some_agent(client), some_options(client)));
    for _ in 0..TRIES {
        let again = match client.complete(held, next.clone()).await {
            Some(Ok(_)) => world.chance(10),
            Some(Err(DeliveryError::Store(_) | DeliveryError::Contended)) | None => true,
            Some(Err(_)) => false,
        };
        if !again {
            return;
        }
        world.rest_ms(400).await;
    }
}
