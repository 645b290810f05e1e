//! JSON in short: the keys of its top level, with the values that are short themselves.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// A longer text is not parsed but read as any other.
const JSON_BYTES_MAX: usize = 64 * 1024;
/// A value that is shown with its key.
const VALUE_CHARS_MAX: usize = 40;
/// Room for ", … (n more)" and the closing bracket.
const END_CHARS_MAX: usize = 20;

/// The outline of a JSON object or array; `None` if it is neither, or not even one key fits.
pub(super) fn outline(text: &str, chars_max: usize) -> Option<String> {
    let start = text.trim_start();
    if text.len() > JSON_BYTES_MAX {
        return None;
    }
    if start.starts_with('{') {
        let Entries(entries) = serde_json::from_str(text).ok()?;
        return joined("{", &entries, "}", chars_max);
    }
    let items: Vec<Value> = start.starts_with('[').then(|| serde_json::from_str(text).ok())??;
    joined("[", &items.iter().map(item).collect::<Vec<_>>(), "]", chars_max)
}

/// An object's entries in the order of the text.
struct Entries(Vec<String>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    entries.push(entry(&key, &value));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

fn entry(key: &str, value: &Value) -> String {
    match short_scalar(value) {
        Some(scalar) => format!("{key}: {scalar}"),
        None => key.to_owned(),
    }
}

fn item(value: &Value) -> String {
    let keys = |map: &serde_json::Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
    match value {
        Value::Object(map) => format!("{{{}}}", keys(map).join(", ")),
        _ => short_scalar(value).unwrap_or_else(|| "…".to_owned()),
    }
}

fn short_scalar(value: &Value) -> Option<String> {
    let is_scalar = !value.is_array() && !value.is_object();
    let text = is_scalar.then(|| value.to_string())?;
    text.chars().nth(VALUE_CHARS_MAX).is_none().then_some(text)
}

fn joined(open: &str, entries: &[String], close: &str, chars_max: usize) -> Option<String> {
    let mut chars_left = chars_max.checked_sub(END_CHARS_MAX)?;
    let mut shown: Vec<&str> = Vec::new();
    for entry in entries {
        let Some(rest) = chars_left.checked_sub(entry.chars().count() + ", ".len()) else { break };
        shown.push(entry);
        chars_left = rest;
    }
    let left_out = entries.len() - shown.len();
    let more = format!("… ({left_out} more)");
    let any = !shown.is_empty();
    if left_out > 0 {
        shown.push(&more);
    }
    any.then(|| format!("{open}{}{close}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::outline;

    #[test]
    fn the_top_level_is_shown_in_its_order() {
        let object = r#"{"name": "spine", "deps": ["a", "b"], "ok": true, "deep": {"x": 1}}"#;
        assert_eq!(outline(object, 60).unwrap(), r#"{name: "spine", deps, ok: true, deep}"#);
        assert_eq!(outline(object, 40).unwrap(), r#"{name: "spine", … (3 more)}"#);
        let array = r#"[{"id": 1, "at": 2}, 3, "four", [5]]"#;
        assert_eq!(outline(array, 60).unwrap(), r#"[{at, id}, 3, "four", …]"#);
    }

    #[test]
    fn anything_else_is_left_to_others() {
        for text in ["", "{", "{not json}", "[1, 2", "\"text\"", "12", "{}"] {
            assert_eq!(outline(text, 60), None, "{text:?}");
        }
        assert_eq!(outline(r#"{"a": 1}"#, 10), None);
    }
}
