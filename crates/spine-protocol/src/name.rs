//! Names of agents and workspaces, subjects, and the trace a handoff belongs to.

use std::fmt;
use std::str::FromStr;

use smol_str::SmolStr;

use crate::limits::{NAME_BYTES_MAX, SHORT_TEXT_BYTES_MAX};
use crate::string_type::{ParseError, string_type};

macro_rules! name_type {
    ($(#[$doc:meta])* $type:ident, valid: $valid:path, expected: $expected:literal, pattern: $pattern:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(SmolStr);

        impl $type {
            /// The name as it is written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $type {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                if $valid(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(ParseError::new($expected, text))
                }
            }
        }

        string_type!($type, spelled: as_str, expected: $expected, pattern: $pattern);
    };
}

name_type!(
    /// A named sender and receiver.
    AgentName,
    valid: is_name,
    expected: "an agent name such as `code-generator` (up to 128 letters, digits and . _ : @ + -, the first a letter or digit)",
    pattern: "^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$"
);

name_type!(
    /// The isolation boundary: a tenant, a team, a project.
    WorkspaceName,
    valid: is_name,
    expected: "a workspace name such as `default` (up to 128 letters, digits and . _ : @ + -, the first a letter or digit)",
    pattern: "^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$"
);

name_type!(
    /// Whom a memory or a task is about.
    Subject,
    valid: is_line,
    expected: "a subject such as `user:123` (one line of up to 1024 bytes)",
    pattern: "^[^\\u0000-\\u001f\\u007f]+$"
);

name_type!(
    /// What a constraint is called.
    ConstraintName,
    valid: is_constraint_name,
    expected: "a constraint name such as `language` (one line of up to 128 bytes)",
    pattern: "^[^\\u0000-\\u001f\\u007f]+$"
);

name_type!(
    /// A W3C trace context.
    Traceparent,
    valid: is_traceparent,
    expected: "a W3C traceparent such as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`",
    pattern: "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"
);

impl AgentName {
    /// The reserved target of an envelope that is for a channel.
    pub const BROADCAST: &str = "broadcast";

    /// Whether this is the reserved name, which nobody can send or receive as.
    pub fn is_broadcast(&self) -> bool {
        self.0 == Self::BROADCAST
    }
}

fn is_name(text: &str) -> bool {
    let first = text.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphanumeric())
        && text.len() <= NAME_BYTES_MAX
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._:@+-".contains(&b))
}

fn is_line(text: &str) -> bool {
    !text.is_empty() && text.len() <= SHORT_TEXT_BYTES_MAX && !text.chars().any(char::is_control)
}

fn is_constraint_name(text: &str) -> bool {
    text.len() <= NAME_BYTES_MAX && is_line(text)
}

fn is_traceparent(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [2, 32, 16, 2] && parts.iter().all(|part| is_hex(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: FromStr>(valid: &[&str], invalid: &[&str]) {
        for text in valid {
            assert!(text.parse::<T>().is_ok(), "{text:?} should parse");
        }
        for text in invalid {
            assert!(text.parse::<T>().is_err(), "{text:?} should be refused");
        }
    }

    #[test]
    fn names_stay_readable_in_a_path_and_a_log() {
        let long = "a".repeat(NAME_BYTES_MAX + 1);
        check::<AgentName>(
            &["code-generator", "a", "team.qa:v2@eu+1", "broadcast", &long[1..]],
            &["", "-a", "a b", "a/b", "é", "a\n", &long],
        );
        check::<Subject>(&["user:123", "Zoë, of Müller & Co"], &["", "a\nb", "\u{7f}"]);
        check::<Traceparent>(
            &["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
            &["", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", "00-1-2-01"],
        );
    }
}
