//! What a webhook's answer makes of a delivery.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use spine_engine::Caller;
use spine_engine::delivery::limits::{BACKOFF_MS_MAX, REASON_BYTES_MAX};
use spine_engine::delivery::{Ack, DeliveryError, Fence};
use spine_protocol::json::read_value;
use spine_protocol::{DeliveryId, from_value};

use super::Pushed;
use crate::App;

/// What a receiver may say with a success. With nothing of it the work is only taken.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnswerBody {
    /// It is done.
    #[serde(deserialize_with = "present")]
    result: Option<Value>,
    /// What was done, for the history.
    action: Option<String>,
    /// For which reason.
    why: Option<String>,
    /// It could not.
    error: Option<Value>,
    /// Whether it is to be asked again.
    retry: Option<bool>,
    /// It will not.
    reject: Option<String>,
    /// A question back to the sender.
    question: Option<String>,
}

/// A result may be null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// What is to be done.
#[derive(Debug)]
enum Verdict {
    Accept,
    Complete(Box<Ack>),
    Nack { reason: String, retry: bool, after: Option<Duration> },
    Reject { reason: String, question: Option<String> },
    Unreached { reason: String, retry: bool },
}

/// Settles a delivery as the answer says. A lease that was lost meanwhile is somebody else's now.
pub(super) async fn settle(
    app: &App,
    caller: &Caller,
    id: DeliveryId,
    fence: &Fence,
    pushed: Pushed,
) {
    let settled = apply(app, caller, id, fence.clone(), verdict(pushed)).await;
    match settled {
        Ok(()) => {}
        Err(
            error @ (DeliveryError::LeaseLost { .. }
            | DeliveryError::Cancelled { .. }
            | DeliveryError::Over { .. }),
        ) => tracing::debug!(%error, "a webhook's answer came too late"),
        // The lease runs out, and it is pushed again.
        Err(error) => tracing::warn!(%error, "a webhook's answer could not be noted"),
    }
}

async fn apply(
    app: &App,
    caller: &Caller,
    id: DeliveryId,
    fence: Fence,
    verdict: Verdict,
) -> Result<(), DeliveryError> {
    let deliveries = &app.deliveries;
    let delivery = match verdict {
        Verdict::Accept => deliveries.accept(caller, id, fence).await,
        Verdict::Complete(ack) => {
            match deliveries.complete(caller, id, fence.clone(), *ack).await {
                Err(error) if is_of_result(&error) => {
                    let reason = clipped(&error.to_string());
                    deliveries.nack(caller, id, fence, reason, true, None).await
                }
                done => done.map(|done| done.delivery),
            }
        }
        Verdict::Nack { reason, retry, after } => {
            let capped = |ms: u128| u64::try_from(ms).unwrap_or(u64::MAX).min(BACKOFF_MS_MAX);
            let after_ms = after.map(|after| capped(after.as_millis()));
            deliveries.nack(caller, id, fence, reason, retry, after_ms).await
        }
        Verdict::Reject { reason, question } => {
            deliveries.reject(caller, id, fence, reason, question).await
        }
        Verdict::Unreached { reason, retry } => {
            deliveries.unreached(caller, id, fence, reason, retry).await
        }
    };
    delivery.map(|_| ())
}

/// A result that cannot be taken is a failure of the receiver, which hears of it by no other way.
fn is_of_result(error: &DeliveryError) -> bool {
    use DeliveryError::{Invalid, ResultInvalid, TooLarge};
    matches!(error, ResultInvalid { .. } | TooLarge { .. } | Invalid { .. })
}

