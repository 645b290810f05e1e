//! Health and its figures, as they are shown.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_engine::health::{
    MINUTE_MS, Minute, QueueTotal, Reason, Report, Sketch, Stage, TargetReport, Thresholds,
    UTILISATION_CLASSES, Window,
};
use spine_protocol::limits::HOPS_DEFAULT;
use spine_protocol::{AgentName, Timestamp, WorkspaceName};
use spine_store::{QueueState, StoreStats, Tally, UnixMs};

use super::agent::BreakerDocument;

/// Whose series.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct HealthQuery {
    /// The series are of this target instead of all.
    pub target: Option<AgentName>,
}

/// The health of a workspace.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HealthDocument {
    /// At which moment.
    pub at: Option<Timestamp>,
    /// Of which workspace.
    pub workspace: WorkspaceName,
    /// Whose series these are; null for all.
    pub target: Option<AgentName>,
    /// From when on figures are known.
    pub since: Option<Timestamp>,
    /// `healthy`, `degraded` or `critical`.
    pub verdict: &'static str,
    /// Why, the worst first.
    pub reasons: Vec<ReasonDocument>,
    /// What figures are compared with.
    pub thresholds: ThresholdsDocument,
    /// Figures over `5m`, `1h` and `24h`.
    pub windows: BTreeMap<&'static str, WindowDocument>,
    /// What is in all queues.
    pub queue: QueueHealthDocument,
    /// Every target with a handoff in 24 hours or anything open, by name.
    pub targets: Vec<TargetDocument>,
    /// Targets beyond those.
    pub targets_left_off: usize,
    /// Charts of `1h` and `24h`.
    pub series: BTreeMap<&'static str, SeriesDocument>,
    /// What the server measures of its own work, for all workspaces together, since it began.
    pub server: ServerTimesDocument,
}

/// What the server measures of its own work.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ServerTimesDocument {
    /// Since when.
    pub since: Option<Timestamp>,
    /// Seconds of a commit, with its sync to disk; null where the store does not measure.
    pub commit_s: Option<TimesDocument>,
    /// Commands that were committed together; null where the store does not measure.
    pub batch_commands: Option<TimesDocument>,
    /// Commits that failed; null where the store does not measure.
    pub commits_failed: Option<u64>,
    /// Whether writes are taken; null where the store does not measure.
    pub accepts_writes: Option<bool>,
    /// Seconds of a search in the index.
    pub search_s: TimesDocument,
}

/// How large numbers were.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TimesDocument {
    /// How many.
    pub count: u64,
    /// The mean.
    pub mean: Option<f64>,
    /// What half of them are not above, to the next of some 15 steps.
    pub p50_upto: Option<f64>,
    /// What 95 % of them are not above, likewise.
    pub p95_upto: Option<f64>,
    /// What 99 % of them are not above, likewise.
    pub p99_upto: Option<f64>,
}

impl From<&Tally> for TimesDocument {
    fn from(tally: &Tally) -> Self {
        Self {
            count: tally.count(),
            mean: tally.mean(),
            p50_upto: tally.quantile_upto(0.5),
            p95_upto: tally.quantile_upto(0.95),
            p99_upto: tally.quantile_upto(0.99),
        }
    }
}

impl ServerTimesDocument {
    /// Of what the store and the index measured.
    pub fn of(since: UnixMs, store: Option<&StoreStats>, search_s: &Tally) -> Self {
        Self {
            since: since.to_timestamp(),
            commit_s: store.map(|store| (&store.commit_s).into()),
            batch_commands: store.map(|store| (&store.batch_commands).into()),
            commits_failed: store.map(|store| store.commits_failed),
            accepts_writes: store.map(|store| store.accepts_writes),
            search_s: search_s.into(),
        }
    }
}

/// Why the verdict is what it is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReasonDocument {
    /// `degraded` or `critical`.
    pub severity: &'static str,
    /// Which figure.
    pub figure: &'static str,
    /// Of which target.
    pub target: Option<AgentName>,
    /// Over which time.
    pub window: Option<&'static str>,
    /// What it is.
    pub value: Option<f64>,
    /// What it is compared with.
    pub threshold: Option<f64>,
    /// In words.
    pub text: String,
}

impl From<Reason> for ReasonDocument {
    fn from(reason: Reason) -> Self {
        Self {
            severity: reason.severity.as_str(),
            figure: reason.figure,
            target: reason.target,
            window: reason.window.map(Window::as_str),
            value: reason.value,
            threshold: reason.threshold,
            text: reason.text,
        }
    }
}

