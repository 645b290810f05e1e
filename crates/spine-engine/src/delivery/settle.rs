//! What a receiver does with a delivery in its hands.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_protocol::{DeliveryId, Digest, Envelope, json};

use super::act::Act;
use super::fence::Fence;
use super::hand_on::Next;
use super::limits::{CHECKPOINT_BYTES_MAX, REASON_BYTES_MAX, RESULT_BYTES_MAX};
use super::machine::{Completion, Event, Note};
use super::send::check_batch;
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;

/// What a receiver gives back when it is done.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ack {
    /// The result.
    pub result: Option<Value>,
    /// What was done, for the history.
    pub action: Option<String>,
    /// For which reason.
    pub why: Option<String>,
    /// Whom the work goes on to: apart, since few go on and it takes more room than all else.
    pub next: Option<Box<Next>>,
}

/// A delivery that is done, and the one that the work went on in.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The delivery.
    pub delivery: Delivery,
    /// The next one.
    pub next: Option<Delivery>,
}

impl Deliveries {
    /// The receiver has the whole envelope and takes the work.
    pub async fn accept(&self, caller: &Caller, id: DeliveryId, fence: Fence) -> Result<Delivery> {
        self.act(&caller.workspace, Act::new(caller, id, Event::Accept(fence))).await
    }

    /// The receiver is alive, and learns whether the work is still wanted.
    pub async fn extend(
        &self,
        caller: &Caller,
        id: DeliveryId,
        fence: Fence,
        lease_ms: Option<u64>,
    ) -> Result<Delivery> {
        self.act(&caller.workspace, Act::new(caller, id, Event::Extend(fence, lease_ms))).await
    }

    /// The receiver says how far it is.
    pub async fn progress(
        &self,
        caller: &Caller,
        id: DeliveryId,
        fence: Fence,
        note: Note,
    ) -> Result<Delivery> {
        check_text("note", &note.text)?;
        if note.percent.is_some_and(|percent| !(0.0..=100.0).contains(&percent)) {
            let problem = "must be from 0 to 100".to_owned();
            return Err(DeliveryError::Invalid { field: "percent", problem });
        }
        if let Some(checkpoint) = &note.checkpoint {
            canonical("checkpoint", checkpoint, CHECKPOINT_BYTES_MAX)?;
        }
        let percent = note.percent;
        let act = Act::new(caller, id, Event::Progress(fence, note)).noting("percent", percent);
        self.act(&caller.workspace, act).await
    }

    /// The receiver could not; somebody else, or it again, may.
    pub async fn nack(
        &self,
        caller: &Caller,
        id: DeliveryId,
        fence: Fence,
        reason: String,
        retry: bool,
        after_ms: Option<u64>,
    ) -> Result<Delivery> {
        check_reason(&reason)?;
        let event = Event::Nack { fence, reason: reason.clone(), retry, after_ms };
        self.act(&caller.workspace, Act::new(caller, id, event).noting("reason", &reason)).await
    }

    /// The receiver will not, and says why, or asks back.
    pub async fn reject(
        &self,
        caller: &Caller,
        id: DeliveryId,
        fence: Fence,
        reason: String,
        question: Option<String>,
    ) -> Result<Delivery> {
        check_reason(&reason)?;
        question.as_deref().map_or(Ok(()), |question| check_text("question", question))?;
        let event = Event::Reject { fence, reason: reason.clone(), question };
        self.act(&caller.workspace, Act::new(caller, id, event).noting("reason", &reason)).await
    }

    /// The receiver is done. Handing on is part of the same step: no crash can come between the two.
    pub async fn complete(
        &self,
        caller: &Caller,
        id: DeliveryId,
        fence: Fence,
        ack: Ack,
    ) -> Result<Done> {
        let before = self.get(caller, id).await?;
        if let Some(done) = self.done_before(caller, &before, &fence).await? {
            return Ok(done);
        }
        let completion = self.completion(caller, &before, &ack).await?;
        match self.successor(caller, &before, &ack, &completion).await? {
            // Apart, since few go on: assembling takes more room than all else.
            Some(next) => Box::pin(self.complete_into(caller, id, fence, completion, next)).await,
            None => {
                let act = Act::new(caller, id, Event::Complete(fence, completion));
                let delivery = self.act_on(&caller.workspace, Some(before), act).await?;
                // Another completion by the same lease may have won meanwhile: then its successor counts.
                let next = self.delivery_of_next(caller, &delivery).await?;
                Ok(Done { delivery, next })
            }
        }
    }

