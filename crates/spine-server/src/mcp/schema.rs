//! Schemas as a model reads them: everything that says what to write, nothing else. They are paid for in every
//! conversation.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// What says nothing that a description, or an error, does not say better.
const LEFT_OUT: &[&str] = &["$schema", "title", "format", "pattern", "examples", "minLength"];

/// Of what a tool takes.
pub fn input<T: JsonSchema>() -> Map<String, Value> {
    slim_of::<T>(SchemaSettings::draft2020_12().for_deserialize(), is_for_writing)
}

/// Of what a tool answers: its fields are named so that they need no further word.
pub fn output<T: JsonSchema>() -> Map<String, Value> {
    slim_of::<T>(SchemaSettings::draft2020_12().for_serialize(), |_| false)
}

/// Types of ids and names describe how they are written: an error says that better.
fn is_for_writing(description: &str) -> bool {
    !(description.starts_with("a ") || description.starts_with("an "))
}

/// Which descriptions stay.
type Worth = fn(&str) -> bool;

fn slim_of<T: JsonSchema>(mut settings: SchemaSettings, worth: Worth) -> Map<String, Value> {
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(members) = schema.as_object_mut() {
        // The tool's own description stands beside it.
        members.remove("description");
    }
    slim(&mut schema, worth);
    match schema {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn slim(schema: &mut Value, worth: Worth) {
    // The older revisions take no other form of "anything" for a field, and their clients check it.
    if *schema == json!(true) {
        *schema = json!({});
    }
    let Some(members) = schema.as_object_mut() else { return };
    members.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
    members.retain(|name, value| says_something(name, value, worth));
    one_type(members);
    words(members);
    for (name, part) in members.iter_mut() {
        match (name.as_str(), part) {
            ("properties", Value::Object(fields)) => {
                fields.values_mut().for_each(|field| slim(field, worth))
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(parts)) => {
                parts.iter_mut().for_each(|part| slim(part, worth))
            }
            ("items" | "additionalProperties", part) => slim(part, worth),
            _ => {}
        }
    }
}

/// Whether a keyword tells more than its absence would.
fn says_something(name: &str, value: &Value, worth: Worth) -> bool {
    match name {
        "default" => !is_empty(value),
        "minimum" => value != &json!(0) && value != &json!(0.0),
        "additionalProperties" => value != &json!(true),
        "description" => value.as_str().is_some_and(worth),
        _ => true,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(true) => false,
    }
}

/// What is not there is left out, never null.
fn one_type(members: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            members.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(words)) = members.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    let Some(Value::Array(parts)) = members.get_mut("anyOf") else { return };
    parts.retain(|part| part.get("type") != Some(&json!("null")));
    if let [Value::Object(only)] = parts.as_slice() {
        let only = only.clone();
        members.remove("anyOf");
        for (name, value) in only {
            members.entry(name).or_insert(value);
        }
    }
}

/// Words that are each described are a list of words.
fn words(members: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = members.get("oneOf") else { return };
    let words: Option<Vec<Value>> = parts.iter().map(|part| part.get("const").cloned()).collect();
    if let Some(words) = words {
        members.remove("oneOf");
        members.insert("type".to_owned(), json!("string"));
        members.insert("enum".to_owned(), words.into());
    }
}