fn verdict(pushed: Pushed) -> Verdict {
    match pushed {
        Pushed::Answered { status: 202, .. } => Verdict::Accept,
        Pushed::Answered { body, .. } if body.iter().all(u8::is_ascii_whitespace) => {
            Verdict::Accept
        }
        Pushed::Answered { status, body } => said(status, &body),
        // Gone, as it says: nobody will be there later.
        Pushed::Refused { status: 410, reason, .. } => nack(reason, false, None),
        Pushed::Refused { reason, retry_after, .. } => nack(reason, true, retry_after),
        Pushed::Unreadable { reason } => nack(reason, true, None),
        Pushed::Unreached { reason, is_final } => {
            Verdict::Unreached { reason: clipped(&reason), retry: !is_final }
        }
        Pushed::Busy => nack("the server had no place to push it".to_owned(), true, None),
    }
}

fn nack(reason: String, retry: bool, after: Option<Duration>) -> Verdict {
    Verdict::Nack { reason: clipped(&reason), retry, after }
}

fn said(status: u16, body: &[u8]) -> Verdict {
    let answer = read_value(body).and_then(|answer| from_value::<AnswerBody>(&answer));
    let Ok(answer) = answer else {
        return nack(unusable(status), true, None);
    };
    let AnswerBody { result, action, why, error, retry, reject, question } = answer;
    match (error, reject, result) {
        (Some(error), ..) => nack(in_words(&error), retry.unwrap_or(true), None),
        (None, Some(reason), _) if !reason.trim().is_empty() => {
            Verdict::Reject { reason: clipped(&reason), question: question.as_deref().map(clipped) }
        }
        (None, _, Some(result)) => {
            Verdict::Complete(Box::new(Ack { result: Some(result), action, why, next: None }))
        }
        _ => nack(unusable(status), true, None),
    }
}

fn unusable(status: u16) -> String {
    format!(
        "the webhook answered {status} with a body that is no JSON with result, error or reject: send 202 or no body to take the work and settle it later"
    )
}

fn in_words(error: &Value) -> String {
    let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
    if text.trim().is_empty() { "the webhook said error".to_owned() } else { text }
}

/// The beginning of it, as much as is kept.
fn clipped(text: &str) -> String {
    let end = (0..=text.len().min(REASON_BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: u16, body: &str, expect: &str) {
        let verdict = verdict(Pushed::Answered { status, body: body.as_bytes().to_vec() });
        let shown = match verdict {
            Verdict::Accept => "accept".to_owned(),
            Verdict::Complete(ack) => format!("done {}", ack.result.unwrap_or_default()),
            Verdict::Nack { reason, retry, .. } => {
                let end = reason.find(" with a body").unwrap_or(reason.len());
                format!("nack {} {retry}", &reason[..end])
            }
            Verdict::Reject { reason, question } => format!("reject {reason} {question:?}"),
            Verdict::Unreached { .. } => "unreached".to_owned(),
        };
        assert_eq!(shown, expect, "{status} {body}");
    }

    #[test]
    fn an_answer_means_what_it_says() {
        check(202, r#"{"result": 1}"#, "accept");
        check(204, "", "accept");
        check(200, " \n", "accept");
        check(200, r#"{"result": {"files": 3}, "action": "wrote it"}"#, r#"done {"files":3}"#);
        check(200, r#"{"result": null}"#, "done null");
        check(200, r#"{"result": 1, "error": null}"#, "done 1");
        check(200, r#"{"result": null, "error": "no disk"}"#, "nack no disk true");
        check(200, r#"{"error": {"code": 7}, "retry": false}"#, r#"nack {"code":7} false"#);
        check(
            200,
            r#"{"reject": "not mine", "question": "whose?"}"#,
            r#"reject not mine Some("whose?")"#,
        );
        for unusable in ["{}", "ok", r#"{"ok": true}"#, "[1]", r#"{"reject": " "}"#] {
            check(200, unusable, "nack the webhook answered 200 true");
        }
    }

    #[test]
    fn a_long_reason_is_cut_between_letters() {
        let long = "é".repeat(REASON_BYTES_MAX);
        assert_eq!(clipped(&long).len(), REASON_BYTES_MAX);
        assert_eq!(clipped(&format!("x{long}")).len(), REASON_BYTES_MAX - 1);
    }
}
