//! The stages that a handoff goes through, one after the other.

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

    /// Where the event that ends it says how long it took.
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Assemble => "took_ms",
            Self::Queued => "queued_ms",
            Self::Handover => "handover_ms",
            Self::Work => "work_ms",
        }
    }
}
