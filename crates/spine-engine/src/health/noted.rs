//! What one event of the log tells. It is read once, and counted in several places.

use spine_protocol::AgentName;
use spine_store::Event;

use super::minute::Counts;
use super::stage::Stage;

/// Hops beyond this are counted as this one.
const HOPS_MAX: u64 = 1_000;

/// Everything that is counted of an event. All that it needs is in the event.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Noted {
    /// Whom the handoff is for.
    pub(super) receiver: Option<AgentName>,
    /// Whether it is delivered already: an envelope has no receiver yet, only somebody it is for.
    pub(super) is_delivery: bool,
    pub(super) counts: Counts,
    /// From handoff to accepted.
    pub(super) accepted_s: Option<f64>,
    /// From handoff to done.
    pub(super) done_s: Option<f64>,
    /// In the order of [`Stage::ALL`].
    pub(super) stages_s: [Option<f64>; Stage::ALL.len()],
    pub(super) hop: Option<u64>,
    /// Tokens over budget.
    pub(super) utilisation: Option<f64>,
}

impl Noted {
    /// Nothing for an event of which nothing is counted. This runs for every event that there ever is: whatever is read of
    /// one is read once its kind is known.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let mut noted = Self { is_delivery: true, ..Self::default() };
        let counts = &mut noted.counts;
        match event.kind.strip_prefix("delivery.") {
            Some("sent") => noted.read_sent(event),
            Some("accepted") => noted.read_accepted(event),
            Some("done") => {
                counts.done = 1;
                noted.done_s = seconds(event, "after_ms");
                noted.read_stages(event, &[Stage::Work]);
            }
            Some("nacked" | "not_taken") => counts.retries = 1,
            Some("lease_expired") => counts.redeliveries = 1,
            Some("rejected") => counts.rejected = 1,
            Some("cancelled") => counts.cancelled = 1,
            Some("parked") => {
                counts.parked = 1;
                counts.failed = u64::from(is_failure(event));
            }
            None if event.kind == "envelope.made" => {
                noted.is_delivery = false;
                noted.read_stages(event, &[Stage::Assemble]);
            }
            _ => return None,
        }
        let receiver = if noted.is_delivery { "agent" } else { "target" };
        // What is for everybody is for nobody by name.
        let name = event.data.text(receiver).and_then(|name| name.parse().ok());
        noted.receiver = name.filter(|name: &AgentName| !name.is_broadcast());
        Some(noted)
    }

    fn read_accepted(&mut self, event: &Event) {
        self.accepted_s = seconds(event, "after_ms");
        self.counts.accepted = u64::from(self.accepted_s.is_some());
        self.read_stages(event, &[Stage::Queued, Stage::Handover]);
    }

    fn read_stages(&mut self, event: &Event, told: &[Stage]) {
        for (stage, own) in Stage::ALL.iter().zip(&mut self.stages_s) {
            if told.contains(stage) {
                *own = seconds(event, stage.field());
            }
        }
    }

    fn read_sent(&mut self, event: &Event) {
        let counts = &mut self.counts;
        counts.handoffs = 1;
        (counts.requested, counts.included) =
            (number(event, "requested"), number(event, "included"));
        counts.partial = u64::from(counts.included < counts.requested);
        let (hop, limit) = (number(event, "hop").clamp(1, HOPS_MAX), number(event, "max_hops"));
        counts.at_limit = u64::from(limit > 0 && hop >= limit);
        self.hop = Some(hop);
        let (tokens, budget) = (number(event, "tokens"), number(event, "max_tokens"));
        self.utilisation = (budget > 0).then(|| (tokens as f64 / budget as f64).min(1.0));
    }
}

/// Whether a parked delivery ran out of attempts, or nobody took it.
pub(super) fn is_failure(event: &Event) -> bool {
    matches!(event.data.text("cause").as_deref(), Some("attempts_exhausted" | "nobody_took_it"))
}

fn number(event: &Event, name: &str) -> u64 {
    event.data.number(name).unwrap_or_default()
}

fn seconds(event: &Event, name: &str) -> Option<f64> {
    event.data.number(name).map(|ms| ms as f64 / 1000.0)
}
