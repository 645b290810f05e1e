//! `memory-spine inbox`: what waits for an agent, in a line for a host's hook or in rows for a person.

use serde_json::json;
use spine_client::{Ask, Client, ClientError, Delivery, State};

use super::{Exit, Failure, seek};
use crate::cli::{Cli, Inbox};
use crate::house::store_file;
use crate::limits::HOOK_TIME_MAX;
use crate::terminal::{Screen, Table};

/// Deliveries that are looked at; more are counted as "or more".
const ROWS_MAX: usize = 100;
/// What is not over.
const OPEN: [State; 3] = [State::Pending, State::Leased, State::Accepted];
/// Senders that are named in a line.
const SENDERS_MAX: usize = 3;

/// Says what waits. A hook never fails: a session begins whether or not there is a memory.
pub fn show(arguments: &Inbox, cli: &Cli) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if !arguments.hook {
        return runtime.block_on(list(arguments, cli));
    }
    let timed = async { tokio::time::timeout(HOOK_TIME_MAX, line(arguments, cli)).await };
    let line = runtime.block_on(timed);
    if let Ok(Ok(Some(line))) = line {
        Screen::new(false).say(&line);
    }
    Ok(())
}

async fn list(arguments: &Inbox, cli: &Cli) -> Result<(), Failure> {
    let screen = Screen::new(arguments.connection.json);
    let owner = owner(arguments)?;
    let client = client(arguments, cli).await?;
    let waiting = match &client {
        Some(client) => open_deliveries(client, &owner).await?,
        None => Vec::new(),
    };
    screen.show(&json!({"agent": owner, "deliveries": waiting}), |screen| {
        screen.say(
            &summary(&owner, &waiting).unwrap_or_else(|| format!("nothing waits for {owner}")),
        );
        if !waiting.is_empty() {
            screen.say(&table(&waiting));
        }
    });
    Ok(())
}

async fn line(arguments: &Inbox, cli: &Cli) -> Result<Option<String>, Failure> {
    let owner = owner(arguments)?;
    let Some(client) = client(arguments, cli).await? else { return Ok(None) };
    let line = summary(&owner, &open_deliveries(&client, &owner).await?);
    Ok(line.map(|line| format!("Memory Spine: {line}; handoff_receive takes the next one.")))
}

fn owner(arguments: &Inbox) -> Result<String, Failure> {
    let given = spine_client::ClientOptions::from_environment().agent;
    let named = arguments.owner.clone().or(arguments.connection.agent.clone()).or(given);
    named.ok_or_else(|| {
        let said = "whose inbox? Name the agent, or set MEMORY_SPINE_AGENT";
        Failure::new(Exit::Usage, said)
    })
}

/// A client of the server that was named, else of the folder's; none where there is no data.
async fn client(arguments: &Inbox, cli: &Cli) -> Result<Option<Client>, Failure> {
    let is_flagged = arguments.connection.endpoint.is_some();
    if is_flagged || (arguments.connection.is_server_named() && cli.data.is_none()) {
        return Ok(Some(arguments.connection.client()?));
    }
    let seek = seek(cli)?;
    if !store_file(&seek.data).exists() {
        return Ok(None);
    }
    // The host is about to need it, too.
    let server = seek.server().await?;
    Ok(Some(arguments.connection.client_at(server.url)?))
}

async fn open_deliveries(client: &Client, owner: &str) -> Result<Vec<Delivery>, ClientError> {
    let ask = Ask::get(&["deliveries"]).query("agent", Some(owner)).query("order", Some("oldest"));
    let ask = OPEN.iter().fold(ask, |ask, state| ask.query("state", Some(state.as_str())));
    client.pages(ask, "deliveries").take(ROWS_MAX).await
}

/// `2 handoffs wait for coder (from lead, tester), 1 more is in its hands`. No text of a handoff is in it: what
/// others wrote is for a tool's answer, not for the beginning of a conversation.
fn summary(owner: &str, open: &[Delivery]) -> Option<String> {
    let pending: Vec<&Delivery> = open.iter().filter(|one| one.state == State::Pending).collect();
    let (waiting, held) = (pending.len(), open.len() - pending.len());
    let more = if open.len() == ROWS_MAX { " or more" } else { "" };
    let waits = match waiting {
        0 => None,
        1 => Some(format!("1 handoff waits for {owner} (from {})", senders(&pending))),
        _ => {
            Some(format!("{waiting}{more} handoffs wait for {owner} (from {})", senders(&pending)))
        }
    };
    let in_hands = (held > 0).then(|| match waiting {
        0 => format!("{held} taken by {owner} and not finished"),
        _ => format!("{held} more taken and not finished"),
    });
    let parts: Vec<String> = waits.into_iter().chain(in_hands).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn senders(pending: &[&Delivery]) -> String {
    let mut names: Vec<String> = Vec::new();
    for sender in pending.iter().filter_map(|one| one.sender.as_ref()).map(ToString::to_string) {
        if !names.contains(&sender) {
            names.push(sender);
        }
    }
    let rest = names.len().saturating_sub(SENDERS_MAX);
    names.truncate(SENDERS_MAX);
    let others = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    if names.is_empty() { "nobody named".to_owned() } else { names.join(", ") + &others }
}

fn table(open: &[Delivery]) -> String {
    let mut table = Table::new(&["DELIVERY", "STATE", "FROM", "SENT"]);
    for one in open {
        let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        let sender = text(one.sender.as_ref().map(ToString::to_string));
        let sent = text(one.sent_at.as_ref().map(ToString::to_string));
        table.row([one.id.to_string(), one.state.as_str().to_owned(), sender, sent]);
    }
    table.text()
}
