//! Everybody who sends, receives, publishes, reviews and breaks things.

mod ghost;
mod operator;
mod publisher;
mod receiver;
mod sender;
mod weather;

use spine_engine::delivery::SendOptions;
use spine_engine::delivery::policy::PolicyPart;
use spine_protocol::{AgentName, WorkspaceName};

use crate::calls::Client;
use crate::scheduler::TaskId;
use crate::world::World;
pub use weather::{calm_down, weather};

/// What somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Sends to agents.
    Sender,
    /// Works for an agent.
    Receiver(&'static str),
    /// Publishes, with joins.
    Publisher,
    /// Reviews what is parked, cancels, pauses agents.
    Operator,
    /// Comes late, or twice, or from elsewhere.
    Ghost,
}

/// Who lives where.
pub const CAST: [(&str, Role); 11] = [
    ("north", Role::Sender),
    ("north", Role::Sender),
    ("north", Role::Publisher),
    ("north", Role::Receiver("ada")),
    ("north", Role::Receiver("bob")),
    ("north", Role::Receiver("cleo")),
    ("north", Role::Operator),
    ("north", Role::Ghost),
    ("south", Role::Sender),
    ("south", Role::Receiver("ada")),
    ("south", Role::Operator),
];

/// Agents that work is sent to.
const AGENTS: [&str; 3] = ["ada", "bob", "cleo"];

/// Sets somebody to work.
pub fn join(world: &World, (workspace, role): (&'static str, Role)) -> Option<TaskId> {
    let name = match role {
        Role::Receiver(name) => name,
        Role::Sender => "sender",
        Role::Publisher => "publisher",
        Role::Operator => "operator",
        Role::Ghost => "ghost",
    };
    let workspace: WorkspaceName = workspace.parse().ok()?;
    let client = Client { world: world.clone(), workspace, agent: name.parse().ok()? };
    Some(match role {
        Role::Sender => world.spawn(sender::live(client)),
        Role::Receiver(_) => world.spawn(receiver::live(client)),
        Role::Publisher => world.spawn(publisher::live(client)),
        Role::Operator => world.spawn(operator::live(client)),
        Role::Ghost => world.spawn(ghost::live(client)),
    })
}

fn some_agent(client: &Client) -> AgentName {
    let agents: &[&str] = if client.workspace.as_str() == "south" { &["ada"] } else { &AGENTS };
    let name = client.world.one_of(agents).copied().unwrap_or("ada");
    name.parse().unwrap_or_else(|_| client.agent.clone())
}

/// A way of sending that makes something happen within the run.
fn some_options(client: &Client) -> SendOptions {
    let world = &client.world;
    let fallbacks = world.chance(30).then(|| vec![some_agent(client)]);
    let order_key = if world.chance(40) { "lane".parse().ok() } else { None };
    let policy = PolicyPart {
        attempts_max: Some(1 + u32::try_from(world.below(3)).unwrap_or_default()),
        lease_ms: Some(1_000 + world.below(4_000)),
        backoff_first_ms: Some(200 + world.below(800)),
        backoff_ms_max: Some(3_000),
        take_ms: Some(300 + world.below(3_000)),
        pending_ms_max: Some(10_000 + world.below(110_000)),
    };
    SendOptions { fallbacks, direct: world.chance(30), order_key, policy, ..SendOptions::default() }
}
