//! The stages that a handoff goes through, one after the other.

use spine_store::Event;

/// One stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// From the request to an envelope that is packed and sealed.
    Assemble,
    /// From the queue to a receiver's hands, with everything that was tried in between.
    Queued,
    /// From a receiver's hands to its word that it takes the work.
    Handover,
    /// From that word to the result.
    Work,
}

impl Stage {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [Self::Assemble, Self::Queued, Self::Handover, Self::Work];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assemble => "assemble",
            Self::Queued => "queued",
            Self::Handover => "handover",
            Self::Work => "work",
        }
    }

    /// How long it took, in seconds, if an event tells.
    pub(super) fn seconds_in(self, event: &Event) -> Option<f64> {
        let (kind, field) = match self {
            Self::Assemble => ("envelope.made", "took_ms"),
            Self::Queued => ("delivery.accepted", "queued_ms"),
            Self::Handover => ("delivery.accepted", "handover_ms"),
            Self::Work => ("delivery.done", "work_ms"),
        };
        let ms = (event.kind == kind).then(|| event.data.get(field)).flatten();
        ms.and_then(|ms| ms.as_u64()).map(|ms| ms as f64 / 1000.0)
    }
}
