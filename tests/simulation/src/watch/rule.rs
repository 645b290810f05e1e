//! The rules, by name.

use std::fmt;

/// What must always hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// R9: at any time one lease on a delivery is valid.
    OneLease,
    /// R9: no two leases have the same token, whatever crashed or was restored in between.
    TokensDiffer,
    /// R9: whoever lost a lease changes nothing.
    LostLeaseIsPowerless,
    /// A lease ends by its holder, its time, a cancellation or a person; nothing else takes it away.
    LeaseIsKept,
    /// The holder of a valid lease is never told that it is lost.
    HolderIsBelieved,
    /// Epochs only grow, by one with each lease.
    EpochsGrow,
    /// Nothing is given out before its time, and a backoff is as long as was asked for.
    Backoff,
    /// Attempts with one agent are counted and limited.
    Attempts,
    /// A paused agent gets nothing; one with an open breaker gets its one probe.
    HeldBack,
    /// With an order key: one at a time, in order.
    Order,
    /// R7: no hop beyond the limit, and none miscounted.
    Hops,
    /// R7: at the limit the parent is parked with what was refused.
    LimitParks,
    /// Completing and handing on are one step.
    NextIsAtomic,
    /// Done, rejected and cancelled are for ever.
    EndIsFinal,
    /// R8: what was answered is on disk.
    AnsweredIsStored,
    /// R8: nothing that was sent is lost.
    NothingLost,
    /// R9: the result is that of the lease that won.
    WinnersResult,
    /// Who is told that nothing was written can believe it.
    NothingWritten,
    /// One request makes one delivery, however often it is repeated.
    OncePerRequest,
    /// A join is made once.
    JoinOnce,
    /// A join is made when it is time, of what there is.
    JoinComplete,
    /// R11: nothing of one workspace is seen or changed from another.
    Isolation,
    /// What is pruned is a whole lineage that is over, and nothing goes on from it.
    PrunedIsOver,
    /// A pipeline says who is next.
    PipelineFollowed,
    /// An accepted probe closes its breaker.
    ProbeCloses,
    /// When everybody is well again, everything comes to an end.
    EverythingSettles,
}

/// A rule that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub rule: Rule,
    /// How.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.detail)
    }
}
