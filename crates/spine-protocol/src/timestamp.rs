//! Moments, kept exactly as they were written.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use jiff::tz::Offset;

use crate::string_type::{ParseError, string_type};

/// An RFC 3339 date and time with its offset. The spelling is kept, because it is inside the digest;
/// order goes by the instant. What this crate writes itself is UTC with milliseconds.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Timestamp {
    written: String,
    instant: jiff::Timestamp,
}

/// Until the year 9999.
const WRITTEN_BYTES: usize = 24;

const EXPECTED: &str = "an RFC 3339 date and time such as `2026-01-15T09:30:00.123Z`";
const PATTERN: &str = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$";

impl Timestamp {
    /// The moment this many milliseconds after 1970, if it is in the years 0 to 9999.
    pub fn from_unix_ms(unix_ms: i64) -> Option<Self> {
        let instant = jiff::Timestamp::from_millisecond(unix_ms).ok()?;
        let at = Offset::UTC.to_datetime(instant);
        let year = u32::try_from(at.year()).ok()?;
        let mut written = String::with_capacity(WRITTEN_BYTES);
        push_digits(&mut written, year, 4, '-');
        push_digits(&mut written, at.month().unsigned_abs().into(), 2, '-');
        push_digits(&mut written, at.day().unsigned_abs().into(), 2, 'T');
        push_digits(&mut written, at.hour().unsigned_abs().into(), 2, ':');
        push_digits(&mut written, at.minute().unsigned_abs().into(), 2, ':');
        push_digits(&mut written, at.second().unsigned_abs().into(), 2, '.');
        push_digits(&mut written, at.millisecond().unsigned_abs().into(), 3, 'Z');
        Some(Self { written, instant })
    }

    /// Milliseconds since 1970.
    pub fn unix_ms(&self) -> i64 {
        self.instant.as_millisecond()
    }

    /// The spelling it came in.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Which of two moments comes first; two spellings of one instant are equal here.
    pub fn cmp_instant(&self, other: &Self) -> Ordering {
        self.instant.cmp(&other.instant)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl FromStr for Timestamp {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || ParseError::new(EXPECTED, text);
        let instant = text.parse().ok().filter(|_| is_rfc3339(text)).ok_or_else(wrong)?;
        Ok(Self { written: text.to_owned(), instant })
    }
}

string_type!(Timestamp, spelled: as_str, expected: EXPECTED, pattern: PATTERN);

/// A number with so many digits, and what stands behind it. Moments are written at every step, and a formatter takes five times
/// as long.
fn push_digits(written: &mut String, number: u32, digits: u32, behind: char) {
    for place in (0..digits).rev() {
        let digit = number / 10_u32.pow(place) % 10;
        written.push(char::from_digit(digit, 10).unwrap_or_default());
    }
    written.push(behind);
}

/// The date parser also takes other ISO 8601 forms; readers in other languages may not.
fn is_rfc3339(text: &str) -> bool {
    let Some((date_time, rest)) = text.split_at_checked(19) else { return false };
    let offset = rest.strip_prefix('.').map_or(rest, |r| r.trim_start_matches(is_digit));
    let fraction_digits = (rest.len() - offset.len()).saturating_sub(1);
    matches_shape(date_time, "dddd-dd-ddTdd:dd:dd")
        && (!rest.starts_with('.') || (1..=9).contains(&fraction_digits))
        && (offset == "Z" || matches_shape(offset, "+dd:dd") || matches_shape(offset, "-dd:dd"))
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn matches_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.chars().zip(shape.chars()).all(|(c, s)| if s == 'd' { is_digit(c) } else { c == s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_is_kept_and_order_goes_by_the_instant() {
        let utc: Timestamp = "2026-01-15T09:30:00Z".parse().unwrap();
        let berlin: Timestamp = "2026-01-15T10:30:00.000+01:00".parse().unwrap();
        assert_eq!(utc.cmp_instant(&berlin), Ordering::Equal);
        assert_ne!(utc, berlin);
        assert_eq!(berlin.to_string(), "2026-01-15T10:30:00.000+01:00");
        assert_eq!(
            Timestamp::from_unix_ms(1_768_469_400_123).unwrap().as_str(),
            "2026-01-15T09:30:00.123Z"
        );
        assert!(Timestamp::from_unix_ms(i64::MAX).is_none());
    }

    #[test]
    fn what_is_written_here_is_the_moment_it_was_made_of() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut rng = fastrand::Rng::with_seed(seed);
        let (first, last) = (-62_167_219_200_000, 253_402_207_200_000);
        for unix_ms in (0..2_000).map(|_| rng.i64(first..last)).chain([first, -1, 0, last]) {
            let written = Timestamp::from_unix_ms(unix_ms).unwrap();
            let read: Timestamp = written.as_str().parse().unwrap();
            assert_eq!((read.unix_ms(), written.as_str().len()), (unix_ms, WRITTEN_BYTES));
        }
        assert!(Timestamp::from_unix_ms(first - 1).is_none());
    }

    #[test]
    fn only_rfc3339_is_read() {
        for text in [
            "",
            "2026-01-15",
            "2026-01-15 09:30:00Z",
            "2026-01-15T09:30Z",
            "2026-01-15T09:30:00",
            "2026-01-15T09:30:00.Z",
            "2026-02-30T09:30:00Z",
            "2026-01-15T09:30:00Z[UTC]",
            "2026-01-15t09:30:00z",
            "2026-01-15T09:30:00.1234567890Z",
            "２026-01-15T09:30:00Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text:?} should be refused");
        }
    }
}
