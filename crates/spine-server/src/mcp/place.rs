//! Addresses of resources: `spine://memories/{id}`, `spine://envelopes/{id}`, `spine://agents/{name}/inbox`.

use std::fmt;
use std::str::FromStr;

use spine_protocol::{AgentName, EnvelopeId, MemoryId};

use crate::problem::{Problem, ProblemKind};

/// The address of every memory.
pub const MEMORY_TEMPLATE: &str = "spine://memories/{id}";
/// The address of every envelope.
pub const ENVELOPE_TEMPLATE: &str = "spine://envelopes/{id}";
/// The address of every agent's inbox.
pub const INBOX_TEMPLATE: &str = "spine://agents/{name}/inbox";

/// What an address leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A memory.
    Memory(MemoryId),
    /// An envelope.
    Envelope(EnvelopeId),
    /// What waits for an agent.
    Inbox(AgentName),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(id) => write!(f, "spine://memories/{id}"),
            Self::Envelope(id) => write!(f, "spine://envelopes/{id}"),
            Self::Inbox(name) => write!(f, "spine://agents/{name}/inbox"),
        }
    }
}

impl FromStr for Place {
    type Err = Problem;

    fn from_str(uri: &str) -> Result<Self, Problem> {
        let unknown = || {
            let said = format!(
                "{uri:?} is no resource here: there are {MEMORY_TEMPLATE}, {ENVELOPE_TEMPLATE} and {INBOX_TEMPLATE}"
            );
            Problem::new(ProblemKind::NotFound, said).with("uri", uri)
        };
        let path = uri.strip_prefix("spine://").ok_or_else(unknown)?;
        let parts: Vec<&str> = path.split('/').collect();
        let place = match parts.as_slice() {
            ["memories", id] => id.parse().ok().map(Self::Memory),
            ["envelopes", id] => id.parse().ok().map(Self::Envelope),
            ["agents", name, "inbox"] => decoded(name).parse().ok().map(Self::Inbox),
            _ => None,
        };
        place.ok_or_else(unknown)
    }
}

/// Names have characters that a template writes as `%40`.
fn decoded(name: &str) -> String {
    // A plus is itself in a path.
    let name = name.replace('+', "%2B");
    let mut pairs = form_urlencoded::parse(name.as_bytes());
    pairs.next().map(|(name, _)| name.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, expect: &str) {
        let found = uri.parse::<Place>();
        let shown =
            found.map_or_else(|problem| problem.kind().slug().to_owned(), |p| p.to_string());
        assert_eq!(shown, expect, "{uri}");
    }

    #[test]
    fn addresses_are_read_strictly() {
        check("spine://memories/ms-12", "spine://memories/ms-12");
        check("spine://agents/a%40b+c/inbox", "spine://agents/a@b+c/inbox");
        let envelope = "spine://envelopes/env_01K00000000000000000000000";
        check(envelope, envelope);
        for wrong in
            ["spine://memories/12", "spine://agents/a", "file:///etc/passwd", "", "spine://"]
        {
            check(wrong, "not-found");
        }
    }
}
