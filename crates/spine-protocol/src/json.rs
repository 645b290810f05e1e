//! JSON as the protocol reads and writes it: I-JSON in (RFC 7493), canonical JSON out (RFC 8785).

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::limits::{ENVELOPE_BYTES_MAX, JSON_DEPTH_MAX, JSON_INTEGER_MAX};
use crate::read::ReadError;

/// Reads one JSON value and refuses whatever two readers could understand differently: a name given twice,
/// a number that not every reader keeps, and nesting without end.
pub fn read_value(bytes: &[u8]) -> Result<Value, ReadError> {
    if bytes.len() > ENVELOPE_BYTES_MAX {
        return Err(ReadError::at("", format!("expected at most {ENVELOPE_BYTES_MAX} bytes")));
    }
    // Knowing the place all the time costs more than reading; so it is found out when something is wrong.
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0 }.deserialize(&mut json);
    match value {
        Ok(value) => json.end().map(|()| value).map_err(|e| ReadError::at("", e.to_string())),
        Err(_) => read_value_tracking(bytes),
    }
}

fn read_value_tracking(bytes: &[u8]) -> Result<Value, ReadError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let value = Strict { depth: 0 }.deserialize(tracked);
    value.map_err(|error| ReadError::new(&track.path(), &error.to_string()))
}

/// The RFC 8785 bytes of a value that the protocol can carry.
pub fn canonical(value: &Value) -> Result<Vec<u8>, ReadError> {
    check_carried(value, 0)?;
    let mut bytes = Vec::new();
    write(value, &mut bytes).map_err(|error| ReadError::at("", error.to_string()))?;
    Ok(bytes)
}

/// Objects are written here, since the canonicalizer would write each of their members into a buffer of its own first:
/// that cost several times as much.
fn write(value: &Value, bytes: &mut Vec<u8>) -> serde_json::Result<()> {
    match value {
        Value::Array(items) => write_list(items, (b'[', b']'), bytes, write),
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            write_list(members, (b'{', b'}'), bytes, |(name, member), bytes| {
                serde_json::to_writer(&mut *bytes, name)?;
                bytes.push(b':');
                write(member, bytes)
            })
        }
        Value::Number(number) => serde_json_canonicalizer::to_writer(number, bytes),
        Value::String(_) | Value::Bool(_) | Value::Null => serde_json::to_writer(bytes, value),
    }
}

fn write_list<T>(
    items: impl IntoIterator<Item = T>,
    (open, close): (u8, u8),
    bytes: &mut Vec<u8>,
    write: impl Fn(T, &mut Vec<u8>) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    bytes.push(open);
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            bytes.push(b',');
        }
        write(item, bytes)?;
    }
    bytes.push(close);
    Ok(())
}

/// Whether two values are the same as canonical JSON (1.0 is 1, and the order of members is no difference).
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => a == b,
    }
}

/// Values that Rust code built have not been through [`read_value`]. The pointer is made only for an error: this
/// runs over every envelope.
fn check_carried(value: &Value, depth: usize) -> Result<(), ReadError> {
    if depth > JSON_DEPTH_MAX {
        return Err(ReadError::at("", too_deep()));
    }
    match value {
        Value::Number(number) if !is_carried(number) => Err(ReadError::at("", not_carried(number))),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
            check_carried(item, depth + 1).map_err(|error| error.inside(&index.to_string()))
        }),
        Value::Object(members) => members.iter().try_for_each(|(name, member)| {
            check_carried(member, depth + 1).map_err(|error| error.inside(name))
        }),
        _ => Ok(()),
    }
}

/// One step of a JSON pointer (RFC 6901).
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// By value, not by spelling: 1e20 and 100000000000000000000 are one number in canonical form.
fn is_carried(number: &Number) -> bool {
    number.as_f64().is_some_and(|n| n.abs() <= JSON_INTEGER_MAX as f64)
        && number.as_u64().is_none_or(|n| n <= JSON_INTEGER_MAX)
        && number.as_i64().is_none_or(|n| n.unsigned_abs() <= JSON_INTEGER_MAX)
}

fn not_carried(number: &Number) -> String {
    format!(
        "expected a number within ±{JSON_INTEGER_MAX}, got {number}: JSON readers round larger ones, write it as a string"
    )
}

