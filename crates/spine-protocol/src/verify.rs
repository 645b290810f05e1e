//! R4: whether a lineage is what it was, and what exactly is not.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::envelope::{Envelope, ParentRef};
use crate::succession::check_succession;
use crate::{EnvelopeId, MemoryId};

/// What a store has under an envelope's id.
#[derive(Debug, Clone)]
pub enum Record {
    /// The canonical bytes.
    Whole(Vec<u8>),
    /// What is left after pruning.
    Skeleton(Skeleton),
}

/// What stays of a pruned envelope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skeleton {
    /// Its id.
    pub id: EnvelopeId,
    /// Its digest.
    pub digest: Digest,
    /// Its parents, with their digests.
    pub parents: Vec<ParentRef>,
    /// Its hop.
    pub hop: u32,
}

impl Skeleton {
    /// What is to stay of an envelope.
    pub fn of(envelope: &Envelope) -> Self {
        let (id, digest, hop) = (envelope.id, envelope.digest, envelope.hop);
        Self { id, digest, parents: envelope.parents.clone(), hop }
    }
}

/// A digest that somebody noted elsewhere: the audit log, a receipt.
#[derive(Debug, Clone)]
pub struct Witness {
    /// Of which envelope.
    pub id: EnvelopeId,
    /// What it was.
    pub digest: Digest,
    /// Where it was noted.
    pub noted_in: String,
}

/// What is to be told about one envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// Its bytes are not those that were sealed.
    Altered {
        /// Which envelope.
        id: EnvelopeId,
        /// Where, and what was expected there.
        detail: String,
    },
    /// It is another envelope than the one that was known under its id.
    Replaced {
        /// Which envelope.
        id: EnvelopeId,
        /// Who knew it with another digest.
        known_to: String,
    },
    /// It is named, and not there.
    Removed {
        /// Which envelope.
        id: EnvelopeId,
        /// Who names it.
        known_to: String,
    },
    /// It does not follow from its parents by the rules.
    RuleBroken {
        /// Which envelope.
        id: EnvelopeId,
        /// Which rule, and how.
        detail: String,
    },
    /// A memory's text was taken out; the envelope is intact.
    Erased {
        /// Which envelope.
        id: EnvelopeId,
        /// Which memory.
        memory: MemoryId,
    },
    /// Only the skeleton is left; its digest still holds the chain together.
    Pruned {
        /// Which envelope.
        id: EnvelopeId,
    },
}

impl Finding {
    /// Whether this is damage, and not erasure or pruning.
    pub fn is_damage(&self) -> bool {
        !matches!(self, Self::Erased { .. } | Self::Pruned { .. })
    }

    /// The envelope it names.
    pub fn id(&self) -> EnvelopeId {
        match self {
            Self::Altered { id, .. }
            | Self::Replaced { id, .. }
            | Self::Removed { id, .. }
            | Self::RuleBroken { id, .. }
            | Self::Erased { id, .. }
            | Self::Pruned { id } => *id,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Altered { id, detail } => write!(f, "{id} was altered: {detail}"),
            Self::Replaced { id, known_to } => {
                write!(f, "{id} was replaced: {known_to} knows it with another digest")
            }
            Self::Removed { id, known_to } => write!(f, "{id} was removed: {known_to} names it"),
            Self::RuleBroken { id, detail } => write!(f, "{id} breaks a rule: {detail}"),
            Self::Erased { id, memory } => write!(f, "{id}: the text of {memory} was erased"),
            Self::Pruned { id } => write!(f, "{id} was pruned"),
        }
    }
}

/// The result of [`verify`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// How many envelopes there are, pruned ones included.
    pub envelopes: usize,
    /// What is to be told, in the order of the ids.
    pub findings: Vec<Finding>,
}

impl Verification {
    /// Whether nothing is damaged.
    pub fn is_intact(&self) -> bool {
        !self.findings.iter().any(Finding::is_damage)
    }

    fn count(&self, of: fn(&Finding) -> bool) -> usize {
        self.findings.iter().filter(|finding| of(finding)).count()
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let damaged = self.count(Finding::is_damage);
        let erased = self.count(|finding| matches!(finding, Finding::Erased { .. }));
        let pruned = self.count(|finding| matches!(finding, Finding::Pruned { .. }));
        match damaged {
            0 => f.write_str("intact")?,
            n => write!(f, "damaged, {n} {}", plural(n, "finding", "findings"))?,
        }
        if erased > 0 {
            write!(f, ", {erased} {} erased", plural(erased, "part", "parts"))?;
        }
        if pruned > 0 {
            write!(f, ", {pruned} {} pruned", plural(pruned, "envelope", "envelopes"))?;
        }
        Ok(())
    }
}

