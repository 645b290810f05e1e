//! One agent of the demonstration: a process that takes one delivery and does its part.

use std::time::Duration;

use serde_json::{Value, json};
use spine_client::{Client, ClientOptions, Received};

use super::cast;
use crate::cli::DemoAgent;
use crate::command::Failure;
use crate::command::body::with;

const WAIT_S: f64 = 20.0;
/// Short, so that a crash is noticed within the play.
const HELD_LEASE_S: f64 = 1.0;
const BEAT: Duration = Duration::from_millis(300);

/// `work`, or `hold`: take the work, live, and never finish.
pub async fn act(arguments: &DemoAgent) -> Result<(), Failure> {
    let options = ClientOptions {
        endpoint: arguments.endpoint.clone(),
        agent: Some(arguments.name.clone()),
        ..ClientOptions::default()
    };
    let client = Client::new(options)?;
    let is_held = arguments.part == "hold";
    let received = take(&client, &arguments.name, is_held).await?;
    if is_held {
        hold(&client, &received).await
    } else {
        work(&client, &arguments.name, &received).await
    }
}

async fn take(client: &Client, name: &str, is_held: bool) -> Result<Received, Failure> {
    let mut body = json!({"wait_s": WAIT_S, "accept": true, "holder": format!("process {}", std::process::id())});
    if is_held {
        body = with(body, "lease_s", HELD_LEASE_S);
    }
    let received = client.receive(name, &body).await?.into_iter().next();
    received.ok_or_else(|| format!("nothing came for {name}").into())
}

/// Until it is killed.
async fn hold(client: &Client, received: &Received) -> Result<(), Failure> {
    loop {
        tokio::time::sleep(BEAT).await;
        client.extend(&received.delivery.id.to_string(), &received.lease).await?;
    }
}

async fn work(client: &Client, name: &str, received: &Received) -> Result<(), Failure> {
    let part = cast::part(name);
    let mut result = json!({"by": name, "constraints_kept": constraints(&received.envelope)});
    if !part.finding.is_empty() {
        let memory = json!({"content": part.finding, "kind": "note", "tags": ["gateway"]});
        result = with(result, "memory", client.store(&memory).await?.id.to_string());
    }
    let mut body = json!({"lease": received.lease, "result": result, "action": part.action});
    if let Some((target, summary)) = part.next {
        let memory = result.get("memory").cloned().unwrap_or_default();
        let next =
            json!({"target_agent": target, "task_summary": summary, "memory_refs": [memory]});
        body = with(body, "next", next);
    }
    client.ack(&received.delivery.id.to_string(), &body).await?;
    Ok(())
}

/// What the agent was told to keep to, by its envelope.
fn constraints(envelope: &Value) -> Value {
    let list = envelope.get("constraints").and_then(Value::as_array);
    let pair = |constraint: &Value| {
        let name = constraint.get("name")?.as_str()?.to_owned();
        Some((name, constraint.get("value")?.clone()))
    };
    list.into_iter().flatten().filter_map(pair).collect()
}
