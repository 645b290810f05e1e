//! Which versions there are, and which one a reader gets.

use std::fmt;
use std::str::FromStr;

use crate::string_type::{ParseError, string_type};

/// The version of an envelope: a major that readers must know, and a minor that only adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Protocol {
    /// Readers refuse what they do not know.
    pub major: u32,
    /// Readers ignore and keep what they do not know.
    pub minor: u32,
}

/// What this crate writes.
pub const CURRENT: Protocol = Protocol { major: 2, minor: 0 };

const EXPECTED: &str = "a protocol version such as `2.0`";

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Protocol {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let parsed = text.split_once('.').and_then(|(major, minor)| {
            Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        // "2.00" and "+2.0" parse as numbers; one version must have one spelling.
        parsed.filter(|p| p.to_string() == text).ok_or_else(|| ParseError::new(EXPECTED, text))
    }
}

string_type!(Protocol, expected: EXPECTED, pattern: "^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)$");

/// The versions that this crate reads and writes, by major.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Major {
    /// The flat form older agents read.
    V1,
    /// The envelope.
    V2,
}

impl Major {
    /// Oldest first.
    pub const SUPPORTED: [Self; 2] = [Self::V1, Self::V2];

    /// As SDKs write it: `"2"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "1",
            Self::V2 => "2",
        }
    }

    /// From `2` or `2.7`.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let major = text.split_once('.').map_or(text, |(major, _)| major);
        let known = Self::SUPPORTED.into_iter().find(|known| known.as_str() == major);
        known.ok_or_else(|| VersionError::of(text))
    }
}

/// None of the versions asked for is one of ours.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("version {asked} is not supported; supported are {}", supported())]
pub struct VersionError {
    /// What was asked for.
    pub asked: String,
}

impl VersionError {
    /// The stable name of this error.
    pub const CODE: &str = "version-unsupported";

    pub(crate) fn of(asked: &str) -> Self {
        Self { asked: ParseError::new("", asked).found }
    }
}

fn supported() -> String {
    Major::SUPPORTED.map(Major::as_str).join(", ")
}

/// The newest version that a reader accepts; words it lists that we do not know are no hindrance.
pub fn negotiate<S: AsRef<str>>(accepted: &[S]) -> Result<Major, VersionError> {
    let known = accepted.iter().filter_map(|text| Major::parse(text.as_ref()).ok()).max();
    known.ok_or_else(|| {
        let words: Vec<&str> = accepted.iter().map(AsRef::as_ref).collect();
        let asked = if words.is_empty() { "(none)".to_owned() } else { words.join(", ") };
        VersionError::of(&asked)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_common_version_is_chosen() {
        for (accepted, expected) in [
            (&["2"][..], Ok(Major::V2)),
            (&["1"], Ok(Major::V1)),
            (&["1", "2"], Ok(Major::V2)),
            (&["2.0", "1"], Ok(Major::V2)),
            (&["3", "2.7"], Ok(Major::V2)),
            (&["9", "1"], Ok(Major::V1)),
            (&["3"], Err("version 3 is not supported; supported are 1, 2")),
            (&["x", "20"], Err("version x, 20 is not supported; supported are 1, 2")),
            (&[], Err("version (none) is not supported; supported are 1, 2")),
        ] {
            let chosen = negotiate(accepted).map_err(|error| error.to_string());
            assert_eq!(chosen, expected.map_err(str::to_owned), "{accepted:?}");
        }
    }
}
