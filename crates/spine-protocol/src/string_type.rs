//! One way to make a type that is written as a string and only parses what is valid.

/// A value that did not parse, with what would have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got {found:?}")]
pub struct ParseError {
    /// What is accepted, with an example.
    pub expected: &'static str,
    /// What was given, shortened.
    pub found: String,
}

impl ParseError {
    const FOUND_CHARS_MAX: usize = 60;

    /// An error for `found` where `expected` was wanted.
    pub fn new(expected: &'static str, found: &str) -> Self {
        let mut shown: String = found.chars().take(Self::FOUND_CHARS_MAX).collect();
        if shown.len() < found.len() {
            shown.push('…');
        }
        Self { expected, found: shown }
    }
}

/// Gives a type with `Display` and `FromStr` its JSON form and its JSON Schema. One that has its spelling at hand says how.
macro_rules! string_type {
    ($type:ident, expected: $expected:expr, pattern: $pattern:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        string_type!(read $type, $expected, $pattern);
    };
    ($type:ident, spelled: $spelled:ident, expected: $expected:expr, pattern: $pattern:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.$spelled())
            }
        }

        string_type!(read $type, $expected, $pattern);
    };
    (read $type:ident, $expected:expr, $pattern:expr) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(|error: $crate::ParseError| {
                            E::invalid_value(serde::de::Unexpected::Str(&error.found), &self)
                        })
                    }
                }
                deserializer.deserialize_str(Visitor)
            }
        }

        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string", "description": $expected, "pattern": $pattern
                })
            }
        }
    };
}

/// A closed or open list of words, each a variant.
macro_rules! word_enum {
    ($(#[$doc:meta])* open $type:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[$vdoc])* $variant,)+
            /// A word of a newer minor version, kept as it came.
            Other(String),
        }

        impl $type {
            /// The word as it is written.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $word,)+ Self::Other(word) => word }
            }
        }

        impl From<&str> for $type {
            fn from(word: &str) -> Self {
                match word { $($word => Self::$variant,)+ other => Self::Other(other.to_owned()) }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Ok(Self::from(word.as_ref()))
            }
        }

        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": concat!("Known words: ", $("`", $word, "` ",)+ "; a newer minor version may add more."),
                })
            }
        }
    };
    ($(#[$doc:meta])* closed $type:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        #[schemars(inline)]
        pub enum $type {
            $($(#[$vdoc])* #[serde(rename = $word)] $variant,)+
        }

        impl $type {
            /// Every variant, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word as it is written.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::ParseError;
            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::ParseError::new(concat!("one of", $(" `", $word, "`",)+), word)),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use string_type;
pub(crate) use word_enum;
