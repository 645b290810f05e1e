//! The chain: research, analysis, code, review; then the broadcast and its join.

use serde_json::{Value, json};
use spine_client::{Delivery, Hop};

use super::cast::{CONSTRAINT, DELETED, FAN, INTENT, JOINER, MEMORIES, policy};
use super::stage::{Stage, ensure};
use crate::command::Failure;

/// What came of the chain: the first envelope, and the one that joined the broadcast.
pub struct Played {
    pub envelope: String,
    pub joined: String,
}

/// Plays the chain.
pub async fn play(stage: &mut Stage) -> Result<Played, Failure> {
    let memories = remember(stage).await?;
    let first = hand_over(stage, &memories).await?;
    let analysis = researched(stage, &first).await?;
    let code = analysed(stage, &analysis).await?;
    let written = crashed_and_redelivered(stage, &code).await?;
    let review = stage.next_of(&written).await?;
    reviewed(stage, &first, &review).await?;
    let joined = broadcast(stage, &review).await?;
    Ok(Played { envelope: first.envelope_id.to_string(), joined })
}

async fn remember(stage: &mut Stage) -> Result<Vec<String>, Failure> {
    let bodies: Vec<Value> =
        MEMORIES.iter().map(|text| json!({"content": text, "tags": ["gateway"]})).collect();
    let stored = stage.client.store_many(&bodies).await?;
    let ids: Vec<String> = stored.iter().map(|memory| memory.id.to_string()).collect();
    let deleted = ids.get(DELETED).ok_or("this did not happen: five memories were stored")?;
    stage.client.delete_memory(deleted).await?;
    stage.step(&format!(
        "Stored {} memories about the payment gateway, then deleted {deleted}.",
        ids.len()
    ));
    for agent in ["researcher", "analyst", "coder", "reviewer", JOINER].iter().chain(&FAN) {
        stage.client.register(agent, &json!({"policy": policy()})).await?;
    }
    Ok(ids)
}

async fn hand_over(stage: &mut Stage, memories: &[String]) -> Result<Delivery, Failure> {
    let (name, value) = CONSTRAINT;
    let body = json!({
        "target_agent": "researcher", "task_summary": "Find out what the gateway promises about retries.",
        "intent": INTENT, "constraints": {name: value, "forbid": ["card numbers in logs"]}, "memory_refs": memories,
    });
    let sent = stage.client.as_agent("product-owner").hand_off(&body, None).await?;
    let missing = memories.get(DELETED).cloned().unwrap_or_default();
    let gaps = serde_json::to_value(&sent.handoff.gaps)?;
    ensure(
        gaps == json!([{"ref": missing, "reason": "deleted"}]),
        "the deleted memory is flagged",
    )?;
    stage.step(&format!(
        "Handed to researcher in {} tokens; {missing} is missing and flagged (deleted), completeness {:.0} %.",
        sent.handoff.token_count, sent.handoff.completeness * 100.0
    ));
    Ok(sent.delivery)
}

async fn researched(stage: &mut Stage, first: &Delivery) -> Result<Delivery, Failure> {
    let done = worked(stage, "researcher", first).await?;
    let next = stage.next_of(&done).await?;
    stage.step(&format!("researcher is done and handed on to {} in one step.", next.agent));
    Ok(next)
}

async fn analysed(stage: &mut Stage, delivery: &Delivery) -> Result<Delivery, Failure> {
    let done = worked(stage, "analyst", delivery).await?;
    let next = stage.next_of(&done).await?;
    stage.step(&format!("analyst is done and handed on to {}.", next.agent));
    Ok(next)
}

/// A process does a delivery.
async fn worked(stage: &Stage, name: &str, delivery: &Delivery) -> Result<Delivery, Failure> {
    let process = stage.agent(name, "work")?;
    let done = stage.until(&delivery.id.to_string(), "done").await?;
    process.finish()?;
    Ok(done)
}

