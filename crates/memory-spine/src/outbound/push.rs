//! Posts deliveries to the webhooks of agents.

use std::time::Duration;

use spine_engine::delivery::Webhook;
use spine_outbound::{
    Answer, Message, Outbound, OutboundError, OutboundErrorKind, OutboundOptions, WebhookSecret,
};
use spine_server::{BadWebhook, Push, Pushed, Pusher, Pushing};

use super::limits::{PUSH_ANSWER_BYTES_MAX, PUSHES_MAX};
use super::unix_s;
use crate::config::OutboundSettings;

/// What pushes.
pub struct WebhookPusher(Outbound);

impl WebhookPusher {
    /// Over what may be reached; one push takes no longer than the given time.
    pub fn new(reach: &OutboundSettings, time_max: Duration) -> Result<Self, OutboundError> {
        let options = OutboundOptions {
            request_ms_max: u64::try_from(time_max.as_millis()).unwrap_or(u64::MAX),
            answer_bytes_max: PUSH_ANSWER_BYTES_MAX,
            requests_max: PUSHES_MAX,
            // Whose turn it is, is the server's to say, by agent: many may live on one host.
            requests_per_host_max: PUSHES_MAX,
            ..reach.options()
        };
        Ok(Self(Outbound::new(options)?))
    }

    async fn post(&self, push: &Push) -> Result<Answer, OutboundError> {
        let secret = WebhookSecret::parse(&push.webhook.secret)?;
        let message = Message { id: &push.id, timestamp_s: unix_s(), body: &push.body };
        self.0.post_signed(&push.webhook.url, &secret, message, &[]).await
    }
}

impl Pusher for WebhookPusher {
    fn check(&self, webhook: &Webhook) -> Result<(), BadWebhook> {
        let bad = |field, problem| BadWebhook { field, problem };
        self.0.check_url(&webhook.url).map_err(|error| bad("url", error.to_string()))?;
        let secret = WebhookSecret::parse(&webhook.secret);
        let wrong = "expected whsec_ and 24 to 64 random bytes in base64";
        secret.map(|_| ()).map_err(|_| bad("secret", wrong.to_owned()))
    }

    fn push(&self, push: Push) -> Pushing<'_> {
        Box::pin(async move {
            match tokio::time::timeout(push.time_max, self.post(&push)).await {
                Ok(Ok(Answer { status, body, .. })) => Pushed::Answered { status, body },
                Ok(Err(failure)) => failed(&failure),
                Err(_) => Pushed::Unreached { reason: late(push.time_max), is_final: false },
            }
        })
    }
}

fn late(time_max: Duration) -> String {
    format!("no complete answer within {} s of its lease", time_max.as_secs_f32())
}

fn failed(failure: &OutboundError) -> Pushed {
    use OutboundErrorKind as Kind;
    tracing::debug!(detail = failure.detail(), "a push failed");
    let reason = failure.to_string();
    match failure.kind() {
        Kind::Status(status) => {
            let retry_after = failure.retry_after_ms().map(Duration::from_millis);
            Pushed::Refused { status, reason, retry_after }
        }
        Kind::AnswerTooLarge | Kind::BadAnswer => Pushed::Unreadable { reason },
        Kind::AddressRefused | Kind::BadUrl | Kind::BadInput => {
            Pushed::Unreached { reason, is_final: true }
        }
        Kind::CannotConnect | Kind::TlsFailed | Kind::TimedOut => {
            Pushed::Unreached { reason, is_final: false }
        }
        Kind::Busy => Pushed::Busy,
    }
}
