//! Alerts as Slack shows them.

use expect_test::{Expect, expect};
use spine_outbound::{Alert, Severity, slack_alert};

const ALERT: Alert<'static> = Alert {
    title: "Breaker open: writer",
    severity: Severity::Critical,
    text: "Three failures in a row.",
    link: Some("https://spine.example/alerts/7?a=1&b=2"),
};

fn check(alert: Alert<'_>, expected: Expect) {
    expected.assert_eq(&serde_json::to_string_pretty(&slack_alert(alert)).unwrap());
}

/// What the blocks say.
fn shown(alert: Alert<'_>) -> Vec<String> {
    let alert = slack_alert(alert);
    let blocks = alert["blocks"].as_array().unwrap().iter();
    blocks.map(|block| block["text"]["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_alert_has_a_headline_a_text_and_a_link() {
    check(
        ALERT,
        expect![[r#"
            {
              "blocks": [
                {
                  "text": {
                    "text": "*:rotating_light: critical: Breaker open: writer*\nThree failures in a row.",
                    "type": "mrkdwn"
                  },
                  "type": "section"
                },
                {
                  "text": {
                    "text": "<https://spine.example/alerts/7?a=1&amp;b=2|Open>",
                    "type": "mrkdwn"
                  },
                  "type": "section"
                }
              ],
              "text": ":rotating_light: critical: Breaker open: writer"
            }"#]],
    );
    check(
        Alert { severity: Severity::Info, text: "", link: None, ..ALERT },
        expect![[r#"
        {
          "blocks": [
            {
              "text": {
                "text": "*:information_source: info: Breaker open: writer*",
                "type": "mrkdwn"
              },
              "type": "section"
            }
          ],
          "text": ":information_source: info: Breaker open: writer"
        }"#]],
    );
}

/// A memory's text may end up in an alert, and anyone may have written it.
#[test]
fn texts_cannot_call_people_or_pretend_to_be_links() {
    let alert = Alert {
        title: "<!channel>\n*now* &amp;",
        severity: Severity::Warning,
        text: "<@U1> <https://evil.example|Open> a & b",
        link: None,
    };
    check(
        alert,
        expect![[r#"
        {
          "blocks": [
            {
              "text": {
                "text": "*:warning: warning: &lt;!channel&gt; *now* &amp;amp;*\n&lt;@U1&gt; &lt;https://evil.example|Open&gt; a &amp; b",
                "type": "mrkdwn"
              },
              "type": "section"
            }
          ],
          "text": ":warning: warning: &lt;!channel&gt; *now* &amp;amp;"
        }"#]],
    );
}

#[test]
fn links_are_only_what_a_browser_opens() {
    let long = format!("https://a.example/{}", "&".repeat(500));
    let links =
        ["javascript:alert(1)", "https://a.example/|b", "https://a.example/>", "a b", &long];
    for link in links {
        let alert = Alert { link: Some(link), ..ALERT };
        assert_eq!(shown(alert), shown(Alert { link: None, ..ALERT }), "{link}");
    }
}

/// Slack refuses a block of more than 3,000 characters, and with it the alert.
#[test]
fn the_longest_alert_is_one_that_slack_takes() {
    let link = format!("https://a.example/{}", "&".repeat(490));
    for letter in ["a", "<", "世", "&&&a"] {
        let (title, text) = (letter.repeat(5_000), letter.repeat(5_000));
        let blocks = shown(Alert { title: &title, text: &text, link: Some(&link), ..ALERT });
        assert_eq!(blocks.len(), 2);
        for block in &blocks {
            let chars = block.chars().count();
            assert!((2_400..=3_000).contains(&chars), "{chars} characters");
        }
        // No escape is cut in two.
        let (_, text) = blocks[0].split_once('\n').unwrap();
        let kept = text.strip_suffix('…').unwrap();
        let back = kept.replace("&lt;", "<").replace("&amp;", "&");
        assert!(letter.repeat(5_000).starts_with(&back), "{back}");
    }
}
