//! Bodies of requests, from what was typed.

use serde_json::{Map, Value};

use super::Failure;
use super::failure::Exit;

/// What was typed, as JSON if it is.
pub fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// What was not said is not sent: the server's defaults hold.
pub fn without_nulls(value: Value) -> Value {
    let Value::Object(members) = value else { return value };
    members.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

/// The body with one more member.
pub fn with(mut body: Value, name: &str, value: impl Into<Value>) -> Value {
    if let Some(members) = body.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
    body
}

/// Members that were typed as NAME=VALUE.
pub fn pairs(
    given: &[String],
    form: &str,
    read: impl Fn(&str) -> Value,
) -> Result<Map<String, Value>, Failure> {
    let mut members = Map::new();
    for pair in given {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| Failure::new(Exit::Usage, format!("expected {form}, got {pair:?}")))?;
        members.insert(name.to_owned(), read(value));
    }
    Ok(members)
}
