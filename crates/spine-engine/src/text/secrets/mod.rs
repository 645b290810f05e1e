//! Secrets in texts: found with high precision, and replaced by their kind.
//!
//! A false alarm takes away context that a receiver needs, so a rule fires only on a form that its issuer
//! documents, or on a value that is assigned to a secret's name and looks random. Placeholders and the
//! examples of documentations (`AKIAIOSFODNN7EXAMPLE`) are no secrets.

mod constraint;
mod randomness;
mod rules;

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

pub use constraint::forbids_secrets;
use rules::{RULES, Rule};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// What it is, such as `aws-access-key`.
    pub kind: &'static str,
}

/// Finds the secrets in `text`, in order and apart from each other.
pub fn find_secrets(text: &str) -> Vec<Secret> {
    let mut found: Vec<Secret> =
        SCANNER.rules_to_try(text).flat_map(|rule| rule.find_all(text)).collect();
    // Stable: of two at the same place the rule that comes first in the table names the kind.
    found.sort_by_key(|secret| secret.range.start);
    found.into_iter().fold(Vec::new(), merged)
}

/// `text` with each secret replaced by its kind, and the kinds in order.
pub fn redacted(text: &str) -> (String, Vec<&'static str>) {
    let secrets = find_secrets(text);
    let mut clean = String::with_capacity(text.len());
    let mut kept_from = 0;
    for secret in &secrets {
        clean.push_str(text.get(kept_from..secret.range.start).unwrap_or_default());
        clean.push_str(&format!("[redacted: {}]", secret.kind));
        kept_from = secret.range.end;
    }
    clean.push_str(text.get(kept_from..).unwrap_or_default());
    (clean, secrets.into_iter().map(|secret| secret.kind).collect())
}

/// Adds a secret; where two overlap, both are covered, so that no part of either stays readable.
fn merged(mut secrets: Vec<Secret>, next: Secret) -> Vec<Secret> {
    match secrets.last_mut() {
        Some(last) if next.range.start < last.range.end => {
            last.range.end = last.range.end.max(next.range.end);
        }
        _ => secrets.push(next),
    }
    secrets
}

static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

/// The table, compiled once. Most texts hold no keyword of any rule and cost one pass.
struct Scanner {
    rules: Vec<CompiledRule>,
    keywords: Option<AhoCorasick>,
    rule_of_keyword: Vec<usize>,
}

struct CompiledRule {
    rule: &'static Rule,
    regex: Regex,
}

impl Scanner {
    fn new() -> Self {
        let rules: Vec<CompiledRule> = RULES.iter().filter_map(CompiledRule::new).collect();
        let (rule_of_keyword, keywords): (Vec<usize>, Vec<&str>) = (rules.iter().enumerate())
            .flat_map(|(at, compiled)| compiled.rule.keywords.iter().map(move |word| (at, *word)))
            .unzip();
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA));
        let keywords = builder.build(keywords).ok();
        Self { rules, keywords, rule_of_keyword }
    }

    fn rules_to_try(&self, text: &str) -> impl Iterator<Item = &CompiledRule> {
        let mut wanted = vec![false; self.rules.len()];
        let hits = self.keywords.iter().flat_map(|keywords| keywords.find_overlapping_iter(text));
        for hit in hits {
            let rule = self.rule_of_keyword.get(hit.pattern().as_usize());
            if let Some(wanted) = rule.and_then(|rule| wanted.get_mut(*rule)) {
                *wanted = true;
            }
        }
        self.rules.iter().zip(wanted).filter_map(|(rule, wanted)| wanted.then_some(rule))
    }
}

impl CompiledRule {
    /// `None` if the pattern is wrong, which a test rules out.
    fn new(rule: &'static Rule) -> Option<Self> {
        Regex::new(&rule.pattern()).ok().map(|regex| Self { rule, regex })
    }

    fn find_all(&self, text: &str) -> impl Iterator<Item = Secret> {
        self.regex.captures_iter(text).filter_map(|captures| {
            let secret = captures.get(1)?;
            let value = secret.as_str().trim_end();
            let range = secret.start()..secret.start() + value.len();
            self.rule.proof.convinces(value).then_some(Secret { range, kind: self.rule.kind })
        })
    }
}

#[cfg(test)]
mod tests;
