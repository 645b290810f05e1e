//! Reading an envelope from bytes: well formed, consistent in itself, and with its true digest.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::digest::Digest;
use crate::envelope::{Body, Envelope};
use crate::json;
use crate::strict::Strict;
use crate::version::{Major, VersionError};
use crate::wellformed;

/// Why bytes are not a valid envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// Where, as a JSON pointer; empty for the whole document.
    pub pointer: String,
    /// What was expected, and what was found.
    pub problem: String,
    /// The stable name of this error.
    pub code: &'static str,
}

impl std::error::Error for ReadError {}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.pointer.is_empty() { "(document)" } else { &self.pointer };
        write!(f, "{place}: {}", self.problem)
    }
}

impl ReadError {
    /// The document is not what the schema asks for.
    pub const INVALID: &str = "envelope-invalid";
    /// The document is well formed, but a digest does not fit.
    pub const ALTERED: &str = "envelope-altered";

    /// An error at a JSON pointer.
    pub fn at(pointer: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), problem: problem.into(), code: Self::INVALID }
    }

    /// The same error, seen from one level further out.
    pub(crate) fn inside(self, name: &str) -> Self {
        Self { pointer: format!("/{}{}", json::escape(name), self.pointer), ..self }
    }

    fn altered(pointer: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { code: Self::ALTERED, ..Self::at(pointer, problem) }
    }

    pub(crate) fn new(path: &serde_path_to_error::Path, message: &str) -> Self {
        let mut pointer = pointer_of(path);
        // The deserializer names a missing field at the object that lacks it.
        if let Some(name) =
            message.strip_prefix("missing field `").and_then(|m| m.split('`').next())
        {
            pointer = format!("{pointer}/{}", json::escape(name));
            return Self::at(pointer, "expected this field, got nothing");
        }
        let problem = if pointer.is_empty() { message } else { without_position(message) };
        Self::at(pointer, in_plain_words(problem))
    }

    fn version(error: &VersionError) -> Self {
        Self { code: VersionError::CODE, ..Self::at("/protocol", error.to_string()) }
    }
}

/// A pointer says more than a column.
fn without_position(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(message, _)| message)
}

/// The deserializer speaks of Rust's types; senders write in any language.
fn in_plain_words(message: &str) -> String {
    message
        .replace("invalid type: map", "invalid type: an object")
        .replace("invalid type: sequence", "invalid type: a list")
        .replace("expected a sequence", "expected a list")
        .replace("expected u32", "expected a whole number from 0 to 4294967295")
        .replace("expected u64", "expected a whole number")
        .replace("expected usize", "expected a whole number")
        .replace("expected f64", "expected a number")
}

fn pointer_of(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter().fold(String::new(), |pointer, segment| match segment {
        Segment::Seq { index } => format!("{pointer}/{index}"),
        Segment::Map { key } => format!("{pointer}/{}", json::escape(key)),
        Segment::Enum { variant } => format!("{pointer}/{}", json::escape(variant)),
        Segment::Unknown => pointer,
    })
}

/// A typed value from JSON that has been read strictly; errors name the field.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, ReadError> {
    // As in `read_value`, the place is found out when something is wrong.
    T::deserialize(Strict(value)).or_else(|_: serde_json::Error| {
        serde_path_to_error::deserialize(Strict(value))
            .map_err(|error| ReadError::new(error.path(), &error.inner().to_string()))
    })
}

/// The JSON of a typed value.
pub(crate) fn to_value(value: &impl Serialize) -> Result<Value, ReadError> {
    serde_json::to_value(value).map_err(|error| ReadError::at("", error.to_string()))
}

impl Envelope {
    /// Reads an envelope that somebody sent or stored. The digest and every text that is there are checked;
    /// whether the rules were kept between it and its parents is for [`Envelope::import`].
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let value = json::read_value(bytes)?;
        check_version(&value)?;
        let body: Body = from_value(&value)?;
        wellformed::check(&body)?;
        check_texts(&body)?;
        check_digest(&value, body.digest)?;
        let canonical = json::canonical(&value)?;
        Ok(Self::sealed(body, canonical))
    }
}

fn check_version(value: &Value) -> Result<(), ReadError> {
    let members = value
        .as_object()
        .ok_or_else(|| ReadError::at("", "expected an envelope: a JSON object"))?;
    let Some(Value::String(protocol)) = members.get("protocol") else {
        return Err(ReadError::at("/protocol", "expected a protocol version such as `2.0`"));
    };
    match Major::parse(protocol) {
        Ok(Major::V2) => Ok(()),
        _ => Err(ReadError::version(&VersionError::of(protocol))),
    }
}

fn check_texts(body: &Body) -> Result<(), ReadError> {
    for (index, memory) in body.memories.iter().enumerate() {
        let (Some(salt), Some(text)) = (&memory.salt, &memory.text) else { continue };
        if memory.text_digest != Some(Digest::of_salted_text(salt, text)) {
            let problem = format!("expected the SHA-256 over salt and text of {}", memory.id);
            return Err(ReadError::altered(format!("/memories/{index}/text_digest"), problem));
        }
    }
    Ok(())
}

fn check_digest(value: &Value, stated: Digest) -> Result<(), ReadError> {
    let actual = digest_of(value)?;
    if actual == stated {
        return Ok(());
    }
    Err(ReadError::altered(
        "/digest",
        format!("expected the digest of this envelope, {actual}, got {stated}"),
    ))
}

/// The digest of an envelope's JSON: over its canonical form without `digest`, and without `text` and `salt`
/// of each memory, so that a text can be taken out later.
pub fn digest_of(envelope: &Value) -> Result<Digest, ReadError> {
    let mut bare = envelope.clone();
    if let Some(members) = bare.as_object_mut() {
        members.remove("digest");
        let memories = members.get_mut("memories").and_then(Value::as_array_mut);
        for memory in memories.into_iter().flatten().filter_map(Value::as_object_mut) {
            memory.remove("text");
            memory.remove("salt");
        }
    }
    Ok(Digest::of(&[&json::canonical(&bare)?]))
}