/// When somebody should look, and when somebody must.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Bounds {
    /// Somebody should look.
    pub investigate: Option<f64>,
    /// Somebody must look.
    pub alert: Option<f64>,
}

/// What figures are compared with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ThresholdsDocument {
    /// Below is worse.
    pub completeness: Bounds,
    /// Above is worse.
    pub failure_rate: Bounds,
    /// Above is worse; null where none is set.
    pub latency_accepted_p95_s: Bounds,
    /// The limit of a chain, unless it has its own.
    pub hop_depth: HopBound,
    /// Always low, always full.
    pub token_utilisation: UtilisationBounds,
}

/// The limit of a chain.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HopBound {
    /// Hops.
    pub limit: u32,
}

/// Always low, always full.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UtilisationBounds {
    /// Below is low.
    pub low: f64,
    /// From here on is full.
    pub full: f64,
}

impl From<&Thresholds> for ThresholdsDocument {
    fn from(t: &Thresholds) -> Self {
        let both = |investigate, alert| Bounds { investigate, alert };
        Self {
            completeness: both(Some(t.completeness_investigate), Some(t.completeness_alert)),
            failure_rate: both(Some(t.failure_rate_investigate), Some(t.failure_rate_alert)),
            latency_accepted_p95_s: both(
                t.latency_accepted_p95_s_investigate,
                t.latency_accepted_p95_s_alert,
            ),
            hop_depth: HopBound { limit: HOPS_DEFAULT },
            token_utilisation: UtilisationBounds {
                low: t.utilisation_low,
                full: t.utilisation_full,
            },
        }
    }
}

/// The figures of one window.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WindowDocument {
    /// Its begin.
    pub from: Option<Timestamp>,
    /// Its end.
    pub until: Option<Timestamp>,
    /// Seconds from handoff to the first acceptance.
    pub latency_accepted_s: Option<LatencyDocument>,
    /// Seconds from handoff to done.
    pub latency_done_s: Option<LatencyDocument>,
    /// Seconds of each stage: `assemble`, `queued`, `handover` (taken to accepted), `work`; null where none ended.
    pub stages_s: BTreeMap<&'static str, Option<LatencyDocument>>,
    /// Included over requested.
    pub completeness: CompletenessDocument,
    /// Ran out of attempts over ended.
    pub failure_rate: FailureDocument,
    /// Handoffs by hop.
    pub hop_depth: HopDocument,
    /// Tokens over budget.
    pub token_utilisation: UtilisationDocument,
    /// How many of each.
    pub counts: CountsDocument,
}

/// Quantiles, in seconds, each within 1 %.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs, reason = "quantiles have no other names")]
pub struct LatencyDocument {
    pub count: u64,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

fn latency(sketch: &Sketch) -> Option<LatencyDocument> {
    (sketch.count() > 0).then(|| LatencyDocument {
        count: sketch.count(),
        p50: sketch.quantile(0.5),
        p95: sketch.quantile(0.95),
        p99: sketch.quantile(0.99),
        max: sketch.max(),
    })
}

/// Included over requested.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletenessDocument {
    /// The share; null where nothing was requested.
    pub value: Option<f64>,
    /// References that were asked for.
    pub requested: u64,
    /// References that travelled.
    pub included: u64,
    /// Handoffs that lack something.
    pub handoffs_partial: u64,
}

/// Ran out of attempts over ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FailureDocument {
    /// The share; null where nothing ended.
    pub value: Option<f64>,
    /// Ran out of attempts.
    pub failed: u64,
    /// Those, and what was done or rejected.
    pub ended: u64,
}

/// Handoffs by hop.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HopDocument {
    /// The limit of a chain, unless it has its own.
    pub limit: u32,
    /// The deepest.
    pub max: Option<u64>,
    /// The mean.
    pub mean: Option<f64>,
    /// Handoffs at their limit.
    pub at_limit: u64,
    /// By hop, ascending.
    pub counts: Vec<HopCount>,
}

/// Handoffs of one hop.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HopCount {
    /// Which hop.
    pub hop: u64,
    /// How many.
    pub count: u64,
}

/// Tokens over budget.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UtilisationDocument {
    /// The mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// In ten classes.
    pub counts: Vec<UtilisationCount>,
}

/// Handoffs of one class of utilisation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UtilisationCount {
    /// Its upper end.
    pub upto: f64,
    /// How many.
    pub count: u64,
}