fn plural<'a>(n: usize, one: &'a str, many: &'a str) -> &'a str {
    if n == 1 { one } else { many }
}

/// Checks every envelope of a lineage: its bytes, its texts, its parents, the rules between them, and whatever
/// digests were noted elsewhere. Only the latter can tell that a whole branch up to its leaves was replaced.
pub fn verify(records: &BTreeMap<EnvelopeId, Record>, witnesses: &[Witness]) -> Verification {
    let mut check = Check { records, whole: BTreeMap::new(), findings: Vec::new() };
    check.read_all();
    check.follow_parents();
    check.ask(witnesses);
    check.keep_rules();
    let mut findings = check.findings;
    findings.sort_by_key(|finding| finding.id());
    findings.dedup();
    Verification { envelopes: records.len(), findings }
}

struct Check<'a> {
    records: &'a BTreeMap<EnvelopeId, Record>,
    whole: BTreeMap<EnvelopeId, Envelope>,
    findings: Vec<Finding>,
}

impl Check<'_> {
    fn read_all(&mut self) {
        for (&id, record) in self.records {
            match record {
                Record::Whole(bytes) => self.read(id, bytes),
                Record::Skeleton(skeleton) if skeleton.id != id => {
                    self.altered(id, "it is stored under another id")
                }
                Record::Skeleton(_) => self.findings.push(Finding::Pruned { id }),
            }
        }
    }

    fn read(&mut self, id: EnvelopeId, bytes: &[u8]) {
        let envelope = match Envelope::read(bytes) {
            Ok(envelope) => envelope,
            Err(error) => return self.altered(id, &error.to_string()),
        };
        if envelope.canonical_bytes() != bytes {
            return self.altered(id, "its bytes are not canonical");
        }
        if envelope.id != id {
            return self.altered(id, &format!("it says that it is {}", envelope.id));
        }
        let erased = envelope.memories.iter().filter(|memory| memory.is_erased());
        self.findings.extend(erased.map(|memory| Finding::Erased { id, memory: memory.id }));
        self.whole.insert(id, envelope);
    }

    fn altered(&mut self, id: EnvelopeId, detail: &str) {
        self.findings.push(Finding::Altered { id, detail: detail.to_owned() });
    }

    fn follow_parents(&mut self) {
        for (&id, record) in self.records {
            let parents = match record {
                Record::Whole(_) => self.whole.get(&id).map(|envelope| envelope.parents.clone()),
                Record::Skeleton(skeleton) => Some(skeleton.parents.clone()),
            };
            for parent in parents.unwrap_or_default() {
                self.compare(parent.id, parent.digest, || format!("its child {id}"));
            }
        }
    }

    fn ask(&mut self, witnesses: &[Witness]) {
        for witness in witnesses {
            self.compare(witness.id, witness.digest, || witness.noted_in.clone());
        }
    }

    fn compare(&mut self, id: EnvelopeId, digest: Digest, known_to: impl Fn() -> String) {
        let Some(record) = self.records.get(&id) else {
            return self.findings.push(Finding::Removed { id, known_to: known_to() });
        };
        let present = match record {
            Record::Whole(_) => self.whole.get(&id).map(|envelope| envelope.digest),
            Record::Skeleton(skeleton) => Some(skeleton.digest),
        };
        // One that could not be read is named as altered already.
        if present.is_some_and(|present| present != digest) {
            self.findings.push(Finding::Replaced { id, known_to: known_to() });
        }
    }

    /// Only where all parents are whole and the ones that were named: everything else is named above.
    fn keep_rules(&mut self) {
        let same = |named: &ParentRef| {
            self.whole.get(&named.id).filter(|p| p.digest == named.digest).cloned()
        };
        let mut broken = Vec::new();
        for (&id, envelope) in &self.whole {
            let parents: Option<Vec<Envelope>> = envelope.parents.iter().map(same).collect();
            let Some(Err(error)) = parents.map(|parents| check_succession(envelope, &parents))
            else {
                continue;
            };
            broken.push(Finding::RuleBroken { id, detail: error.to_string() });
        }
        self.findings.extend(broken);
    }
}
