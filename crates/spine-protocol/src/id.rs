//! Ids that only parse what is valid.

use std::fmt;
use std::str::FromStr;

use ulid::{ULID_LEN, Ulid};

use crate::limits::JSON_INTEGER_MAX;
use crate::string_type::{ParseError, string_type};

const PREFIX_BYTES: usize = 4;

/// An id as it is written. Ids are written at every step, and their spelling is short.
pub struct SpelledId([u8; PREFIX_BYTES + ULID_LEN]);

impl SpelledId {
    fn new(prefix: &str, ulid: Ulid) -> Self {
        let mut spelled = [0; PREFIX_BYTES + ULID_LEN];
        let (before, behind) = spelled.split_at_mut(PREFIX_BYTES);
        before.copy_from_slice(prefix.as_bytes());
        behind.copy_from_slice(ulid.array_to_str(&mut [0; ULID_LEN]).as_bytes());
        Self(spelled)
    }
}

impl std::ops::Deref for SpelledId {
    type Target = str;

    fn deref(&self) -> &str {
        // A prefix and a ULID are ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

macro_rules! ulid_id {
    ($(#[$doc:meta])* $type:ident, prefix: $prefix:literal, expected: $expected:literal, pattern: $pattern:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Ulid);

        impl $type {
            /// The id for a moment and 80 bits of randomness, both from outside: this crate has neither.
            pub fn from_parts(unix_ms: u64, random: u128) -> Self {
                Self(Ulid::from_parts(unix_ms, random))
            }

            /// As it is written.
            pub fn spelled(&self) -> SpelledId {
                SpelledId::new($prefix, self.0)
            }

            /// The moment inside the id.
            pub fn unix_ms(self) -> u64 {
                self.0.timestamp_ms()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.spelled())
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $type {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                let wrong = || ParseError::new($expected, text);
                let body = text.strip_prefix($prefix).ok_or_else(wrong)?;
                let ulid = Ulid::from_string(body).map_err(|_| wrong())?;
                // The decoder also takes lower case; one id must have one spelling.
                if ulid.array_to_str(&mut [0; ULID_LEN]) == body { Ok(Self(ulid)) } else { Err(wrong()) }
            }
        }

        string_type!($type, spelled: spelled, expected: $expected, pattern: $pattern);
    };
}

ulid_id!(
    /// An envelope's id: `env_` and a ULID.
    EnvelopeId,
    prefix: "env_",
    expected: "an envelope id such as `env_01JHX5C3Q8V6YQJ2ZD0M4T7N9R`",
    pattern: "^env_[0-7][0-9A-HJKMNP-TV-Z]{25}$"
);

ulid_id!(
    /// A delivery's id: `dlv_` and a ULID.
    DeliveryId,
    prefix: "dlv_",
    expected: "a delivery id such as `dlv_01JHX5C3Q8V6YQJ2ZD0M4T7N9R`",
    pattern: "^dlv_[0-7][0-9A-HJKMNP-TV-Z]{25}$"
);

ulid_id!(
    /// A publication's id: `pub_` and a ULID.
    PublicationId,
    prefix: "pub_",
    expected: "a publication id such as `pub_01JHX5C3Q8V6YQJ2ZD0M4T7N9R`",
    pattern: "^pub_[0-7][0-9A-HJKMNP-TV-Z]{25}$"
);

ulid_id!(
    /// An alert's id: `alr_` and a ULID.
    AlertId,
    prefix: "alr_",
    expected: "an alert id such as `alr_01JHX5C3Q8V6YQJ2ZD0M4T7N9R`",
    pattern: "^alr_[0-7][0-9A-HJKMNP-TV-Z]{25}$"
);

/// A memory's id: `ms-` and its number in the workspace, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryId(u64);

impl MemoryId {
    const EXPECTED: &str = "a memory id such as `ms-4821`";

    /// The id with this number; there is none for 0, nor beyond what JSON readers keep exactly.
    pub fn new(number: u64) -> Option<Self> {
        (1..=JSON_INTEGER_MAX).contains(&number).then_some(Self(number))
    }

    /// The number in the workspace.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ms-{}", self.0)
    }
}

impl fmt::Debug for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for MemoryId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(Self::EXPECTED, text);
        let digits = text.strip_prefix("ms-").ok_or_else(wrong)?;
        // `u64::from_str` takes "+1" and "01" too; one id must have one spelling.
        let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| plain).ok_or_else(wrong)?;
        Self::new(number).ok_or_else(wrong)
    }
}

string_type!(MemoryId, expected: MemoryId::EXPECTED, pattern: "^ms-[1-9][0-9]{0,15}$");

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: FromStr + fmt::Display>(valid: &[&str], invalid: &[&str]) {
        for text in valid {
            let id: T = text.parse().ok().unwrap_or_else(|| panic!("{text} should parse"));
            assert_eq!(id.to_string(), *text);
        }
        for text in invalid {
            assert!(text.parse::<T>().is_err(), "{text:?} should be refused");
        }
    }

    #[test]
    fn envelope_ids_have_one_spelling() {
        check::<EnvelopeId>(
            &["env_01JHX5C3Q8V6YQJ2ZD0M4T7N9R", "env_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"],
            &[
                "",
                "env_",
                "env_01jhx5c3q8v6yqj2zd0m4t7n9r",
                "env_01JHX5C3Q8V6YQJ2ZD0M4T7N9",
                "env_01JHX5C3Q8V6YQJ2ZD0M4T7N9RR",
                "env_8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
                "env_01JHX5C3Q8V6YQJ2ZD0M4T7NIL",
                "dlv_01JHX5C3Q8V6YQJ2ZD0M4T7N9R",
                " env_01JHX5C3Q8V6YQJ2ZD0M4T7N9R",
            ],
        );
    }

    #[test]
    fn memory_ids_have_one_spelling() {
        check::<MemoryId>(
            &["ms-1", "ms-4821", "ms-9007199254740991"],
            &[
                "",
                "ms-",
                "ms-0",
                "ms-01",
                "ms-+1",
                "ms--1",
                "ms-1 ",
                "MS-1",
                "ms-9007199254740992",
                "ms-1e3",
            ],
        );
    }

    #[test]
    fn ids_sort_by_time_and_tell_it() {
        let (early, late) = (EnvelopeId::from_parts(1, u128::MAX), EnvelopeId::from_parts(2, 0));
        assert!(early < late && early.to_string() < late.to_string());
        assert_eq!(late.unix_ms(), 2);
    }
}