    /// Many that are done, without handing on: each by itself, in one go.
    pub async fn complete_many(
        &self,
        caller: &Caller,
        acks: Vec<(DeliveryId, Fence, Ack)>,
    ) -> Result<Vec<Result<Done>>> {
        check_batch(acks.len())?;
        let ids = acks.iter().map(|(id, ..)| *id).collect();
        let rows = self.store.deliveries(&caller.workspace, ids).await?;
        let read: BTreeMap<_, _> =
            rows.into_iter().map(|row| (row.id, Delivery::of_row(row))).collect();
        let mut outcomes: Vec<Option<Result<Done>>> = vec![None; acks.len()];
        let mut acts = Vec::new();
        for (slot, (id, fence, ack)) in outcomes.iter_mut().zip(acks) {
            match read.get(&id) {
                None => *slot = Some(Err(DeliveryError::Unknown { id })),
                Some(Err(damaged)) => *slot = Some(Err(damaged.clone().into())),
                Some(Ok(before)) if ack.next.is_some() || before.story.pipeline.is_some() => {
                    *slot = Some(self.complete(caller, id, fence, ack).await);
                }
                Some(Ok(before)) => match self.completion(caller, before, &ack).await {
                    Ok(done) => acts.push(Act::new(caller, id, Event::Complete(fence, done))),
                    Err(error) => *slot = Some(Err(error)),
                },
            }
        }
        let read = read.into_values().flatten().collect();
        let mut acted = self.act_many_on(&caller.workspace, read, acts).await?.into_iter();
        let done =
            |outcome: Result<Delivery>| outcome.map(|delivery| Done { delivery, next: None });
        let fill = |slot: Option<Result<Done>>| slot.or_else(|| acted.next().map(done));
        let filled = outcomes.into_iter().map(fill);
        Ok(filled.map(|slot| slot.unwrap_or(Err(DeliveryError::Contended))).collect())
    }

    /// The result as it is kept, if it is what the handoff asks for.
    pub(super) async fn completion(
        &self,
        caller: &Caller,
        delivery: &Delivery,
        ack: &Ack,
    ) -> Result<Completion> {
        for (field, text) in [("action", &ack.action), ("why", &ack.why)] {
            text.as_deref().map_or(Ok(()), |text| check_text(field, text))?;
        }
        if delivery.story.has_schema {
            let envelope = self.envelope(caller, delivery).await?;
            check_schema(&envelope, ack.result.as_ref().unwrap_or(&Value::Null))?;
        }
        let keep = |result: &Value| canonical("result", result, RESULT_BYTES_MAX);
        let result = ack.result.as_ref().map(keep).transpose()?;
        let digest = result.as_ref().map(|bytes| Digest::of(&[bytes]));
        let (action, why) = (ack.action.clone(), ack.why.clone());
        Ok(Completion { result, digest, action, why, next: None })
    }

    /// The envelope of a delivery.
    pub async fn envelope(&self, caller: &Caller, delivery: &Delivery) -> Result<Envelope> {
        Ok(self.handoffs.stored(caller, delivery.row.envelope).await?)
    }
}

fn check_schema(envelope: &Envelope, result: &Value) -> Result<()> {
    const PROBLEMS_MAX: usize = 10;
    let expected = envelope.expected_output.as_ref();
    let Some(schema) = expected.and_then(|expected| expected.schema.as_ref()) else {
        return Ok(());
    };
    let unusable = |error: jsonschema::ValidationError<'_>| DeliveryError::ResultInvalid {
        problems: vec![format!("the expected schema itself cannot be used: {error}")],
    };
    let validator = jsonschema::validator_for(schema).map_err(unusable)?;
    let problem = |error: jsonschema::ValidationError<'_>| {
        format!("at {:?}: {}", error.instance_path().to_string(), error.masked())
    };
    let problems: Vec<String> =
        validator.iter_errors(result).take(PROBLEMS_MAX).map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(DeliveryError::ResultInvalid { problems }) }
}

fn canonical(field: &'static str, value: &Value, max: usize) -> Result<Vec<u8>> {
    let wrong = |error: spine_protocol::ReadError| DeliveryError::Invalid {
        field,
        problem: format!("cannot be kept: {error}"),
    };
    let bytes = json::canonical(value).map_err(wrong)?;
    let found = bytes.len();
    if found > max {
        return Err(DeliveryError::TooLarge { field, found, max, unit: "bytes" });
    }
    Ok(bytes)
}

/// A reason is said, and is not too long.
pub(super) fn check_reason(reason: &str) -> Result<()> {
    if reason.trim().is_empty() {
        let problem = "must say why".to_owned();
        return Err(DeliveryError::Invalid { field: "reason", problem });
    }
    check_text("reason", reason)
}

pub(super) fn check_text(field: &'static str, text: &str) -> Result<()> {
    let (found, max) = (text.len(), REASON_BYTES_MAX);
    if found <= max {
        return Ok(());
    }
    Err(DeliveryError::TooLarge { field, found, max, unit: "bytes" })
}
