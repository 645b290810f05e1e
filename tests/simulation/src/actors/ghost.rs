//! Comes back with a lease that somebody had, late or twice or from another workspace.

use super::{some_agent, some_options};
use crate::calls::{Client, Held, Word};
use crate::lock;

pub(super) async fn live(client: Client) {
    let world = client.world.clone();
    while !world.weather().healthy {
        world.rest_ms(1_200).await;
        let held = world.one_of(&lock(&world.held)).cloned();
        if let Some(held) = held {
            haunt(&client, &held).await;
        }
    }
}

async fn haunt(client: &Client, held: &Held) {
    let world = &client.world;
    let mut own = client.clone();
    own.agent = held.agent.clone();
    // Its own workspace is the wrong one for some of them.
    if !world.chance(20) {
        own.workspace = held.workspace.clone();
    }
    match world.below(6) {
        0 => {
            own.say(held, Word::Nack(None, true)).await;
        }
        1 => {
            own.say(held, Word::Extend).await;
        }
        2 => {
            own.say(held, Word::Reject).await;
        }
        3 => {
            own.say(held, Word::Accept).await;
        }
        _ => {
            let next = world.chance(50).then(|| (some_agent(&own), some_options(&own)));
            own.complete(held, next).await;
        }
    }
}