fn too_deep() -> String {
    format!("expected at most {JSON_DEPTH_MAX} arrays and objects inside each other")
}

struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(&self) -> Result<Self, E> {
        if self.depth >= JSON_DEPTH_MAX {
            return Err(E::custom(too_deep()));
        }
        Ok(Self { depth: self.depth + 1 })
    }

    fn number<E: serde::de::Error>(number: Number) -> Result<Value, E> {
        if is_carried(&number) {
            Ok(Value::Number(number))
        } else {
            Err(E::custom(not_carried(&number)))
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        Self::number(value.into())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        Self::number(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Self::number(Number::from_f64(value).ok_or_else(|| E::custom("expected a finite number"))?)
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self.deeper()?)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let member = map.next_value_seed(self.deeper()?)?;
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!(
                    "expected each name once, got {name:?} twice"
                )));
            }
            members.insert(name, member);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expect: Result<&str, &str>) {
        let read = read_value(json.as_bytes()).and_then(|value| canonical(&value));
        match (read, expect) {
            (Ok(bytes), Ok(expected)) => assert_eq!(String::from_utf8(bytes).unwrap(), expected),
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected),
            (read, _) => panic!("{json}: {read:?}"),
        }
    }

    #[test]
    fn canonical_form_is_rfc_8785() {
        check(r#" {"b": 1.0, "a": [1e2, 0.000001, -0]} "#, Ok(r#"{"a":[100,0.000001,0],"b":1}"#));
        check(
            r#"{"\u20ac":"Euro","\r":1,"\ufb33":2,"1":3,"😀":4}"#,
            Ok("{\"\\r\":1,\"1\":3,\"€\":\"Euro\",\"😀\":4,\"\u{fb33}\":2}"),
        );
        check(r#""\u000f\u0041\/\"\\""#, Ok(r#""\u000fA/\"\\""#));
    }

    /// Any value, with names and texts from whatever is escaped or sorted in a way of its own.
    fn value(rng: &mut fastrand::Rng, depth: usize) -> Value {
        let text = |rng: &mut fastrand::Rng| -> String {
            let chars =
                ['a', 'Z', '"', '\\', '/', '\0', '\n', '\u{7f}', 'é', '\u{fb33}', '😀', '\u{2028}'];
            (0..rng.usize(..4)).map(|_| chars[rng.usize(..chars.len())]).collect()
        };
        match rng.u8(..if depth > 3 { 5 } else { 8 }) {
            0 => Value::Null,
            1 => rng.bool().into(),
            2 => rng.i64(-1_000_000_000_000..1_000_000_000_000).into(),
            3 => ((rng.f64() - 0.5) * 10_f64.powi(rng.i32(-9..12))).into(),
            4 => text(rng).into(),
            5 => (0..rng.usize(..5)).map(|_| value(rng, depth + 1)).collect(),
            _ => (0..rng.usize(..9)).map(|_| (text(rng), value(rng, depth + 1))).collect(),
        }
    }

    #[test]
    fn canonical_form_is_what_the_canonicalizer_writes() {
        let rng = &mut fastrand::Rng::with_seed(1);
        for _ in 0..5_000 {
            let value = value(rng, 0);
            let expected = serde_json_canonicalizer::to_vec(&value).unwrap();
            assert_eq!(canonical(&value).unwrap(), expected, "{value}");
        }
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        check("9007199254740991", Ok("9007199254740991"));
        for number in ["9007199254740993", "-9007199254740993", "1e20", "100000000000000000000"] {
            let error = read_value(format!("{{\"a\":[{number}]}}").as_bytes()).unwrap_err();
            assert_eq!(error.pointer, "/a/0", "{number}");
        }
        assert!(read_value(b"1e999").is_err());
        check(r#"{"a":{"b":1,"b":1}}"#, Err("/a: expected each name once, got \"b\" twice"));
        assert!(read_value(r#""\ud800""#.as_bytes()).is_err());
        assert!(read_value(b"\"\xff\"").is_err());
        assert!(read_value(b"{} {}").is_err());
        let deep = "[".repeat(10_000);
        assert!(read_value(deep.as_bytes()).unwrap_err().to_string().contains("at most 64"));
    }
}
