//! Whom alerts are sent to.

use std::collections::BTreeSet;

use spine_outbound::WebhookSecret;
use toml::Table;

use super::{ConfigError, Layers, OutboundSettings};

const KEY: &str = "alerts.webhook";
/// Webhooks that alerts are sent to.
const WEBHOOKS_MAX: usize = 10;
/// The name of one.
const NAME_BYTES_MAX: usize = 64;

/// Whom alerts are sent to.
#[derive(Debug, Clone)]
pub struct AlertSettings {
    /// Where people see more.
    pub link: Option<String>,
    /// Each of them.
    pub webhooks: Vec<AlertWebhook>,
}

/// One that is told.
#[derive(Debug, Clone)]
pub struct AlertWebhook {
    /// Its name in an alert's history.
    pub name: String,
    /// Its address.
    pub url: String,
    /// How it is told.
    pub form: Form,
}

/// How a webhook is told.
#[derive(Debug, Clone)]
pub enum Form {
    /// JSON, signed.
    Json(WebhookSecret),
    /// As Slack has it.
    Slack,
}

impl AlertSettings {
    pub(super) fn from_layers(
        layers: &Layers,
        outbound: &OutboundSettings,
    ) -> Result<Self, ConfigError> {
        let tables = layers.tables(KEY)?;
        if tables.len() > WEBHOOKS_MAX {
            return Err(layers.error(KEY, &format!("expected at most {WEBHOOKS_MAX} of them")));
        }
        let (mut webhooks, mut names) = (Vec::new(), BTreeSet::new());
        for (number, table) in tables.iter().enumerate() {
            let entry = Entry { layers, number, table };
            let webhook = entry.webhook(outbound)?;
            if !names.insert(webhook.name.clone()) {
                return Err(entry.error("name", "stands twice: give each its own"));
            }
            webhooks.push(webhook);
        }
        Ok(Self {
            link: Some(layers.text("alerts.link")?).filter(|link| !link.is_empty()),
            webhooks,
        })
    }
}

/// One table of the file.
struct Entry<'a> {
    layers: &'a Layers,
    number: usize,
    table: &'a Table,
}

impl Entry<'_> {
    fn webhook(&self, outbound: &OutboundSettings) -> Result<AlertWebhook, ConfigError> {
        if let Some(unknown) = self.table.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            let problem = format!("there is no such setting: expected {}", FIELDS.join(", "));
            return Err(self.error(unknown, &problem));
        }
        let (name, url) = (self.text("name")?, self.text("url")?);
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            let problem = format!("expected a name of 1 to {NAME_BYTES_MAX} bytes");
            return Err(self.error("name", &problem));
        }
        outbound.check_url(&url).map_err(|error| self.error("url", &error.to_string()))?;
        Ok(AlertWebhook { name, url, form: self.form()? })
    }

    fn form(&self) -> Result<Form, ConfigError> {
        let form = if self.table.contains_key("form") { self.text("form")? } else { "json".into() };
        match (form.as_str(), self.table.contains_key("secret")) {
            ("json", _) => {
                let secret = WebhookSecret::parse(&self.text("secret")?);
                let wrong = "expected whsec_ and 24 to 64 random bytes in base64";
                Ok(Form::Json(secret.map_err(|_| self.error("secret", wrong))?))
            }
            ("slack", false) => Ok(Form::Slack),
            ("slack", true) => Err(self.error("secret", "Slack checks none: leave it out")),
            (other, _) => {
                Err(self.error("form", &format!("expected json or slack, got {other:?}")))
            }
        }
    }

    /// Of values nothing is shown: each may be a secret in the wrong place.
    fn text(&self, field: &str) -> Result<String, ConfigError> {
        match self.table.get(field) {
            Some(toml::Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(self.error(field, "expected a text")),
            None => Err(self.error(field, "is missing")),
        }
    }

    fn error(&self, field: &str, problem: &str) -> ConfigError {
        self.layers.error_in(KEY, &format!("[{}].{field}", self.number), problem)
    }
}

const FIELDS: [&str; 4] = ["name", "url", "secret", "form"];

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn check(file: &str, expect: &str) {
        let found = Layers::defaults()
            .and_then(|layers| layers.with_file("spine.toml", file))
            .and_then(|layers| {
                AlertSettings::from_layers(&layers, &OutboundSettings::from_layers(&layers)?)
            });
        let shown = match found {
            Ok(found) => format!("{found:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(shown, expect);
    }

    fn entry(fields: &str) -> String {
        format!("[[alerts.webhook]]\nname = 'ops'\n{fields}")
    }

    #[test]
    fn a_webhook_is_read_and_its_secret_never_shown() {
        check(
            &entry(&format!("url = 'https://ops.example/a'\nsecret = '{SECRET}'")),
            "AlertSettings { link: None, webhooks: [AlertWebhook { name: \"ops\", url: \"https://ops.example/a\", form: Json(WebhookSecret(…)) }] }",
        );
    }

    #[test]
    fn every_error_names_the_key() {
        let cases = [
            (
                "alerts.webhook = ['x']".to_owned(),
                "`alerts.webhook` in spine.toml: expected [[alerts.webhook]] tables in the file",
            ),
            (entry(""), "`alerts.webhook[0].url` in spine.toml: is missing"),
            (entry("url = 1"), "`alerts.webhook[0].url` in spine.toml: expected a text"),
            (
                entry("uri = 'x'"),
                "`alerts.webhook[0].uri` in spine.toml: there is no such setting: expected name, url, secret, form",
            ),
            (
                entry("url = 'ftp://x'"),
                "`alerts.webhook[0].url` in spine.toml: the URL cannot be used: give http:// or https://, a plain host and no user name",
            ),
            (
                entry("url = 'http://127.0.0.1/'"),
                "`alerts.webhook[0].url` in spine.toml: this address may not be reached: use a public one, or allow its host or network in the server's configuration",
            ),
            (entry("url = 'https://a.b'"), "`alerts.webhook[0].secret` in spine.toml: is missing"),
            (
                entry("url = 'https://a.b'\nsecret = 'x'"),
                "`alerts.webhook[0].secret` in spine.toml: expected whsec_ and 24 to 64 random bytes in base64",
            ),
            (
                entry("url = 'https://a.b'\nform = 'xml'"),
                "`alerts.webhook[0].form` in spine.toml: expected json or slack, got \"xml\"",
            ),
            (
                entry(&format!("url = 'https://a.b'\nform = 'slack'\nsecret = '{SECRET}'")),
                "`alerts.webhook[0].secret` in spine.toml: Slack checks none: leave it out",
            ),
            (
                format!(
                    "{}\n{}",
                    entry("url = 'https://a.b'\nform = 'slack'"),
                    entry("url = 'https://a.b'\nform = 'slack'")
                ),
                "`alerts.webhook[1].name` in spine.toml: stands twice: give each its own",
            ),
            (
                "outbound.allowed = ['a b']".to_owned(),
                "`outbound.allowed` in spine.toml: allowed hosts: \"a b\" is neither a host name nor a network",
            ),
            (
                "outbound.allow_private = 'yes'".to_owned(),
                "`outbound.allow_private` in spine.toml: expected true or false, got \"yes\"",
            ),
        ];
        for (file, expect) in cases {
            check(&file, expect);
        }
    }
}
