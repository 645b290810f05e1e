//! Short words of the store, each a type that only parses what is valid.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use spine_protocol::{AgentName, ParseError};

use crate::limits::{
    AUTHOR_BYTES_MAX, IDEMPOTENCY_KEY_BYTES_MAX, KIND_BYTES_MAX, ORDER_KEY_BYTES_MAX,
    RECORD_NAME_BYTES_MAX, TAG_BYTES_MAX, THREAD_BYTES_MAX,
};

macro_rules! line_type {
    ($(#[$doc:meta])* $type:ident, bytes_max: $max:ident, expected: $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(SmolStr);

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
                text.parse()
            }
        }

        impl FromStr for $type {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                if is_line(text, $max) { Ok(Self(text.into())) } else { Err(ParseError::new($expected, text)) }
            }
        }

        impl From<$type> for String {
            fn from(word: $type) -> Self {
                word.0.into()
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
    /// Who wrote a memory: an agent, or a person by any name.
    Author,
    bytes_max: AUTHOR_BYTES_MAX,
    expected: "an author such as `analyst` or `Maria López` (one line of up to 128 bytes)"
);

impl From<&AgentName> for Author {
    fn from(agent: &AgentName) -> Self {
        Self(agent.as_str().into())
    }
}

line_type!(
    /// What makes a repeated request recognisable.
    IdempotencyKey,
    bytes_max: IDEMPOTENCY_KEY_BYTES_MAX,
    expected: "an idempotency key (one line of up to 255 bytes)"
);

line_type!(
    /// The name of a record in its collection.
    RecordName,
    bytes_max: RECORD_NAME_BYTES_MAX,
    expected: "a record's name such as `analyst` (one line of up to 512 bytes)"
);

line_type!(
    /// What is to be done one after another has the same of these.
    OrderKey,
    bytes_max: ORDER_KEY_BYTES_MAX,
    expected: "an order key such as `customer-17` (one line of up to 255 bytes)"
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
        Self(SmolStr::new_static(Self::NOTE))
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
}
