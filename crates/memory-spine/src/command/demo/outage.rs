//! A target that is down: the breaker opens, the work parks; then it is back and a person requeues.

use serde_json::{Value, json};
use spine_client::{Delivery, State};

use super::cast::ABSENT;
use super::chain::Played;
use super::stage::{Stage, ensure};
use crate::command::Failure;

/// How many in a row open a breaker.
const FAILURES: usize = 3;
const PLACES: [&str; FAILURES] = ["staging", "the EU", "the US"];

/// Plays the outage.
pub async fn play(stage: &mut Stage, played: &Played) -> Result<(), Failure> {
    let mut parked = Vec::new();
    for place in PLACES {
        parked.push(nobody_there(stage, played, place).await?);
    }
    breaker_open(stage, played).await?;
    back_again(stage, &parked).await
}

/// A direct handoff that nobody takes.
async fn nobody_there(stage: &Stage, played: &Played, place: &str) -> Result<Delivery, Failure> {
    let sent =
        stage.client.as_agent("release-manager").hand_off(&direct(played, place), None).await?;
    ensure(
        sent.delivery.state == State::Parked,
        &format!("the deployment to {place} is parked (it is {})", sent.delivery.state.as_str()),
    )?;
    Ok(sent.delivery)
}

fn direct(played: &Played, place: &str) -> Value {
    json!({
        "target_agent": ABSENT, "task_summary": format!("Deploy the client to {place}."), "parent": played.joined,
        "send": {
            "policy": {"attempts": 1, "take_s": 0.3, "backoff_first_s": 0.1, "backoff_max_s": 0.2},
            "wait": {"until": "accepted", "timeout_s": 5},
        },
    })
}

async fn breaker_open(stage: &mut Stage, played: &Played) -> Result<(), Failure> {
    let refused =
        stage.client.as_agent("release-manager").hand_off(&direct(played, "Mars"), None).await;
    let kind = refused.as_ref().err().and_then(|error| error.kind()).map(str::to_owned);
    ensure(kind.as_deref() == Some("circuit-open"), "a fourth handoff is refused at once")?;
    let agent = stage.client.agent(ABSENT).await?;
    ensure(agent.breaker.state == "open", "the breaker is open")?;
    ensure(agent.queue.parked == FAILURES as u64, "three deliveries are parked")?;
    let retry_at = agent.breaker.retry_at.map(|at| at.to_string()).unwrap_or_default();
    stage.step(&format!("{ABSENT} is down: {FAILURES} handoffs found nobody and parked, its breaker opened, a fourth was refused at once (try again at {retry_at})."));
    Ok(())
}

async fn back_again(stage: &mut Stage, parked: &[Delivery]) -> Result<(), Failure> {
    stage.client.set_breaker(ABSENT, "closed").await?;
    let body =
        json!({"filter": {"target": ABSENT}, "reason": "the deployer is back", "dry_run": false});
    let review = stage.client.review_many("requeue", &body).await?;
    ensure(review.ids.len() == parked.len(), "all three are requeued")?;
    let processes: Vec<_> =
        parked.iter().map(|_| stage.agent(ABSENT, "work")).collect::<Result<_, _>>()?;
    for delivery in parked {
        stage.until(&delivery.id.to_string(), "done").await?;
    }
    for process in processes {
        process.finish()?;
    }
    let agent = stage.client.agent(ABSENT).await?;
    ensure(agent.breaker.state == "closed", "the breaker is closed again")?;
    stage.step(&format!("{ABSENT} is back: its breaker was reset, the {} parked deliveries were requeued, and all are done.", parked.len()));
    Ok(())
}
