//! The figures for those who gather them from many machines. No ids are labels, and no workspaces: they are summed, so
//! that the number of series does not grow with the number of tenants. Agents are told apart only where that was set, and then so many.

mod family;
mod standing;
mod targets;
mod text;

use std::sync::atomic::Ordering;

use spine_engine::delivery::DeliveryError;
use spine_engine::health::{AlertKind, Stage, Totals};
use spine_store::{StoreStats, UnixMs};

use crate::App;
pub use family::{Family, Kind, Point, Value};
use standing::Standing;
pub use targets::Named;

/// Everything, in the text form of Prometheus.
pub async fn text(app: &App) -> Result<String, DeliveryError> {
    Ok(text::text_of(&families(app).await?))
}

/// Everything.
pub async fn families(app: &App) -> Result<Vec<Family>, DeliveryError> {
    let standing = Standing::of(app).await?;
    let mut families = latencies(&standing.totals);
    families.extend(counters(&standing.totals));
    families.extend(queues(&standing, app.store.now()));
    families.extend(targets::families(&standing, &app.named, app.settings.metrics_targets_max));
    families.extend(app.store.stats().iter().flat_map(store));
    families.push(search(app));
    families.extend(server(app));
    Ok(families)
}

fn latencies(totals: &Totals) -> Vec<Family> {
    let stages = Stage::ALL.map(Stage::as_str).into_iter().zip(&totals.stages);
    vec![
        Family::histograms(
            "memory_spine_handoff_latency_seconds",
            "Time from handoff to a stage.",
            "stage",
            [("accepted", &totals.accepted), ("done", &totals.done)],
        ),
        Family::histograms(
            "memory_spine_handoff_stage_seconds",
            "Time that each stage of a handoff took.",
            "stage",
            stages,
        ),
        Family::histogram(
            "memory_spine_handoff_hops",
            "Hops of the handoffs that were sent.",
            &totals.hops,
        ),
        Family::histogram(
            "memory_spine_token_utilisation_ratio",
            "Tokens over budget of the handoffs that were sent.",
            &totals.utilisation,
        ),
    ]
}

fn counters(totals: &Totals) -> impl Iterator<Item = Family> {
    let counts = &totals.counts;
    let counters = [
        ("memory_spine_handoffs_total", "Handoffs sent.", counts.handoffs),
        ("memory_spine_accepted_total", "Handoffs accepted for the first time.", counts.accepted),
        ("memory_spine_done_total", "Handoffs done.", counts.done),
        ("memory_spine_failed_total", "Handoffs that ran out of attempts.", counts.failed),
        ("memory_spine_parked_total", "Handoffs parked for a person.", counts.parked),
        ("memory_spine_rejected_total", "Handoffs rejected.", counts.rejected),
        ("memory_spine_cancelled_total", "Handoffs cancelled.", counts.cancelled),
        ("memory_spine_retries_total", "Attempts given back or not taken.", counts.retries),
        ("memory_spine_redeliveries_total", "Leases that ran out.", counts.redeliveries),
        (
            "memory_spine_references_requested_total",
            "References that handoffs asked for.",
            counts.requested,
        ),
        ("memory_spine_references_included_total", "References that travelled.", counts.included),
        ("memory_spine_partial_handoffs_total", "Handoffs that lack something.", counts.partial),
        (
            "memory_spine_hop_limit_handoffs_total",
            "Handoffs sent at their hop limit.",
            counts.at_limit,
        ),
    ];
    counters.into_iter().map(|(name, help, value)| Family::counter(name, help, value as f64))
}

fn queues(standing: &Standing, now: UnixMs) -> [Family; 4] {
    let states = [
        ("pending", standing.pending as f64),
        ("leased", standing.leased as f64),
        ("accepted", standing.accepted as f64),
        ("parked", standing.parked as f64),
    ];
    let age_s = standing.oldest_pending.map_or(0.0, |at| (now.0 - at.0).max(0) as f64 / 1000.0);
    let alerts = AlertKind::ALL.iter().zip(standing.alerts_open);
    [
        Family::gauges(
            "memory_spine_queue_deliveries",
            "Deliveries in queues, by state.",
            "state",
            states,
        ),
        Family::gauge(
            "memory_spine_queue_oldest_pending_seconds",
            "Age of the oldest delivery that waits.",
            age_s,
        ),
        Family::gauge(
            "memory_spine_breakers_open",
            "Breakers that are not closed.",
            standing.breakers_open as f64,
        ),
        Family::gauges(
            "memory_spine_alerts_open",
            "Alerts that are open and not silenced, by kind.",
            "kind",
            alerts.map(|(kind, count)| (kind.as_str(), count as f64)),
        ),
    ]
}

fn store(stats: &StoreStats) -> [Family; 4] {
    [
        Family::histogram(
            "memory_spine_store_commit_seconds",
            "Time of a commit, with its sync to disk.",
            &stats.commit_s,
        ),
        Family::histogram(
            "memory_spine_store_batch_commands",
            "Commands that were committed together.",
            &stats.batch_commands,
        ),
        Family::counter(
            "memory_spine_store_commits_failed_total",
            "Commits that failed.",
            stats.commits_failed as f64,
        ),
        Family::gauge(
            "memory_spine_store_writable",
            "1 while writes are taken, 0 after an I/O error.",
            f64::from(u8::from(stats.accepts_writes)),
        ),
    ]
}

fn search(app: &App) -> Family {
    let (name, help) = ("memory_spine_search_seconds", "Time of a search in the index.");
    Family::histogram(name, help, &app.searches.taken_s())
}

fn server(app: &App) -> [Family; 5] {
    let panics = app.panics.load(Ordering::Relaxed) as f64;
    let used = |max: usize, left: usize| max.saturating_sub(left) as f64;
    let requests = used(app.settings.requests_max, app.requests.available_permits());
    let streams = used(app.settings.streams_max, app.streams.available_permits());
    let began_s = app.health.began().0 as f64 / 1000.0;
    [
        Family::counter("memory_spine_panics_total", "Handlers that panicked.", panics),
        Family::gauge("memory_spine_http_requests_open", "Requests at work.", requests),
        Family::gauge("memory_spine_http_streams_open", "Streams and long polls.", streams),
        Family::gauge(
            "memory_spine_start_time_seconds",
            "When the process began to count, since 1970.",
            began_s,
        ),
        Family::gauges(
            "memory_spine_build_info",
            "The version that runs.",
            "version",
            [(env!("CARGO_PKG_VERSION"), 1.0)],
        ),
    ]
}
