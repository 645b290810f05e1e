//! JSON into types, with objects where objects are meant: serde would also read a list as the fields of a
//! type in their order, which nobody means and no schema allows.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

/// A JSON value, to be read strictly at every depth.
#[derive(Clone, Copy)]
pub struct Strict<'de>(pub &'de Value);

impl<'de> IntoDeserializer<'de, Error> for Strict<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Strict<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                let mut items = SeqDeserializer::new(items.iter().map(Strict));
                let value = visitor.visit_seq(&mut items)?;
                items.end().map(|()| value)
            }
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (name.as_str(), Strict(value)));
                let mut members = MapDeserializer::new(members);
                let value = visitor.visit_map(&mut members)?;
                members.end().map(|()| value)
            }
            simple => simple.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(_) => Err(Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        text: Option<String>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        pair: (u32, f64),
        inner: Vec<Inner>,
    }

    fn check(json: &str, expect: &str) {
        let value: Value = serde_json::from_str(json).unwrap();
        let read = Outer::deserialize(Strict(&value));
        let shown = read.map_or_else(|error| error.to_string(), |outer| format!("{outer:?}"));
        assert_eq!(shown, expect, "{json}");
    }

    #[test]
    fn a_list_never_stands_for_an_object() {
        check(
            r#"{"pair": [1, 2], "inner": [{"text": null}], "other": [1]}"#,
            "Outer { pair: (1, 2.0), inner: [Inner { text: None }] }",
        );
        check(
            r#"{"pair": [1, 2], "inner": [[null]]}"#,
            "invalid type: sequence, expected struct Inner",
        );
        check(r#"[[1, 2], []]"#, "invalid type: sequence, expected struct Outer");
    }
}
