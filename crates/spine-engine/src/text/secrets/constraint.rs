//! Which constraints ask for secrets to be kept out.

use serde_json::Value;

/// Whether a constraint forbids secrets in what travels.
///
/// `forbid` names them in its list (`["secrets"]`, also `credentials`, `passwords`, `api keys`, `tokens`,
/// each alone or as `plaintext …`). `security` says it in words: `no plaintext credentials`, with `never`
/// or `no`; `plaintext`, `plain-text`, `cleartext`, `hardcoded`, `hard-coded` or none of them; and
/// `credentials`, `secrets`, `passwords`, `keys`, `api keys` or `tokens`; alone or as one of a list. Case, space
/// around, hyphens and a full stop do not matter. Anything else is a text for the receiver to read.
pub fn forbids_secrets(name: &str, value: &Value) -> bool {
    let says_so: fn(&str) -> bool = match name.trim().to_lowercase().as_str() {
        "forbid" => names_secrets,
        "security" => |words| {
            let what = ["no ", "never "].iter().find_map(|no| words.strip_prefix(no));
            what.is_some_and(names_secrets)
        },
        _ => return false,
    };
    texts(value).any(|text| says_so(&plain_words(text)))
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    value.as_str().into_iter().chain(items.iter().filter_map(Value::as_str))
}

/// Lower case, one space between words, no hyphen, no full stop at the end.
fn plain_words(text: &str) -> String {
    let lower = text.to_lowercase().replace(['-', '_'], " ");
    let words: Vec<&str> = lower.trim().trim_end_matches(['.', '!']).split_whitespace().collect();
    words.join(" ")
}

fn names_secrets(words: &str) -> bool {
    const HOW: [&str; 7] =
        ["", "plaintext ", "plain text ", "cleartext ", "clear text ", "hardcoded ", "hard coded "];
    const WHAT: [&str; 6] = ["secrets", "credentials", "passwords", "keys", "api keys", "tokens"];
    HOW.iter().any(|how| words.strip_prefix(how).is_some_and(|what| WHAT.contains(&what)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_wordings_that_forbid_secrets() {
        let yes = [
            ("forbid", json!(["secrets"])),
            ("forbid", json!(["eval", " Secrets "])),
            ("Forbid", json!("secrets")),
            ("forbid", json!(["plaintext credentials"])),
            ("security", json!("no plaintext credentials")),
            (" security ", json!("  No Plaintext Credentials. ")),
            ("security", json!("no plain-text  passwords")),
            ("security", json!("never hard-coded api keys")),
            ("security", json!(["tls only", "no secrets"])),
        ];
        for (name, value) in yes {
            assert!(forbids_secrets(name, &value), "{name}: {value}");
        }
    }

    #[test]
    fn other_constraints_do_not() {
        let no = [
            ("forbid", json!(["eval"])),
            ("forbid", json!({"secrets": true})),
            ("forbid", json!([["secrets"]])),
            ("forbid", json!(null)),
            ("security", json!("plaintext credentials")),
            ("security", json!("tls only")),
            ("security", json!(true)),
            ("language", json!("no plaintext credentials")),
        ];
        for (name, value) in no {
            assert!(!forbids_secrets(name, &value), "{name}: {value}");
        }
    }
}
