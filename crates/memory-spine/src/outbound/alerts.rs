//! Tells webhooks of alerts.

use std::time::{Duration, Instant};

use spine_outbound::{
    Alert, Answer, Outbound, OutboundError, OutboundErrorKind, OutboundOptions, RetryPolicy,
    Severity, retrying, slack_alert,
};
use spine_server::{Message, Notifier, Telling, Told};

use super::limits::{ALERT_ANSWER_BYTES_MAX, ALERT_REQUEST_MS_MAX};
use super::unix_s;
use crate::config::{AlertSettings, AlertWebhook, Form, OutboundSettings};

/// Every webhook that is told.
pub struct AlertWebhooks {
    outbound: Outbound,
    settings: AlertSettings,
}

impl AlertWebhooks {
    /// Over what may be reached.
    pub fn new(reach: &OutboundSettings, settings: AlertSettings) -> Result<Self, OutboundError> {
        let options = OutboundOptions {
            request_ms_max: ALERT_REQUEST_MS_MAX,
            answer_bytes_max: ALERT_ANSWER_BYTES_MAX,
            ..reach.options()
        };
        Ok(Self { outbound: Outbound::new(options)?, settings })
    }

    async fn tell_one(&self, webhook: &AlertWebhook, message: &Message) -> Told {
        let started = Instant::now();
        let attempts_max = if message.is_test { 1 } else { RetryPolicy::default().attempts_max };
        let policy = RetryPolicy { attempts_max, ..RetryPolicy::default() };
        let post = |_| self.post(webhook, message);
        let end = retrying(policy, random, tokio::time::sleep, post).await;
        told(webhook, end, started.elapsed())
    }

    async fn post(
        &self,
        webhook: &AlertWebhook,
        message: &Message,
    ) -> Result<Answer, OutboundError> {
        match &webhook.form {
            Form::Json(secret) => {
                let body = message.json.to_string().into_bytes();
                // Each attempt has its own time, and the id of the first.
                let (id, timestamp_s) = (message.id.as_str(), unix_s());
                let signed = spine_outbound::Message { id, timestamp_s, body: &body };
                self.outbound.post_signed(&webhook.url, secret, signed, &[]).await
            }
            Form::Slack => {
                let body = slack_alert(self.in_slack(message, &title(message)));
                self.outbound.post_json(&webhook.url, &body, &[]).await
            }
        }
    }

    fn in_slack<'a>(&'a self, message: &'a Message, title: &'a str) -> Alert<'a> {
        let severity = match message.severity {
            "critical" => Severity::Critical,
            "warning" => Severity::Warning,
            _ => Severity::Info,
        };
        Alert { title, severity, text: &message.detail, link: self.settings.link.as_deref() }
    }
}

impl Notifier for AlertWebhooks {
    fn webhooks(&self) -> Vec<String> {
        self.settings.webhooks.iter().map(|webhook| webhook.name.clone()).collect()
    }

    fn tell<'a>(&'a self, webhook: &'a str, message: &'a Message) -> Telling<'a> {
        let known = self.settings.webhooks.iter().find(|known| known.name == webhook);
        Box::pin(async move {
            match known {
                Some(known) => self.tell_one(known, message).await,
                None => unknown(webhook),
            }
        })
    }
}

fn title(message: &Message) -> String {
    if message.resolved { format!("Resolved: {}", message.title) } else { message.title.clone() }
}

/// Without randomness pauses are at their longest, which is safe.
fn random() -> u64 {
    getrandom::u64().unwrap_or(u64::MAX)
}

/// Only a mistake of the server's asks for one that is not there.
fn unknown(webhook: &str) -> Told {
    let error = Some("there is no such webhook any more".to_owned());
    Told { webhook: webhook.to_owned(), status: None, error, took: Duration::ZERO }
}

fn told(webhook: &AlertWebhook, end: Result<Answer, OutboundError>, took: Duration) -> Told {
    let webhook = webhook.name.clone();
    match end {
        Ok(answer) => Told { webhook, status: Some(answer.status), error: None, took },
        Err(failure) => {
            tracing::warn!(webhook, detail = failure.detail(), "an alert could not be sent");
            let status = match failure.kind() {
                OutboundErrorKind::Status(status) => Some(status),
                _ => None,
            };
            Told { webhook, status, error: Some(failure.to_string()), took }
        }
    }
}