/// How many of each.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(missing_docs, reason = "each is the word of the delivery's own event")]
pub struct CountsDocument {
    pub handoffs: u64,
    pub accepted: u64,
    pub done: u64,
    pub retries: u64,
    pub redeliveries: u64,
    pub parked: u64,
    pub rejected: u64,
    pub cancelled: u64,
}

fn window_document(window: Window, minute: &Minute, at: UnixMs) -> WindowDocument {
    let counts = &minute.counts;
    WindowDocument {
        from: UnixMs(at.0 - window.minutes() * MINUTE_MS).to_timestamp(),
        until: at.to_timestamp(),
        latency_accepted_s: latency(&minute.accepted_s),
        latency_done_s: latency(&minute.done_s),
        stages_s: Stage::ALL
            .into_iter()
            .zip(&minute.stages_s)
            .map(|(stage, sketch)| (stage.as_str(), latency(sketch)))
            .collect(),
        completeness: CompletenessDocument {
            value: minute.completeness(),
            requested: counts.requested,
            included: counts.included,
            handoffs_partial: counts.partial,
        },
        failure_rate: FailureDocument {
            value: minute.failure_rate(),
            failed: counts.failed,
            ended: minute.ended(),
        },
        hop_depth: hops(minute),
        token_utilisation: utilisation(minute),
        counts: CountsDocument {
            handoffs: counts.handoffs,
            accepted: counts.accepted,
            done: counts.done,
            retries: counts.retries,
            redeliveries: counts.redeliveries,
            parked: counts.parked,
            rejected: counts.rejected,
            cancelled: counts.cancelled,
        },
    }
}

fn hops(minute: &Minute) -> HopDocument {
    let count = |(hop, count): (&u64, &u64)| HopCount { hop: *hop, count: *count };
    HopDocument {
        limit: HOPS_DEFAULT,
        max: minute.hops.keys().next_back().copied(),
        mean: minute.hop_mean(),
        at_limit: minute.counts.at_limit,
        counts: minute.hops.iter().map(count).collect(),
    }
}

fn utilisation(minute: &Minute) -> UtilisationDocument {
    let classes = minute.utilisation_classes.iter().enumerate();
    let count = |(class, count): (usize, &u64)| {
        let upto = (class + 1) as f64 / UTILISATION_CLASSES as f64;
        UtilisationCount { upto, count: *count }
    };
    UtilisationDocument {
        mean: minute.utilisation_mean(),
        p50: minute.utilisation.quantile(0.5),
        p95: minute.utilisation.quantile(0.95),
        counts: classes.map(count).collect(),
    }
}

/// What is in a queue, or in all.
#[derive(Debug, Serialize, JsonSchema)]
pub struct QueueHealthDocument {
    /// Deliveries that wait.
    pub pending: u64,
    /// Deliveries taken, not yet accepted.
    pub leased: u64,
    /// Deliveries worked on.
    pub accepted: u64,
    /// Deliveries that wait for a person.
    pub parked: u64,
    /// Since when the oldest one waits.
    pub oldest_pending_at: Option<Timestamp>,
    /// How long that is, in seconds.
    pub oldest_pending_s: Option<f64>,
}

impl QueueHealthDocument {
    fn of(total: QueueTotal, now: UnixMs) -> Self {
        let age_s = |at: UnixMs| (now.0 - at.0).max(0) as f64 / 1000.0;
        Self {
            pending: total.pending,
            leased: total.leased,
            accepted: total.accepted,
            parked: total.parked,
            oldest_pending_at: total.oldest_pending.and_then(UnixMs::to_timestamp),
            oldest_pending_s: total.oldest_pending.map(age_s),
        }
    }
}

fn total(queue: &QueueState) -> QueueTotal {
    QueueTotal {
        pending: queue.pending,
        leased: queue.leased,
        accepted: queue.accepted,
        parked: queue.parked,
        oldest_pending: queue.oldest_pending,
    }
}

/// One target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TargetDocument {
    /// Who.
    pub agent: AgentName,
    /// Its figures over `5m`, `1h` and `24h`.
    pub windows: BTreeMap<&'static str, WindowDocument>,
    /// What waits for it.
    pub queue: QueueHealthDocument,
    /// Whether it is given no work.
    pub paused: bool,
    /// Its breaker.
    pub breaker: BreakerDocument,
}

