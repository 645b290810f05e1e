//! `memory-spine receive`: one delivery, taken, shown and settled.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::json;
use spine_client::{Client, Delivery, Received};

use super::Failure;
use super::body::{json_or_text, without_nulls};
use super::failure::Exit;
use crate::cli::{Receive, Settle};
use crate::terminal::{Screen, foreign};

/// A sign of life comes this often within one lease.
const BEATS_PER_LEASE: f64 = 3.0;
const LEASE_S_DEFAULT: f64 = 60.0;

/// Takes one and does with it as asked.
pub async fn receive(arguments: &Receive) -> Result<(), Failure> {
    let client = arguments.connection.client()?.as_agent(&arguments.receiver);
    let screen = Screen::new(arguments.connection.json);
    if let (Some(id), Some(lease)) = (&arguments.delivery, &arguments.lease) {
        let settled = settle(&client, &arguments.settle, id, lease).await?;
        settled.iter().for_each(|settled| show_settled(screen, settled));
        return Ok(());
    }
    let Some(received) = take(&client, arguments).await? else {
        let said = format!("nothing came for {} within {} s", arguments.receiver, arguments.wait);
        return Err(Failure::new(Exit::Nothing, said));
    };
    match &arguments.settle.exec {
        Some(command) => execute(&client, arguments, screen, &received, command).await,
        None => hold_or_settle(&client, arguments, screen, &received).await,
    }
}

async fn take(client: &Client, arguments: &Receive) -> Result<Option<Received>, Failure> {
    let body = without_nulls(json!({
        "max": 1, "wait_s": arguments.wait, "lease_s": arguments.lease_time, "accept": true,
        "format": arguments.format, "holder": format!("memory-spine receive, process {}", std::process::id()),
    }));
    Ok(client.receive(&arguments.receiver, &body).await?.into_iter().next())
}

async fn hold_or_settle(
    client: &Client,
    arguments: &Receive,
    screen: Screen,
    received: &Received,
) -> Result<(), Failure> {
    let id = received.delivery.id.to_string();
    let settled = settle(client, &arguments.settle, &id, &received.lease).await?;
    match &settled {
        Some(settled) => {
            show_text(screen, received);
            show_settled(screen, settled);
        }
        None => screen.show(received, |screen| {
            show_text(*screen, received);
            screen.say(&ways_on(&arguments.receiver, &id, &received.lease));
        }),
    }
    Ok(())
}

/// For scripts there is one answer: what became of it.
fn show_text(screen: Screen, received: &Received) {
    screen.text(&foreign(received.rendered.as_deref().unwrap_or_default()));
}

fn ways_on(receiver: &str, id: &str, lease: &str) -> String {
    let this = format!("  memory-spine receive {receiver} --delivery {id} --lease {lease}");
    format!(
        "{id} is yours until its lease runs out. Then one of\n{this} --ack RESULT\n{this} --nack REASON\n{this} --reject REASON"
    )
}

async fn settle(
    client: &Client,
    settle: &Settle,
    id: &str,
    lease: &str,
) -> Result<Option<Delivery>, Failure> {
    if let Some(result) = &settle.ack {
        let done = client.ack(id, &json!({"lease": lease, "result": json_or_text(result)})).await?;
        return Ok(Some(done.delivery));
    }
    if let Some(reason) = &settle.nack {
        return Ok(Some(client.nack(id, &json!({"lease": lease, "reason": reason})).await?));
    }
    if let Some(reason) = &settle.reject {
        return Ok(Some(client.reject(id, &json!({"lease": lease, "reason": reason})).await?));
    }
    Ok(None)
}

fn show_settled(screen: Screen, delivery: &Delivery) {
    screen.show(delivery, |screen| {
        screen.say(&format!("{} is {}", delivery.id, delivery.state.as_str()));
    });
}

async fn execute(
    client: &Client,
    arguments: &Receive,
    screen: Screen,
    received: &Received,
    command: &str,
) -> Result<(), Failure> {
    let id = received.delivery.id.to_string();
    let beating = tokio::spawn(beat(
        client.clone(),
        id.clone(),
        received.lease.clone(),
        beat_time(arguments),
    ));
    let ran = run(command.to_owned(), &arguments.receiver, received).await;
    beating.abort();
    let output = match ran {
        Ok(output) => output,
        Err(error) => return gave_back(client, &id, &received.lease, &error.to_string()).await,
    };
    if !output.status.success() {
        let reason = format!("`{command}` ended with {}", output.status);
        return gave_back(client, &id, &received.lease, &reason).await;
    }
    let result = json_or_text(String::from_utf8_lossy(&output.stdout).trim_end());
    let done = client.ack(&id, &json!({"lease": received.lease, "result": result})).await?;
    show_settled(screen, &done.delivery);
    Ok(())
}

async fn gave_back(client: &Client, id: &str, lease: &str, reason: &str) -> Result<(), Failure> {
    client.nack(id, &json!({"lease": lease, "reason": reason})).await?;
    Err(format!("{reason}: {id} was given back and is tried again").into())
}

fn beat_time(arguments: &Receive) -> Duration {
    let seconds = arguments.lease_time.unwrap_or(LEASE_S_DEFAULT) / BEATS_PER_LEASE;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(20))
}

/// Ends when the lease is lost: the command's result is then refused, and says so.
async fn beat(client: Client, id: String, lease: String, pause: Duration) {
    loop {
        tokio::time::sleep(pause).await;
        if client.extend(&id, &lease).await.is_err() {
            return;
        }
    }
}

async fn run(command: String, receiver: &str, received: &Received) -> Result<Output, Failure> {
    let text = received.rendered.clone().unwrap_or_default();
    let variables = [
        ("MEMORY_SPINE_DELIVERY", received.delivery.id.to_string()),
        ("MEMORY_SPINE_LEASE", received.lease.clone()),
        ("MEMORY_SPINE_AGENT", receiver.to_owned()),
    ];
    let running = move || -> std::io::Result<Output> {
        let mut child = Command::new("sh")
            .args(["-c", &command])
            .envs(variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut input = child.stdin.take();
        // A thread of its own: a command may write much before it reads anything.
        let feeding = std::thread::spawn(move || {
            // A command that does not read its input is none the worse for it.
            input.as_mut().map(|input| input.write_all(text.as_bytes()))
        });
        let output = child.wait_with_output();
        let _ = feeding.join();
        output
    };
    Ok(tokio::task::spawn_blocking(running).await??)
}
