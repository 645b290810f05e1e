//! SHA-256, written as `sha256:<hex>`.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::string_type::{ParseError, string_type};

/// What stands for some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; BYTES]);

const BYTES: usize = 32;
const HEX_DIGITS: usize = 2 * BYTES;
const PREFIX: &str = "sha256:";

const EXPECTED: &str = "a digest: `sha256:` and 64 lower-case hexadecimal digits";

impl Digest {
    /// The digest of the parts, one after the other.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The first half, as a number.
    pub fn first_128_bits(&self) -> u128 {
        self.0.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
    }

    /// The digest that stands for a memory's text. The salt's characters come first, so that the digest of
    /// an erased text cannot be found again by trying likely texts.
    pub fn of_salted_text(salt: &Salt, text: &str) -> Self {
        Self::of(&[salt.as_str().as_bytes(), text.as_bytes()])
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(HEXLOWER.encode_mut_str(&self.0, &mut [0; HEX_DIGITS]))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let hex = text.strip_prefix(PREFIX).filter(|hex| hex.len() == HEX_DIGITS);
        let mut bytes = [0; BYTES];
        let decoded = hex.and_then(|hex| HEXLOWER.decode_mut(hex.as_bytes(), &mut bytes).ok());
        decoded.map(|_| Self(bytes)).ok_or_else(|| ParseError::new(EXPECTED, text))
    }
}

string_type!(Digest, expected: EXPECTED, pattern: "^sha256:[0-9a-f]{64}$");

/// 128 random bits as 32 hexadecimal digits. The fixed length keeps salt and text apart in the digest.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Salt(String);

const SALT_EXPECTED: &str = "a salt: 32 lower-case hexadecimal digits";

impl Salt {
    /// A salt from randomness, which comes from outside.
    pub fn from_random(random: u128) -> Self {
        Self(format!("{random:032x}"))
    }

    /// The salt as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Salt {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let valid = is_lower_hex(text, 32);
        valid.then(|| Self(text.to_owned())).ok_or_else(|| ParseError::new(SALT_EXPECTED, text))
    }
}

string_type!(Salt, expected: SALT_EXPECTED, pattern: "^[0-9a-f]{32}$");

fn is_lower_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_is_sha256_in_hex() {
        let abc = Digest::of(&[b"a", b"bc"]);
        let written = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(abc.to_string(), written);
        assert_eq!(written.parse::<Digest>().unwrap(), abc);
        for wrong in ["", &written[7..], &written.to_uppercase(), &written[..70]] {
            assert!(wrong.parse::<Digest>().is_err());
        }
    }
}
