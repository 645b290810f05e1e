//! An alert in Slack's form.

use serde_json::{Value, json};

use crate::limits::{SLACK_LINK_CHARS_MAX, SLACK_TEXT_CHARS_MAX, SLACK_TITLE_CHARS_MAX};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Worth a look.
    Warning,
    /// Someone should act now.
    Critical,
}

impl Severity {
    fn shown(self) -> &'static str {
        match self {
            Self::Info => ":information_source: info",
            Self::Warning => ":warning: warning",
            Self::Critical => ":rotating_light: critical",
        }
    }
}

/// What an alert says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alert<'a> {
    /// In a few words.
    pub title: &'a str,
    /// How bad it is.
    pub severity: Severity,
    /// In a few sentences.
    pub text: &'a str,
    /// Where to see more.
    pub link: Option<&'a str>,
}

/// The body of a post to a Slack webhook. Nothing in the texts can mention people or channels, or
/// pretend to be a link.
pub fn slack_alert(alert: Alert<'_>) -> Value {
    let title_words: Vec<&str> = alert.title.split_whitespace().collect();
    let title = escaped(&title_words.join(" "), SLACK_TITLE_CHARS_MAX);
    let headline = format!("{}: {title}", alert.severity.shown());
    let text = escaped(alert.text, SLACK_TEXT_CHARS_MAX);
    let mut blocks = vec![section(format!("*{headline}*\n{text}").trim_end())];
    blocks.extend(alert.link.and_then(link).map(|link| section(&link)));
    // The headline alone is what notifications show.
    json!({ "text": headline, "blocks": blocks })
}

fn section(text: &str) -> Value {
    json!({ "type": "section", "text": { "type": "mrkdwn", "text": text } })
}

/// No longer than this many characters once escaped, and no escape cut in two.
fn escaped(text: &str, chars_max: usize) -> String {
    let mut result = String::new();
    let mut chars = 0;
    for character in text.chars() {
        let piece = escape(character);
        chars += piece.len().max(1);
        if chars > chars_max.saturating_sub(1) {
            result.push('…');
            break;
        }
        if piece.is_empty() { result.push(character) } else { result.push_str(piece) }
    }
    result
}

/// The three characters that Slack gives a meaning; nothing for the others.
fn escape(character: char) -> &'static str {
    match character {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        _ => "",
    }
}

/// Only what a browser opens, and nothing that could end the link early.
fn link(url: &str) -> Option<String> {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>|".contains(&byte));
    let url = url.replace('&', "&amp;");
    let fits = is_web && is_plain && url.len() <= SLACK_LINK_CHARS_MAX;
    fits.then(|| format!("<{url}|Open>"))
}
