//! The append-only log: what happened, in commit order. It feeds the audit and every event stream.

use std::borrow::Cow;

use spine_protocol::{AgentName, DeliveryId, EnvelopeId, MemoryId};

use crate::{Change, Facts, Receipt, UnixMs};

/// A memory named inside a command, which may only get its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryRef {
    /// One that exists.
    Existing(MemoryId),
    /// The n-th new memory of the same command, from 0.
    New(u32),
}

/// An event on its way into the log. It holds no texts, so that erasing a memory need not rewrite it.
#[derive(Debug, Clone, PartialEq)]
pub struct EventDraft {
    /// What happened, such as `memory.stored`.
    pub kind: Cow<'static, str>,
    /// Who did it.
    pub actor: Option<AgentName>,
    /// The memory it is about.
    pub memory: Option<MemoryRef>,
    /// The envelope it is about.
    pub envelope: Option<EnvelopeId>,
    /// The delivery it is about.
    pub delivery: Option<DeliveryId>,
    /// Further facts.
    pub data: Facts,
}

impl EventDraft {
    /// An event with nothing but its kind.
    pub fn new(kind: &'static str) -> Self {
        let (actor, memory, envelope, delivery) = (None, None, None, None);
        let (kind, data) = (Cow::Borrowed(kind), Facts::default());
        Self { kind, actor, memory, envelope, delivery, data }
    }

    /// The memory it is about, by the number that its command gave it.
    pub fn memory_id(&self, receipt: &Receipt) -> Option<MemoryId> {
        match self.memory? {
            MemoryRef::Existing(id) => Some(id),
            MemoryRef::New(n) => receipt.memory_id(n),
        }
    }

    /// As it stands in the log.
    pub fn into_event(self, change: Change, at: UnixMs, receipt: &Receipt) -> Event {
        let memory = self.memory_id(receipt);
        let Self { kind, actor, envelope, delivery, data, .. } = self;
        Event { change, at, kind, actor, memory, envelope, delivery, data }
    }
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its place in the workspace's order.
    pub change: Change,
    /// When its command was made.
    pub at: UnixMs,
    /// What happened.
    pub kind: Cow<'static, str>,
    /// Who did it.
    pub actor: Option<AgentName>,
    /// The memory it is about.
    pub memory: Option<MemoryId>,
    /// The envelope it is about.
    pub envelope: Option<EnvelopeId>,
    /// The delivery it is about.
    pub delivery: Option<DeliveryId>,
    /// Further facts.
    pub data: Facts,
}

/// One page of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventQuery {
    /// About any of these; empty: about anything.
    pub envelopes: Vec<EnvelopeId>,
    /// Kinds that start so.
    pub kinds_prefix: Option<String>,
    /// Go on behind this one; with zero, from the start.
    pub after: Change,
    /// From the newest down.
    pub newest_first: bool,
    /// At most so many.
    pub limit: usize,
}

impl EventQuery {
    /// Whether an event is in the list, whatever the page.
    pub fn admits(&self, event: &Event) -> bool {
        let about = event.envelope.is_some_and(|envelope| self.envelopes.contains(&envelope));
        (self.envelopes.is_empty() || about)
            && self.kinds_prefix.as_ref().is_none_or(|prefix| event.kind.starts_with(prefix))
    }
}