/// One chart, as columns of equal length.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[allow(missing_docs, reason = "each is a figure of the windows, by step")]
pub struct SeriesDocument {
    pub from: Option<Timestamp>,
    pub step_s: i64,
    pub handoffs: Vec<u64>,
    pub accepted: Vec<u64>,
    pub done: Vec<u64>,
    pub failed: Vec<u64>,
    pub parked: Vec<u64>,
    pub retries: Vec<u64>,
    pub completeness: Vec<Option<f64>>,
    pub failure_rate: Vec<Option<f64>>,
    pub latency_accepted_p50_s: Vec<Option<f64>>,
    pub latency_accepted_p95_s: Vec<Option<f64>>,
    pub latency_accepted_p99_s: Vec<Option<f64>>,
    pub latency_done_p50_s: Vec<Option<f64>>,
    pub latency_done_p95_s: Vec<Option<f64>>,
    pub hop_depth_mean: Vec<Option<f64>>,
    pub hop_depth_max: Vec<Option<u64>>,
    pub token_utilisation_p50: Vec<Option<f64>>,
    /// Null where nobody looked in that step.
    pub queue_depth: Vec<Option<u64>>,
}

impl SeriesDocument {
    fn of(report: &Report, step_minutes: i64, points: i64) -> Self {
        let running = report.at.0.div_euclid(MINUTE_MS).div_euclid(step_minutes);
        let first = (running + 1 - points) * step_minutes;
        let from = UnixMs(first * MINUTE_MS).to_timestamp();
        let mut series = Self { from, step_s: step_minutes * 60, ..Self::default() };
        for point in 0..points {
            let begin = first + point * step_minutes;
            series.add(&report.minutes.between(begin, begin + step_minutes));
            let depth = report.depths.range(begin..begin + step_minutes).next_back();
            series.queue_depth.push(depth.map(|(_, depth)| *depth));
        }
        series
    }

    fn add(&mut self, minute: &Minute) {
        let counts = &minute.counts;
        self.handoffs.push(counts.handoffs);
        self.accepted.push(counts.accepted);
        self.done.push(counts.done);
        self.failed.push(counts.failed);
        self.parked.push(counts.parked);
        self.retries.push(counts.retries);
        self.completeness.push(minute.completeness());
        self.failure_rate.push(minute.failure_rate());
        self.latency_accepted_p50_s.push(minute.accepted_s.quantile(0.5));
        self.latency_accepted_p95_s.push(minute.accepted_s.quantile(0.95));
        self.latency_accepted_p99_s.push(minute.accepted_s.quantile(0.99));
        self.latency_done_p50_s.push(minute.done_s.quantile(0.5));
        self.latency_done_p95_s.push(minute.done_s.quantile(0.95));
        self.hop_depth_mean.push(minute.hop_mean());
        self.hop_depth_max.push(minute.hops.keys().next_back().copied());
        self.token_utilisation_p50.push(minute.utilisation.quantile(0.5));
    }
}

fn windows(windows: &[(Window, Minute)], at: UnixMs) -> BTreeMap<&'static str, WindowDocument> {
    let named = |(window, minute): &(Window, Minute)| {
        (window.as_str(), window_document(*window, minute, at))
    };
    windows.iter().map(named).collect()
}

fn target_document(target: TargetReport, at: UnixMs) -> TargetDocument {
    TargetDocument {
        windows: windows(&target.windows, at),
        queue: QueueHealthDocument::of(total(&target.queue), at),
        agent: target.agent,
        paused: target.paused,
        breaker: target.breaker.into(),
    }
}

impl HealthDocument {
    /// Of a report.
    pub fn of(
        report: Report,
        workspace: WorkspaceName,
        target: Option<AgentName>,
        thresholds: &Thresholds,
        server: ServerTimesDocument,
    ) -> Self {
        let at = report.at;
        let series = [
            ("1h", SeriesDocument::of(&report, 1, 60)),
            ("24h", SeriesDocument::of(&report, 15, 96)),
        ];
        let one = |target| target_document(target, at);
        Self {
            at: at.to_timestamp(),
            workspace,
            target,
            since: report.since.and_then(UnixMs::to_timestamp),
            verdict: report.verdict.as_str(),
            reasons: report.reasons.into_iter().map(Into::into).collect(),
            thresholds: thresholds.into(),
            windows: windows(&report.windows, at),
            queue: QueueHealthDocument::of(report.queue, at),
            targets: report.targets.into_iter().map(one).collect(),
            targets_left_off: report.targets_left_off,
            series: series.into_iter().collect(),
            server,
        }
    }
}