async fn crashed_and_redelivered(
    stage: &mut Stage,
    delivery: &Delivery,
) -> Result<Delivery, Failure> {
    let id = delivery.id.to_string();
    let process = stage.agent("coder", "hold")?;
    let held = stage.until(&id, "accepted").await?;
    let pid = process.id();
    process.kill()?;
    stage.step(&format!(
        "coder had accepted (attempt {}) when its process {pid} was killed with SIGKILL.",
        held.attempt
    ));
    let done = worked(stage, "coder", delivery).await?;
    let lost = done.attempts.first().map(|attempt| attempt.outcome.as_str());
    ensure(lost == Some("lease_expired"), "the lease of the killed process ran out")?;
    ensure(done.attempt == 2, "the work was redelivered once")?;
    let holder = done.attempts.first().and_then(|attempt| attempt.holder.clone());
    ensure(holder == Some(format!("process {pid}")), "the lost attempt names the killed process")?;
    stage.step("Its lease ran out, another coder got the same work (attempt 2) and finished it.");
    Ok(done)
}

async fn reviewed(stage: &mut Stage, first: &Delivery, review: &Delivery) -> Result<(), Failure> {
    let done = worked(stage, "reviewer", review).await?;
    let (name, value) = CONSTRAINT;
    let kept = done
        .result
        .as_ref()
        .and_then(|result| result.pointer(&format!("/constraints_kept/{name}")));
    ensure(kept == Some(&json!(value)), "the reviewer read the first constraint")?;
    let last = hop(stage, &review.envelope_id.to_string()).await?;
    let envelope = stage.client.envelope(&last.id.to_string()).await?;
    ensure(
        envelope.pointer("/task/intent") == Some(&json!(INTENT)),
        "the user's words arrived unchanged",
    )?;
    let set_by = last.constraints.iter().find(|constraint| constraint.name.as_str() == name);
    let since = serde_json::to_value(set_by)?.get("since").cloned().unwrap_or_default();
    ensure(since == json!(first.envelope_id), "the constraint is the first envelope's")?;
    stage.step(&format!("reviewer approved at hop {}: the constraint {name} = {value} and the user's words arrived unchanged.", last.hop));
    Ok(())
}

async fn hop(stage: &Stage, envelope: &str) -> Result<Hop, Failure> {
    let trace = stage.client.trace(envelope).await?;
    let found = trace.envelopes.into_iter().find(|hop| hop.id.to_string() == envelope);
    found.ok_or_else(|| format!("this did not happen: {envelope} is in its trace").into())
}

async fn broadcast(stage: &mut Stage, review: &Delivery) -> Result<String, Failure> {
    let reviewer = stage.client.as_agent("reviewer");
    let handoff = json!({
        "target_agent": "broadcast", "task_summary": "Test, document and audit the reviewed client.",
        "parent": review.envelope_id,
    });
    let made = reviewer.assemble(&handoff).await?;
    let join = json!({"handoff": {"target_agent": JOINER, "task_summary": "Prepare the release from all three results."}});
    let body = json!({"envelope_id": made.id, "receivers": FAN, "join": join});
    let publication = reviewer.publish("release", &body).await?;
    let id = publication.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let processes: Vec<_> =
        FAN.iter().map(|name| stage.agent(name, "work")).collect::<Result<_, _>>()?;
    let settled =
        stage.client.publication_when_settled(&id, std::time::Duration::from_secs(20)).await?;
    for process in processes {
        process.finish()?;
    }
    ensure(
        settled.pointer("/join/made/done") == Some(&json!(FAN.len())),
        "three results were joined",
    )?;
    let text = |name: &str| {
        settled
            .pointer(&format!("/join/made/{name}"))
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let process = stage.agent(JOINER, "work")?;
    stage.until(&text("delivery_id"), "done").await?;
    process.finish()?;
    let joined = hop(stage, &text("envelope_id")).await?;
    ensure(
        joined.parents.len() == FAN.len() || joined.parents.len() == 1,
        "the join follows what it joins",
    )?;
    ensure(
        joined.constraints.iter().any(|constraint| constraint.name.as_str() == CONSTRAINT.0),
        "the constraint is in the join",
    )?;
    stage.step(&format!(
        "A broadcast went to {}; their three results were joined for {JOINER}, who is done.",
        FAN.join(", ")
    ));
    Ok(joined.id.to_string())
}
