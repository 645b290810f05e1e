//! Who plays, and what they say.

use serde_json::{Value, json};

/// The user's words, which travel unchanged to the end.
pub const INTENT: &str = "Payments time out under load and customers are charged twice. Make the gateway client retry safely. Do NOT log card numbers, not even masked ones.";
/// The constraint that must survive to the end, and its value.
pub const CONSTRAINT: (&str, &str) = ("language", "python");
/// The agents that a broadcast goes to.
pub const FAN: [&str; 3] = ["tester", "documenter", "auditor"];
/// Who gets their results.
pub const JOINER: &str = "release-manager";
/// Who is down for a while.
pub const ABSENT: &str = "deployer";
/// The memory that is deleted before anybody needs it, by its place.
pub const DELETED: usize = 3;

/// What is known at the start.
pub const MEMORIES: [&str; 5] = [
    "The payment gateway accepts 100 requests a second; above that it answers 429 with Retry-After.",
    "Every charge request takes an Idempotency-Key; the gateway keeps keys for 24 hours.",
    "A request that timed out may have been charged: ask GET /charges?key=… before charging again.",
    "The sandbox of the gateway ignores Idempotency-Key (an old note).",
    "Log lines are shipped to a third party, so they must not hold card numbers.",
];

/// What an agent does with its part: the step for the history, and whom the work goes on to.
pub struct Part {
    /// For the history.
    pub action: &'static str,
    /// What it found out, kept as a memory.
    pub finding: &'static str,
    /// Who is next, with what to do.
    pub next: Option<(&'static str, &'static str)>,
}

/// The part of an agent.
pub fn part(name: &str) -> Part {
    let part = |action, finding, next| Part { action, finding, next };
    match name {
        "researcher" => part(
            "gathered what the gateway promises",
            "Finding: retries are safe only with one Idempotency-Key for all tries of one charge.",
            Some(("analyst", "Decide how the client retries, from the findings.")),
        ),
        "analyst" => part(
            "chose the retry rules",
            "Decision: four tries, backoff doubling from 100 ms, Retry-After obeyed, one key per charge.",
            Some(("coder", "Write the retry logic of the gateway client as decided.")),
        ),
        "coder" => part(
            "wrote the client",
            "Code: gateway/client.py retries with one key per charge; logs hold no card data.",
            Some((
                "reviewer",
                "Review the client against the user's request and every constraint.",
            )),
        ),
        "reviewer" => {
            part("approved the client", "Review: approved; nothing is logged about cards.", None)
        }
        _ => part("did its part", "", None),
    }
}

/// How deliveries to the agents of the play are tried.
pub fn policy() -> Value {
    json!({"attempts": 3, "lease_s": 30.0, "backoff_first_s": 0.1, "backoff_max_s": 0.2})
}
