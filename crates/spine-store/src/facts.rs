//! What an event says besides whom it is about: a few flat facts. Whoever states them spells them, once; they are kept and
//! logged as they are spelled. As a map, each would be several allocations that another thread frees.

use std::borrow::Cow;

use serde_json::{Map, Value};

const NONE: &str = "{}";
const FACTS_BYTES_USUAL: usize = 120;

/// Names with values, as a JSON object; nothing at all where there are none.
#[derive(Debug, Clone, Default)]
pub struct Facts(String);

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fact<'v> {
    /// A short text: a name, an id, a reason.
    Text(&'v str),
    /// A count or a time.
    Number(u64),
    /// Any other number.
    Decimal(f64),
    /// That there is none.
    Nothing,
}

impl<'v> From<&'v str> for Fact<'v> {
    fn from(text: &'v str) -> Self {
        Self::Text(text)
    }
}

impl<'v> From<&'v String> for Fact<'v> {
    fn from(text: &'v String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Fact<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Fact<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<usize> for Fact<'_> {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl From<f64> for Fact<'_> {
    fn from(number: f64) -> Self {
        Self::Decimal(number)
    }
}

impl<'v, T: Into<Fact<'v>>> From<Option<T>> for Fact<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

impl Facts {
    /// As they stand in the log; the error says why a text is no JSON object.
    pub fn read(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str::<Map<String, Value>>(json).map(|read| Self::of_map(&read))
    }

    fn of_map(map: &Map<String, Value>) -> Self {
        if map.is_empty() {
            return Self::default();
        }
        // A map with string keys always has a spelling.
        Self(serde_json::to_string(map).unwrap_or_default())
    }

    /// The JSON object.
    pub fn as_json(&self) -> &str {
        if self.0.is_empty() { NONE } else { &self.0 }
    }

    /// What they take.
    pub fn size_bytes(&self) -> usize {
        self.0.len()
    }

    /// The same, taken apart.
    pub fn to_map(&self) -> Map<String, Value> {
        serde_json::from_str(self.as_json()).unwrap_or_default()
    }

    /// States a fact. A name is a plain word, and nothing was stated under it before.
    pub fn note<'v>(&mut self, name: &'static str, value: impl Into<Fact<'v>>) {
        debug_assert!(!self.contains(name), "{name} is stated twice");
        // Another one stands before the closing brace, or there is none yet.
        if self.0.pop().is_some() {
            self.0.push(',');
        } else {
            self.0.reserve(FACTS_BYTES_USUAL);
            self.0.push('{');
        }
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
        self.spell(value.into());
        self.0.push('}');
    }

    fn spell(&mut self, value: Fact<'_>) {
        match value {
            Fact::Text(text) if is_plain(text) => {
                self.0.push('"');
                self.0.push_str(text);
                self.0.push('"');
            }
            Fact::Text(text) => self.0.push_str(&Value::from(text).to_string()),
            Fact::Number(number) => self.0.push_str(&number.to_string()),
            Fact::Decimal(number) => self.0.push_str(&Value::from(number).to_string()),
            Fact::Nothing => self.0.push_str("null"),
        }
    }

    /// Takes a fact back.
    pub fn remove(&mut self, name: &str) {
        let mut map = self.to_map();
        if map.remove(name).is_some() {
            *self = Self::of_map(&map);
        }
    }

    /// Whether something was stated under this name.
    pub fn contains(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// A fact that is a text.
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        let inner = self.value(name)?.strip_prefix('"')?;
        let inner = inner.get(..end_of_text(inner)?)?;
        if !inner.contains('\\') {
            return Some(Cow::Borrowed(inner));
        }
        serde_json::from_str(&format!("\"{inner}\"")).ok().map(Cow::Owned)
    }

    /// A fact that is a whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        let value = self.value(name)?;
        value.get(..value.find([',', '}'])?)?.parse().ok()
    }

    /// From the value under a name on. In a text every quote has a backslash before it, so that no text looks like a name.
    fn value(&self, name: &str) -> Option<&str> {
        let named = |(at, _): (usize, &str)| {
            let before = at.checked_sub(1).and_then(|before| self.0.as_bytes().get(before));
            let behind = self.0.get(at + name.len()..)?.strip_prefix("\":")?;
            (before == Some(&b'"')).then_some(behind)
        };
        self.0.match_indices(name).find_map(named)
    }
}

/// Whether a text is spelled as it is.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\')
}

/// Where a text ends that begins at the start.
fn end_of_text(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// In whatever order they were stated.
impl PartialEq for Facts {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.to_map() == other.to_map()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let mut facts = Facts::default();
        facts.note("reason", "\"hop\": 7, \\ and\n\"agent\":\"x\"");
        facts.note("agent", "coder");
        facts.note("hop", 3_u32);
        facts.note("percent", Some(12.5));
        facts.note("target", None::<&str>);
        facts
    }

    #[test]
    fn facts_are_told_as_they_were_stated() {
        let facts = facts();
        assert_eq!(facts.text("agent").as_deref(), Some("coder"));
        assert_eq!(facts.text("reason").as_deref(), Some("\"hop\": 7, \\ and\n\"agent\":\"x\""));
        assert_eq!((facts.number("hop"), facts.number("agent")), (Some(3), None));
        assert_eq!(
            (facts.text("hop"), facts.text("none"), facts.text("target")),
            (None, None, None)
        );
        assert!(facts.contains("target") && !facts.contains("gent"));
        let map = facts.to_map();
        assert_eq!((map.len(), &map["percent"], &map["target"]), (5, &12.5.into(), &Value::Null));
    }

    #[test]
    fn what_was_taken_back_is_not_told() {
        let mut facts = facts();
        facts.remove("reason");
        facts.remove("none");
        assert_eq!(
            (facts.contains("reason"), facts.text("agent").as_deref()),
            (false, Some("coder"))
        );
        for name in ["agent", "hop", "percent", "target"] {
            facts.remove(name);
        }
        assert_eq!(facts.as_json(), "{}");
        facts.note("again", 1_u32);
        assert_eq!(facts.as_json(), r#"{"again":1}"#);
    }

    #[test]
    fn log_gives_back_what_it_was_given_and_nothing_that_is_no_object() {
        let facts = facts();
        assert_eq!(Facts::read(facts.as_json()).unwrap(), facts);
        let spaced = Facts::read(r#"{ "hop" : 3 , "agent" : "coder" }"#).unwrap();
        assert_eq!(
            (spaced.number("hop"), spaced.text("agent").as_deref()),
            (Some(3), Some("coder"))
        );
        assert_eq!(Facts::read("{}").unwrap(), Facts::default());
        for damaged in ["", "7", "[]", r#"{"hop":"#] {
            assert!(Facts::read(damaged).is_err(), "{damaged:?}");
        }
    }
}
