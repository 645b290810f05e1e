//! Short words of a memory, each a type that only parses what is valid.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use spine_protocol::ParseError;

use crate::limits::{IDEMPOTENCY_KEY_BYTES_MAX, KIND_BYTES_MAX, TAG_BYTES_MAX, THREAD_BYTES_MAX};

macro_rules! line_type {
    ($(#[$doc:meta])* $type:ident, bytes_max: $max:ident, expected: $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(String);

        impl $type {
            /// The word as it is written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $type {
            type Error = ParseError;

            fn try_from(text: String) -> Result<Self, ParseError> {
                if is_line(&text, $max) { Ok(Self(text)) } else { Err(ParseError::new($expected, &text)) }
            }
        }

        impl FromStr for $type {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                Self::try_from(text.to_owned())
            }
        }

        impl From<$type> for String {
            fn from(word: $type) -> Self {
                word.0
            }
        }
    };
}

line_type!(
    /// What sort of memory it is; the list is open.
    Kind,
    bytes_max: KIND_BYTES_MAX,
    expected: "a kind such as `note` (one line of up to 64 bytes)"
);

line_type!(
    /// A word to find memories by.
    Tag,
    bytes_max: TAG_BYTES_MAX,
    expected: "a tag such as `api` (one line of up to 128 bytes)"
);

line_type!(
    /// An ordered group of memories: a conversation, a run, a document's parts.
    ThreadName,
    bytes_max: THREAD_BYTES_MAX,
    expected: "a thread such as `run-17` (one line of up to 1024 bytes)"
);

line_type!(
    /// What makes a repeated request recognisable.
    IdempotencyKey,
    bytes_max: IDEMPOTENCY_KEY_BYTES_MAX,
    expected: "an idempotency key (one line of up to 255 bytes)"
);

fn is_line(text: &str, bytes_max: usize) -> bool {
    !text.is_empty() && text.len() <= bytes_max && !text.chars().any(char::is_control)
}

impl Kind {
    /// A fact, a finding, anything not said otherwise.
    pub const NOTE: &str = "note";
    /// One turn of a conversation: never deduplicated, summarised in a handoff.
    pub const CONVERSATION: &str = "conversation";
    /// Reasoning that led to a decision.
    pub const REASONING: &str = "reasoning";

    /// Whether this is one turn of a conversation.
    pub fn is_conversation(&self) -> bool {
        self.0 == Self::CONVERSATION
    }
}

impl Default for Kind {
    fn default() -> Self {
        Self(Self::NOTE.to_owned())
    }
}

/// How much a memory matters; later is more.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// First to be left out.
    Low,
    /// What is not said otherwise.
    #[default]
    Normal,
    /// Above the rest.
    High,
    /// Last to be left out.
    Critical,
}

impl Priority {
    /// Every priority, lowest first.
    pub const ALL: [Self; 4] = [Self::Low, Self::Normal, Self::High, Self::Critical];

    /// The word as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl FromStr for Priority {
    type Err = ParseError;

    fn from_str(word: &str) -> Result<Self, ParseError> {
        let found = Self::ALL.into_iter().find(|priority| priority.as_str() == word);
        found.ok_or_else(|| ParseError::new("one of `low` `normal` `high` `critical`", word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_one_bounded_line() {
        assert!("übersicht".parse::<Tag>().is_ok());
        for wrong in ["", "a\nb", &"a".repeat(TAG_BYTES_MAX + 1)] {
            assert!(wrong.parse::<Tag>().is_err(), "{wrong:?} should be refused");
        }
        assert!(serde_json::from_str::<Kind>("\"\"").is_err());
    }

    #[test]
    fn priorities_have_one_spelling() {
        for priority in Priority::ALL {
            assert_eq!(priority.as_str().parse::<Priority>(), Ok(priority));
            let json = serde_json::to_string(&priority).unwrap();
            assert_eq!(json, format!("\"{}\"", priority.as_str()));
        }
    }
}
