//! `memory-spine handoff`.

use serde_json::{Value, json};
use spine_client::{Client, Delivery, Handoff as Assembled, Sent, State};

use super::Failure;
use super::body::{json_or_text, pairs, with, without_nulls};
use super::failure::Exit;
use crate::cli::{Handoff, Until};
use crate::terminal::{Screen, foreign, foreign_line};

const LINE_CHARS_MAX: usize = 160;

/// Assembles and sends.
pub async fn hand_off(arguments: &Handoff) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let screen = Screen::new(arguments.connection.json);
    let body = body(arguments)?;
    if arguments.no_send {
        return preview(&client, screen, &body).await;
    }
    let body = with(body, "send", send(arguments));
    let sent = client.hand_off(&body, None).await?;
    screen.show(&sent, |screen| show_sent(screen, &sent));
    awaited(arguments.wait, &sent.delivery)
}

async fn preview(client: &Client, screen: Screen, body: &Value) -> Result<(), Failure> {
    let made = client.assemble(body).await?;
    let rendered = client.render(&made.id.to_string(), None).await?;
    screen.show(&made, |screen| {
        screen.say(&foreign(&rendered));
        screen.say(&figures(&made));
        screen.say("nothing was sent");
    });
    Ok(())
}

fn body(arguments: &Handoff) -> Result<Value, Failure> {
    let constraints = pairs(&arguments.constraints, "--constraint NAME=VALUE", json_or_text)?;
    let waivers = pairs(&arguments.waivers, "--waive NAME=REASON", |text| json!(text))?;
    let (parent, parents) = match arguments.parents.as_slice() {
        [one] => (Some(one), None),
        [] => (None, None),
        several => (None, Some(several)),
    };
    Ok(without_nulls(json!({
        "target_agent": arguments.target, "task_summary": arguments.summary, "intent": arguments.intent,
        "constraints": constraints, "waive": waivers, "memory_refs": arguments.memories,
        "parent": parent, "parents": parents, "max_tokens": arguments.max_tokens,
        "strategy": arguments.strategy, "subject": arguments.subject, "priority": arguments.priority,
    })))
}

fn send(arguments: &Handoff) -> Value {
    let fallbacks = (!arguments.fallbacks.is_empty()).then_some(&arguments.fallbacks);
    let policy = arguments.attempts.map(|attempts| json!({"attempts": attempts}));
    let wait = |until: Until| json!({"until": until.as_str(), "timeout_s": arguments.timeout});
    without_nulls(
        json!({"fallbacks": fallbacks, "policy": policy, "wait": arguments.wait.map(wait)}),
    )
}

fn show_sent(screen: &Screen, sent: &Sent) {
    let Sent { handoff, delivery } = sent;
    screen.say(&format!("{} to {}: {}", delivery.id, delivery.agent, delivery.state.as_str()));
    screen.say(&format!("  envelope {}  {}", handoff.id, figures(handoff)));
    for gap in &handoff.gaps {
        let gap = serde_json::to_value(gap).unwrap_or_default();
        let text = |name: &str| gap.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
        screen.say(&format!(
            "  missing {}: {}",
            foreign_line(&text("ref"), LINE_CHARS_MAX),
            text("reason")
        ));
    }
    if let Some(result) = &delivery.result {
        screen.say(&format!("  result {}", foreign(&result.to_string())));
    }
}

fn figures(made: &Assembled) -> String {
    format!(
        "hop {} · {} memories · {} tokens · completeness {:.0} % · {} trimmed",
        made.hop,
        made.memory_refs.len(),
        made.token_count,
        made.completeness * 100.0,
        made.trimmed.count
    )
}

/// A wait that ended without what was waited for is no failure of the handoff, yet a script must know.
fn awaited(wait: Option<Until>, delivery: &Delivery) -> Result<(), Failure> {
    let Some(until) = wait else { return Ok(()) };
    let is_met = match until {
        Until::Accepted => matches!(delivery.state, State::Accepted | State::Done),
        Until::Done => delivery.state == State::Done,
    };
    if is_met {
        return Ok(());
    }
    let ended = matches!(delivery.state, State::Rejected | State::Cancelled | State::Parked);
    let exit = if ended { Exit::Failed } else { Exit::Nothing };
    let said = format!(
        "{} is {} and not {}: it goes on without you; `memory-spine trace {}` shows it",
        delivery.id,
        delivery.state.as_str(),
        until.as_str(),
        delivery.envelope_id
    );
    Err(Failure::new(exit, said))
}
