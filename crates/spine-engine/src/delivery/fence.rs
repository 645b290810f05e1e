//! A lease's token: what a receiver shows to speak for a delivery.
//!
//! The epoch tells leases of one delivery apart, the incarnation tells those apart that a crash or a restored
//! backup could number the same, and the history tells restored backups apart that were opened equally often.

use std::fmt;
use std::str::FromStr;

use spine_store::Identity;

use super::error::DeliveryError;

/// Which lease somebody speaks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The lease's number, from 1 in each delivery.
    pub epoch: u32,
    /// The store's incarnation in which it was given.
    pub incarnation: u64,
    /// The store's history, shortened.
    pub history: String,
}

/// Enough of a history to tell it from others.
const HISTORY_CHARS: usize = 12;
/// More leases than a delivery ever has.
const EPOCH_DIGITS_MAX: usize = 9;
/// More openings than a store ever has.
const INCARNATION_DIGITS_MAX: usize = 15;

impl Fence {
    /// The fence of a lease given under this identity.
    pub fn new(epoch: u32, identity: &Identity) -> Self {
        Self { epoch, incarnation: identity.incarnation, history: history(identity) }
    }

    /// The fence of the newest lease on a row.
    pub fn of_row(row: &spine_store::Delivery, identity: &Identity) -> Self {
        Self { epoch: row.epoch, incarnation: row.incarnation, history: history(identity) }
    }
}

fn history(identity: &Identity) -> String {
    identity.history.chars().filter(char::is_ascii_alphanumeric).take(HISTORY_CHARS).collect()
}

/// A number as it is written: a sign is none of it.
fn digits(text: &str, max: usize) -> Option<&str> {
    (text.len() <= max && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.epoch, self.incarnation, self.history)
    }
}

impl FromStr for Fence {
    type Err = DeliveryError;

    fn from_str(text: &str) -> Result<Self, DeliveryError> {
        let mut parts = text.splitn(3, '-');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        let fence = next().zip(next()).zip(next()).and_then(|((epoch, incarnation), history)| {
            let epoch = digits(epoch, EPOCH_DIGITS_MAX)?.parse().ok()?;
            let incarnation = digits(incarnation, INCARNATION_DIGITS_MAX)?.parse().ok()?;
            let is_plain = history.bytes().all(|byte| byte.is_ascii_alphanumeric());
            is_plain.then(|| Self { epoch, incarnation, history: history.to_owned() })
        });
        let problem = || "must be the token that came with the delivery".to_owned();
        fence.ok_or_else(|| DeliveryError::Invalid { field: "lease", problem: problem() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_are_written() {
        let identity =
            Identity { store: "s".into(), history: "01ab-cdef-0123456789".into(), incarnation: 7 };
        let fence = Fence::new(3, &identity);
        assert_eq!(fence.to_string(), "3-7-01abcdef0123");
        assert_eq!(fence.to_string().parse::<Fence>().unwrap(), fence);
        for bad in ["", "3", "3-7", "3-7-", "x-7-a", "-1-7-a"] {
            assert!(bad.parse::<Fence>().is_err(), "{bad}");
        }
    }

    /// Tokens that the description of the API rules out were read all the same, and answered as those of another lease: whoever
    /// had garbled one was told that its delivery was lost.
    #[test]
    fn tokens_that_were_never_written_are_not_read() {
        for bad in
            ["3-7-a*", "3-7-a-b", "+3-7-a", "3-+7-a", "1234567890-7-a", "3-1234567890123456-a"]
        {
            assert!(bad.parse::<Fence>().is_err(), "{bad}");
        }
    }
}
