//! A body that is one thing, or a list of such things under a name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde_json::Value;
use spine_protocol::{ReadError, from_value};

use crate::route::Input;

/// What such a list is called, and how many it takes.
pub trait Listed: DeserializeOwned + JsonSchema + Send + 'static {
    /// The list's name in the body.
    const LIST: &'static str;
}

/// One, or many.
pub struct OneOrMany<T> {
    /// What was sent.
    pub items: Vec<T>,
    /// Whether it was sent as a list: then the answer is one too.
    pub is_list: bool,
}

impl<T: Listed> JsonSchema for OneOrMany<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}OneOrMany", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        let many = json_schema!({
            "type": "object",
            "properties": {(T::LIST): {"type": "array", "items": one, "minItems": 1}},
            "required": [T::LIST],
            "additionalProperties": false,
        });
        json_schema!({"anyOf": [one, many]})
    }
}

impl<T: Listed> Input for OneOrMany<T> {
    fn read(value: &Value) -> Result<Self, ReadError> {
        let Some(members) = value.as_object().filter(|members| members.contains_key(T::LIST))
        else {
            return Ok(Self { items: vec![from_value(value)?], is_list: false });
        };
        if let Some(name) = members.keys().find(|name| *name != T::LIST) {
            let problem = format!("expected nothing beside `{}`", T::LIST);
            return Err(ReadError::at(format!("/{name}"), problem));
        }
        let list = members.get(T::LIST).unwrap_or(&Value::Null);
        let items: Vec<T> = from_value(list).map_err(|error| ReadError {
            pointer: format!("/{}{}", T::LIST, error.pointer),
            ..error
        })?;
        if items.is_empty() {
            return Err(ReadError::at(format!("/{}", T::LIST), "expected at least one"));
        }
        Ok(Self { items, is_list: true })
    }
}
