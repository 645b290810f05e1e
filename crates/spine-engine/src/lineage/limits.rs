//! Every bound of reading a lineage, with its unit last.

/// Envelopes of one lineage that are read at once.
pub const LINEAGE_ENVELOPES_MAX: usize = 10_000;
