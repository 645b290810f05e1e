//! `memory-spine parked`.

use serde_json::{Value, json};
use spine_client::{Client, ClientError, Delivery, ParkedFilter, Review};

use super::Failure;
use super::body::{json_or_text, with, without_nulls};
use super::each::each;
use super::failure::Exit;
use super::trace::story;
use crate::cli::{Many, Parked, ParkedStep, Which};
use crate::terminal::{Screen, Table, foreign, foreign_line};

const LINE_CHARS_MAX: usize = 80;

/// Does what was asked.
pub async fn review(arguments: &Parked) -> Result<(), Failure> {
    let client = arguments.connection.client()?;
    let screen = Screen::new(arguments.connection.json);
    match &arguments.step {
        ParkedStep::List { filter, limit } => list(&client, screen, filter, *limit as usize).await,
        ParkedStep::Add { envelope, why } => {
            let parked = client.park(envelope, why).await?;
            screen.show(&json!({"deliveries": parked}), |screen| say_states(screen, &parked));
            Ok(())
        }
        ParkedStep::Show { id } => show(&client, screen, id).await,
        ParkedStep::Requeue { ids, filter, many, to, rate, why } => {
            let body = without_nulls(json!({"reason": why, "target": to}));
            if !ids.is_empty() {
                return review_each(screen, ids, async |id| client.requeue(id, &body).await).await;
            }
            let body = without_nulls(json!({"reason": why, "target": to, "rate_per_s": rate}));
            by_filter(&client, screen, "requeue", filter, many, body).await
        }
        ParkedStep::Resolve { id, result } => {
            let resolved = client.resolve(id, &json!({"result": json_or_text(result)})).await?;
            screen.show(&resolved, |screen| screen.say(&state_line(&resolved)));
            Ok(())
        }
        ParkedStep::Discard { ids, filter, many, why } if ids.is_empty() => {
            by_filter(&client, screen, "discard", filter, many, json!({"reason": why})).await
        }
        ParkedStep::Discard { ids, why, .. } => {
            review_each(screen, ids, async |id| client.discard(id, why).await).await
        }
    }
}

async fn list(client: &Client, screen: Screen, which: &Which, max: usize) -> Result<(), Failure> {
    let found: Vec<Delivery> = client.parked(&filter(which)).take(max).await?;
    screen.show(&json!({"deliveries": found}), |screen| show_list(screen, &found));
    Ok(())
}

fn show_list(screen: &Screen, found: &[Delivery]) {
    if found.is_empty() {
        return screen.say("nothing is parked");
    }
    let mut table = Table::new(&["DELIVERY", "AGENT", "CAUSE", "REASON"]);
    for delivery in found {
        let last = delivery.parked.last();
        let reason = last.and_then(|parking| parking.reason.as_deref()).unwrap_or_default();
        table.row([
            delivery.id.to_string(),
            delivery.agent.to_string(),
            last.map(|parking| foreign_line(&parking.cause, LINE_CHARS_MAX)).unwrap_or_default(),
            foreign_line(reason, LINE_CHARS_MAX),
        ]);
    }
    screen.say(&table.text());
}

async fn show(client: &Client, screen: Screen, id: &str) -> Result<(), Failure> {
    let delivery = client.delivery(id).await?;
    let text = client.render(&delivery.envelope_id.to_string(), None).await?;
    screen.show(&delivery, |screen| {
        screen.say(&state_line(&delivery));
        story(&delivery).iter().for_each(|line| screen.say(&format!("  {line}")));
        screen.say("");
        screen.say(&foreign(&text));
    });
    Ok(())
}

fn state_line(delivery: &Delivery) -> String {
    format!("{} to {} is {}", delivery.id, delivery.agent, delivery.state.as_str())
}

fn say_states(screen: &Screen, deliveries: &[Delivery]) {
    deliveries.iter().for_each(|delivery| screen.say(&state_line(delivery)));
}

async fn review_each(
    screen: Screen,
    ids: &[String],
    review: impl AsyncFn(&str) -> Result<Delivery, ClientError>,
) -> Result<(), Failure> {
    let show = |done: &[Delivery]| {
        screen.show(&json!({"deliveries": done}), |screen| say_states(screen, done));
    };
    each(ids, review, show).await
}

async fn by_filter(
    client: &Client,
    screen: Screen,
    step: &str,
    which: &Which,
    many: &Many,
    body: Value,
) -> Result<(), Failure> {
    let filter = filter(which);
    let is_all = [&which.target, &which.reason, &which.since, &which.until]
        .iter()
        .all(|part| part.is_none());
    if is_all && !many.all {
        let said = "name deliveries, a filter such as --target AGENT, or --all; --dry-run shows which ones it would be";
        return Err(Failure::new(Exit::Usage, said));
    }
    let body = with(body, "filter", serde_json::to_value(&filter)?);
    let body = with(with(body, "dry_run", many.dry_run), "max", many.max);
    let review = client.review_many(step, &body).await?;
    screen.show(&review, |screen| show_review(screen, step, &review));
    Ok(())
}

fn show_review(screen: &Screen, step: &str, review: &Review) {
    review.ids.iter().for_each(|id| screen.say(&foreign_line(id, LINE_CHARS_MAX)));
    let count = review.ids.len();
    match review.dry_run {
        true => screen.say(&format!("{count} would be taken by {step}; nothing was done")),
        false => screen.say(&format!(
            "{step}: {count} done, {} reviewed by somebody else first",
            review.missed.len()
        )),
    }
}

fn filter(which: &Which) -> ParkedFilter {
    let Which { target, reason, since, until } = which.clone();
    ParkedFilter { target, reason, since, until }
}
