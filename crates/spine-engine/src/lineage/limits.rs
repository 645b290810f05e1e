//! Every bound of reading a lineage, with its unit last.

/// Envelopes of one lineage that are read at once.
pub const LINEAGE_ENVELOPES_MAX: usize = 10_000;
/// Events that are read to find what was noted of a lineage; beyond, each envelope's own event is looked up.
pub const WITNESS_EVENTS_MAX: usize = 100_000;
/// Events behind an envelope's own change among which its event is.
pub const OWN_EVENTS: usize = 16;
