//! What a caller sends, read into types: from the path, the query and the body, always with the name of
//! what is wrong.

use std::any::TypeId;
use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use spine_protocol::{ReadError, from_value};

use crate::limits::SEARCHED_MEMBERS_MAX;
use crate::problem::{Problem, ProblemKind};

/// Something that can be read from JSON, with a schema that says so.
pub trait Input: JsonSchema + Send + Sized + 'static {
    /// Reads it; the error names the field.
    fn read(value: &Value) -> Result<Self, ReadError>;
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for T {
    fn read(value: &Value) -> Result<Self, ReadError> {
        from_value(value).map_err(|error| placed::<Self>(error, value))
    }
}

/// What a type takes in from another one is read from a copy, and its place is lost: it is the member without which this
/// error is another one, or none.
fn placed<T: DeserializeOwned>(error: ReadError, value: &Value) -> ReadError {
    let is_searched = |members: &&Map<String, Value>| {
        error.pointer.is_empty() && members.len() <= SEARCHED_MEMBERS_MAX
    };
    let Some(members) = value.as_object().filter(is_searched) else { return error };
    let is_to_blame = |name: &&String| {
        let others = members.iter().filter(|(other, _)| other != name);
        let others = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        match from_value::<T>(&Value::Object(others)) {
            Ok(_) => true,
            // One that is needed is missed when it is taken away.
            Err(other) => other.problem != error.problem && other.pointer != pointer(name),
        }
    };
    match members.keys().find(is_to_blame) {
        Some(name) => ReadError::at(pointer(name), error.problem),
        None => error,
    }
}

/// Whether a type stands for "nothing is sent here".
pub fn is_nothing<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<()>()
}

/// How a field is written in an address, where everything is text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Text,
    Whole,
    Number,
    Flag,
    List,
}

/// The fields of a type, by its schema.
pub struct Shape {
    fields: BTreeMap<String, Spelling>,
    is_closed: bool,
}

impl Shape {
    /// Of a type.
    pub fn of<T: Input>() -> Self {
        let schema = T::json_schema(&mut SchemaGenerator::default()).to_value();
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten();
        let fields = fields.map(|(name, schema)| (name.clone(), spelling(schema))).collect();
        Self { fields, is_closed: properties.is_some() }
    }

    /// Whether the caller named something that is not there: a slip should not pass unnoticed.
    pub fn check_names(&self, value: &Value) -> Result<(), ReadError> {
        if self.is_closed && !value.is_object() {
            // A list of values could be read as the fields in their order: nobody means that.
            return Err(ReadError::at("", "expected a JSON object"));
        }
        let names = value.as_object().into_iter().flat_map(Map::keys);
        match names.into_iter().find(|name| self.is_closed && !self.fields.contains_key(*name)) {
            Some(name) => Err(ReadError::at(pointer(name), self.unknown())),
            None => Ok(()),
        }
    }

    fn unknown(&self) -> String {
        let known: Vec<&str> = self.fields.keys().map(String::as_str).collect();
        format!("there is no such field; known are {}", known.join(", "))
    }

    /// The JSON that stands for pairs of texts.
    fn value(&self, pairs: impl Iterator<Item = (String, String)>) -> Result<Value, ReadError> {
        let mut members: Map<String, Value> = Map::new();
        for (name, text) in pairs {
            let spelling = self.fields.get(&name).copied();
            let spelling = spelling.ok_or_else(|| ReadError::at(pointer(&name), self.unknown()))?;
            let value = spelled(spelling, text);
            match members.get_mut(&name) {
                Some(Value::Array(items)) if spelling == Spelling::List => items.push(value),
                Some(_) => return Err(ReadError::at(pointer(&name), "expected once, got twice")),
                None if spelling == Spelling::List => {
                    members.insert(name, Value::Array(vec![value]));
                }
                None => {
                    members.insert(name, value);
                }
            }
        }
        Ok(Value::Object(members))
    }
}

fn spelling(schema: &Value) -> Spelling {
    let is = |name: &str| match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    };
    let known = [
        ("array", Spelling::List),
        ("integer", Spelling::Whole),
        ("number", Spelling::Number),
        ("boolean", Spelling::Flag),
    ];
    known.iter().find(|(name, _)| is(name)).map_or(Spelling::Text, |(_, spelling)| *spelling)
}

/// What does not parse stays text, and the type says what it expected.
fn spelled(spelling: Spelling, text: String) -> Value {
    let parsed = match spelling {
        Spelling::Whole => text.parse::<i64>().ok().map(Value::from),
        Spelling::Number => text.parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from),
        Spelling::Flag => text.parse::<bool>().ok().map(Value::from),
        Spelling::Text | Spelling::List => None,
    };
    parsed.unwrap_or(Value::String(text))
}

fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Reads a part of the address.
pub fn read_address<T: Input>(
    shape: &Shape,
    pairs: impl Iterator<Item = (String, String)>,
) -> Result<T, Problem> {
    if is_nothing::<T>() {
        return match pairs.map(|(name, _)| name).next() {
            Some(name) => Err(Problem::parameter(&name, "this address takes no parameters")),
            None => T::read(&Value::Null).map_err(|error| of_address(&error)),
        };
    }
    let value = shape.value(pairs).map_err(|error| of_address(&error))?;
    T::read(&value).map_err(|error| of_address(&error))
}

fn of_address(error: &ReadError) -> Problem {
    let name = error.pointer.trim_start_matches('/').split('/').next().unwrap_or_default();
    Problem::parameter(name, &error.problem)
}

/// Reads the body.
pub fn read_body<T: Input>(shape: &Shape, bytes: &[u8]) -> Result<T, Problem> {
    let value = spine_protocol::json::read_value(bytes)
        .map_err(|error| Problem::body(ProblemKind::MalformedJson, &error))?;
    let read = shape.check_names(&value).and_then(|()| T::read(&value));
    read.map_err(|error| Problem::body(ProblemKind::InvalidBody, &error))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Query {
        limit: Option<u32>,
        #[serde(default)]
        tags: Vec<String>,
        explain: Option<bool>,
    }

    fn check(query: &str, expect: &str) {
        let shown = match read::<Query>(query) {
            Ok(Query { limit, tags, explain }) => format!("{limit:?} {tags:?} {explain:?}"),
            Err(problem) => problem.to_string(),
        };
        assert_eq!(shown, expect, "{query}");
    }

    fn read<T: Input>(query: &str) -> Result<T, Problem> {
        read_address(&Shape::of::<T>(), form_urlencoded::parse(query.as_bytes()).into_owned())
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only whether it can be read is of interest")]
    struct Taking {
        amount: u32,
        #[serde(flatten)]
        taken: Query,
    }

    /// A filter that could not be read was answered with what is expected, but not where.
    #[test]
    fn what_a_type_takes_in_is_named_too() {
        for (query, expect) in [
            (
                "amount=1&explain=maybe&tags=a",
                "explain: invalid type: string \"maybe\", expected a boolean",
            ),
            ("explain=maybe", "amount: expected this field, got nothing"),
        ] {
            assert_eq!(read::<Taking>(query).unwrap_err().to_string(), expect, "{query}");
        }
    }

    #[test]
    fn an_address_is_read_by_the_schema() {
        check("", "None [] None");
        check("limit=5&tags=a&tags=7&explain=true", "Some(5) [\"a\", \"7\"] Some(true)");
        check(
            "limit=x",
            "limit: invalid type: string \"x\", expected a whole number from 0 to 4294967295",
        );
        check("limit=1&limit=2", "limit: expected once, got twice");
        check("lmit=1", "lmit: there is no such field; known are explain, limit, tags");
    }
}
