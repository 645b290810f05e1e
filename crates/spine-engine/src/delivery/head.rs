//! What delivery must know of an envelope. One that is stored is read without checking the rest: whoever stored it has done
//! that, and the receiver checks the digest.

use serde::Deserialize;
use spine_protocol::{AgentName, DEADLINE, Envelope, EnvelopeId, Priority, Subject, Timestamp};
use spine_store::{ErrorKind, Facts, StoreError, StoredEnvelope, UnixMs};

use super::{DeliveryError, Result};

/// The parts of an envelope that decide how it is delivered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Head {
    pub(super) id: EnvelopeId,
    pub(super) root: EnvelopeId,
    pub(super) target: AgentName,
    pub(super) subject: Option<Subject>,
    pub(super) priority: Priority,
    pub(super) expires_at: Option<UnixMs>,
    pub(super) deadline: Option<UnixMs>,
    pub(super) completeness: f64,
    pub(super) has_schema: bool,
    pub(super) size: Size,
}

/// What health counts of an envelope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    hop: u32,
    max_hops: u32,
    tokens: u64,
    max_tokens: u64,
    requested: u64,
    included: u64,
}

impl Size {
    /// As it stands in the log.
    pub(super) fn note(&self, data: &mut Facts) {
        data.note("hop", self.hop);
        data.note("max_hops", self.max_hops);
        data.note("tokens", self.tokens);
        data.note("max_tokens", self.max_tokens);
        data.note("requested", self.requested);
        data.note("included", self.included);
    }
}

#[derive(Deserialize)]
struct Parts {
    target: AgentName,
    #[serde(default)]
    hop: u32,
    #[serde(default)]
    max_hops: u32,
    #[serde(default)]
    assembly: AssemblyPart,
    #[serde(default)]
    subject: Option<Subject>,
    #[serde(default)]
    priority: Priority,
    #[serde(default)]
    expires_at: Option<Timestamp>,
    #[serde(default)]
    constraints: Vec<ConstraintPart>,
    #[serde(default)]
    completeness: CompletenessPart,
    #[serde(default)]
    expected_output: Option<OutputPart>,
}

#[derive(Deserialize)]
struct ConstraintPart {
    name: String,
    value: serde_json::Value,
}

#[derive(Deserialize, Default)]
struct CompletenessPart {
    requested: u64,
    included: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AssemblyPart {
    tokens: u64,
    max_tokens: u64,
}

#[derive(Deserialize)]
struct OutputPart {
    #[serde(default)]
    schema: Option<serde::de::IgnoredAny>,
}

impl Head {
    pub(super) fn of_stored(stored: &StoredEnvelope) -> Result<Self> {
        if stored.pruned {
            return Err(DeliveryError::Pruned { id: stored.id });
        }
        Self::read(stored.id, stored.root, &stored.bytes)
    }

    /// Of one that is at hand: nothing has to be read.
    pub(super) fn of(envelope: &Envelope) -> Self {
        let (asked, assembly) = (&envelope.completeness, &envelope.assembly);
        let (requested, included) = (asked.requested.into(), asked.included.into());
        let mut constraints = envelope.constraints.iter();
        Self {
            id: envelope.id,
            root: envelope.root,
            size: Size {
                hop: envelope.hop,
                max_hops: envelope.max_hops,
                tokens: assembly.tokens.into(),
                max_tokens: assembly.max_tokens.into(),
                requested,
                included,
            },
            deadline: constraints.find_map(|one| deadline(one.name.as_str(), &one.value)),
            target: envelope.target.clone(),
            subject: envelope.subject.clone(),
            priority: envelope.priority,
            expires_at: envelope.expires_at.as_ref().map(UnixMs::from),
            completeness: CompletenessPart { requested, included }.share(),
            has_schema: envelope.expected_output.as_ref().is_some_and(|own| own.schema.is_some()),
        }
    }

    fn read(id: EnvelopeId, root: EnvelopeId, bytes: &[u8]) -> Result<Self> {
        let damaged =
            |error: serde_json::Error| StoreError::new(ErrorKind::Corrupt, error.to_string());
        let parts: Parts = serde_json::from_slice(bytes).map_err(damaged)?;
        Ok(Self {
            id,
            root,
            size: parts.size(),
            deadline: parts.constraints.iter().find_map(|one| deadline(&one.name, &one.value)),
            target: parts.target,
            subject: parts.subject,
            priority: parts.priority,
            expires_at: parts.expires_at.as_ref().map(UnixMs::from),
            completeness: parts.completeness.share(),
            has_schema: parts.expected_output.is_some_and(|output| output.schema.is_some()),
        })
    }
}

impl Parts {
    fn size(&self) -> Size {
        Size {
            hop: self.hop,
            max_hops: self.max_hops,
            tokens: self.assembly.tokens,
            max_tokens: self.assembly.max_tokens,
            requested: self.completeness.requested,
            included: self.completeness.included,
        }
    }
}

/// The moment that a constraint names, if it is the deadline.
fn deadline(name: &str, value: &serde_json::Value) -> Option<UnixMs> {
    let text = value.as_str().filter(|_| name == DEADLINE)?;
    // A plain date ends with its day.
    let moment = text.parse::<Timestamp>().or_else(|_| format!("{text}T23:59:59.999Z").parse());
    moment.ok().as_ref().map(UnixMs::from)
}

impl CompletenessPart {
    fn share(&self) -> f64 {
        if self.requested == 0 { 1.0 } else { self.included as f64 / self.requested as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_hand_and_its_stored_bytes_tell_the_same() {
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../spine-protocol/golden/v2");
        let mut told = 0;
        for file in std::fs::read_dir(golden).unwrap().map(|file| file.unwrap().path()) {
            let bytes = std::fs::read(&file).unwrap();
            let Ok(envelope) = Envelope::read(&bytes) else { continue };
            let stored = Head::read(envelope.id, envelope.root, envelope.canonical_bytes());
            assert_eq!(Head::of(&envelope), stored.unwrap(), "{}", file.display());
            told += 1;
        }
        assert!(told > 0);
    }
}
