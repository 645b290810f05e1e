//! Results within a number of tokens. What is left out is said where it is missing.

use serde_json::Value;
use spine_protocol::{TokenizerName, count};

/// Shortens the longest texts, then the longest lists, until the result fits.
pub fn fit(mut value: Value, tokens_max: u32) -> Value {
    // Every round takes away a third of something long: this ends long before the count does.
    for _ in 0..ROUNDS_MAX {
        let tokens = tokens_of(&value);
        if tokens <= tokens_max {
            break;
        }
        if !shorten_text(&mut value) && !shorten_list(&mut value) {
            break;
        }
    }
    value
}

const ROUNDS_MAX: usize = 200;
/// Texts below this are names and ids.
const TEXT_CHARS_MIN: usize = 400;
/// How a cut is marked.
const MARK: &str = " characters left out]";

/// As a model would be charged for it.
pub fn tokens_of(value: &Value) -> u32 {
    let text = value.to_string();
    // Where the counter cannot be had, four bytes a token is near enough to keep a result small.
    let estimate = || u32::try_from(text.len() / 4).unwrap_or(u32::MAX);
    count(&TokenizerName::O200kBase, &text).unwrap_or_else(|_| estimate())
}

fn shorten_text(value: &mut Value) -> bool {
    let Some(longest) = longest_text(value) else { return false };
    let (kept, left_out) = uncut(longest);
    let chars = kept.chars().count();
    let keep = chars * 2 / 3;
    let left_out = left_out + chars - keep;
    let kept: String = kept.chars().take(keep).collect();
    *longest = format!("{kept}… [{left_out}{MARK}");
    true
}

/// The text without the mark of an earlier cut, and what that one left out.
fn uncut(text: &str) -> (String, usize) {
    let cut = text.strip_suffix(MARK).and_then(|text| text.rsplit_once("… ["));
    match cut.and_then(|(kept, number)| Some((kept.to_owned(), number.parse().ok()?))) {
        Some(found) => found,
        None => (text.to_owned(), 0),
    }
}

fn longest_text(value: &mut Value) -> Option<&mut String> {
    let parts: Vec<&mut Value> = match value {
        Value::String(text) if text.chars().count() >= TEXT_CHARS_MIN => return Some(text),
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => return None,
    };
    parts.into_iter().filter_map(longest_text).max_by_key(|text| text.len())
}

/// Lists are on top of a result, and `left_out` beside them counts.
fn shorten_list(value: &mut Value) -> bool {
    let Some(members) = value.as_object_mut() else { return false };
    let lists = members.values_mut().filter_map(Value::as_array_mut);
    let Some(longest) = lists.max_by_key(|list| list.len()).filter(|list| list.len() > 1) else {
        return false;
    };
    let keep = longest.len() * 2 / 3;
    let left_out = longest.len() - keep;
    longest.truncate(keep);
    let before = members.get("left_out").and_then(Value::as_u64).unwrap_or_default();
    members.insert("left_out".to_owned(), (before + left_out as u64).into());
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_fits_stays() {
        let small = json!({"hits": ["a"]});
        assert_eq!(fit(small.clone(), 100), small);
    }

    #[test]
    fn long_texts_say_what_is_missing() {
        let text = "word ".repeat(4_000);
        let cut = fit(json!({"content": text}), 1_000);
        assert!(tokens_of(&cut) <= 1_000);
        let content = cut["content"].as_str().unwrap();
        let (kept, left_out) = uncut(content);
        assert_eq!(kept.chars().count() + left_out, text.chars().count());
    }

    #[test]
    fn long_lists_are_counted() {
        let rows: Vec<Value> = (0..1_000).map(|n| json!({"id": n, "name": "a row"})).collect();
        let cut = fit(json!({"rows": rows}), 500);
        assert!(tokens_of(&cut) <= 500);
        let shown = cut["rows"].as_array().unwrap().len() as u64;
        assert_eq!(shown + cut["left_out"].as_u64().unwrap(), 1_000);
    }
}
