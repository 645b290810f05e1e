//! `memory-spine agents` and `memory-spine health`.

use serde_json::{Value, json};
use spine_client::{Agent, Client};

use super::Failure;
use crate::cli::{Agents, AgentsStep, BreakerAction, Health};
use crate::terminal::{Screen, Table, Tone};

/// Does what was asked.
pub async fn run(arguments: &Agents) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let screen = Screen::new(arguments.connection.json);
    let agent = match &arguments.step {
        AgentsStep::List => {
            let agents = client.agents().await?;
            screen.show(&json!({"agents": agents}), |screen| screen.say(&table(&agents)));
            return Ok(());
        }
        AgentsStep::Pause { name } => client.pause(name).await?,
        AgentsStep::Resume { name } => client.resume(name).await?,
        AgentsStep::Breaker { name, action } => {
            let state = match action {
                BreakerAction::Reset => "closed",
                BreakerAction::Open => "open",
            };
            client.set_breaker(name, state).await?;
            client.agent(name).await?
        }
    };
    screen.show(&agent, |screen| screen.say(&table(std::slice::from_ref(&agent))));
    Ok(())
}

/// Agents as rows.
pub fn table(agents: &[Agent]) -> String {
    let mut table =
        Table::new(&["AGENT", "PENDING", "LEASED", "ACCEPTED", "PARKED", "BREAKER", "STATE"]);
    for agent in agents {
        let forced = if agent.breaker.forced { " (by hand)" } else { "" };
        let queue = &agent.queue;
        let counts = [queue.pending, queue.leased, queue.accepted, queue.parked];
        let cells = std::iter::once(agent.name.to_string())
            .chain(counts.iter().map(u64::to_string))
            .chain([format!("{}{forced}", agent.breaker.state)])
            .chain([if agent.paused { "paused".to_owned() } else { "ready".to_owned() }]);
        table.row(cells);
    }
    table.text()
}

/// The figures of all agents together.
pub fn figures(agents: &[Agent]) -> Value {
    let sum = |of: fn(&Agent) -> u64| agents.iter().map(of).sum::<u64>();
    let open = agents.iter().filter(|agent| agent.breaker.state != "closed");
    let open: Vec<String> = open.map(|agent| agent.name.to_string()).collect();
    let paused = agents.iter().filter(|agent| agent.paused);
    let paused: Vec<String> = paused.map(|agent| agent.name.to_string()).collect();
    json!({
        "agents": agents.len(),
        "queue": {
            "pending": sum(|agent| agent.queue.pending), "leased": sum(|agent| agent.queue.leased),
            "accepted": sum(|agent| agent.queue.accepted), "parked": sum(|agent| agent.queue.parked),
        },
        "breakers_open": open, "paused": paused,
    })
}

/// How the server and its queues are.
pub async fn health(arguments: &Health) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let agents = client.agents().await?;
    let figures = figures(&agents);
    Screen::new(arguments.connection.json)
        .show(&figures, |screen| show_health(screen, &agents, &figures));
    Ok(())
}

/// For the demonstration as well.
pub async fn print_health(client: &Client, screen: &Screen) -> Result<Value, Failure> {
    let agents = client.agents().await?;
    let figures = figures(&agents);
    show_health(screen, &agents, &figures);
    Ok(figures)
}

fn show_health(screen: &Screen, agents: &[Agent], figures: &Value) {
    let count = |name: &str| {
        figures.pointer(&format!("/queue/{name}")).and_then(Value::as_u64).unwrap_or(0)
    };
    screen.say(&format!(
        "{} agents · {} pending · {} in hands · {} parked",
        agents.len(),
        count("pending"),
        count("leased") + count("accepted"),
        count("parked")
    ));
    if !agents.is_empty() {
        screen.say(&table(agents));
    }
    for agent in agents.iter().filter(|agent| agent.breaker.state != "closed") {
        let said = format!(
            "the breaker of {} is {}: see why nobody takes its work, then `memory-spine agents breaker {} reset`",
            agent.name, agent.breaker.state, agent.name
        );
        screen.say(&screen.paint(Tone::Bad, &said));
    }
    if count("parked") > 0 {
        let said =
            format!("{} parked: review them with `memory-spine parked list`", count("parked"));
        screen.say(&screen.paint(Tone::Odd, &said));
    }
}
