//! The figures as Prometheus reads them. No ids are labels, and no workspaces: they are summed, so that the number of
//! series does not grow with the number of tenants.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use spine_engine::delivery::DeliveryError;
use spine_engine::health::{Histogram, LATENCY_BUCKETS_S, Totals};
use spine_store::{Collection, QueueState, UnixMs};

use crate::App;
use crate::limits::PAGE_ROWS_MAX;

/// What is in the queues and breakers of all workspaces.
#[derive(Default)]
struct Standing {
    totals: Totals,
    pending: u64,
    leased: u64,
    accepted: u64,
    parked: u64,
    oldest_pending: Option<UnixMs>,
    breakers_open: u64,
}

impl Standing {
    fn add(&mut self, queue: &QueueState) {
        self.pending += queue.pending;
        self.leased += queue.leased;
        self.accepted += queue.accepted;
        self.parked += queue.parked;
        self.oldest_pending = self.oldest_pending.into_iter().chain(queue.oldest_pending).min();
    }
}

/// Everything, in the text form.
pub async fn text(app: &App) -> Result<String, DeliveryError> {
    let standing = standing(app).await?;
    let mut text = Text::default();
    handoffs(&mut text, &standing.totals);
    queues(&mut text, &standing, app.store.now());
    server(&mut text, app);
    Ok(text.0)
}

async fn standing(app: &App) -> Result<Standing, DeliveryError> {
    let (mut standing, mut after) = (Standing::default(), None);
    loop {
        let page = app.store.workspaces(after, PAGE_ROWS_MAX).await?;
        for state in page.items {
            let name = &state.name;
            standing.totals.merge(&app.health.totals(name).await);
            app.store.queues(name).await?.iter().for_each(|queue| standing.add(queue));
            let breakers = app.store.list_records(
                name,
                Collection::Breaker,
                String::new(),
                None,
                PAGE_ROWS_MAX,
            );
            let is_open = |value: &[u8]| {
                let read =
                    serde_json::from_slice::<spine_engine::delivery::breaker::Breaker>(value);
                read.is_ok_and(|b| b.state != spine_engine::delivery::breaker::BreakerState::Closed)
            };
            let open = breakers.await?.items.iter().filter(|record| is_open(&record.value)).count();
            standing.breakers_open += open as u64;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(standing),
        }
    }
}

fn handoffs(text: &mut Text, totals: &Totals) {
    let name = "memory_spine_handoff_latency_seconds";
    text.head(name, "histogram", "Time from handoff to a stage.");
    text.histogram(name, "accepted", &totals.accepted);
    text.histogram(name, "done", &totals.done);
    let counts = &totals.counts;
    let counters = [
        ("handoffs", "Handoffs sent.", counts.handoffs),
        ("accepted", "Handoffs accepted for the first time.", counts.accepted),
        ("done", "Handoffs done.", counts.done),
        ("failed", "Handoffs that ran out of attempts.", counts.failed),
        ("parked", "Handoffs parked for a person.", counts.parked),
        ("rejected", "Handoffs rejected.", counts.rejected),
        ("cancelled", "Handoffs cancelled.", counts.cancelled),
        ("retries", "Attempts given back or not taken.", counts.retries),
        ("redeliveries", "Leases that ran out.", counts.redeliveries),
        ("references_requested", "References that handoffs asked for.", counts.requested),
        ("references_included", "References that travelled.", counts.included),
        ("hop_limit_handoffs", "Handoffs sent at their hop limit.", counts.at_limit),
    ];
    for (name, help, value) in counters {
        text.one(&format!("memory_spine_{name}_total"), "counter", help, value as f64);
    }
}

fn queues(text: &mut Text, standing: &Standing, now: UnixMs) {
    let name = "memory_spine_queue_deliveries";
    text.head(name, "gauge", "Deliveries in queues, by state.");
    let states = [
        ("pending", standing.pending),
        ("leased", standing.leased),
        ("accepted", standing.accepted),
        ("parked", standing.parked),
    ];
    for (state, count) in states {
        text.line(name, &format!("{{state=\"{state}\"}}"), count as f64);
    }
    let age_s = standing.oldest_pending.map_or(0.0, |at| (now.0 - at.0).max(0) as f64 / 1000.0);
    let name = "memory_spine_queue_oldest_pending_seconds";
    text.one(name, "gauge", "Age of the oldest delivery that waits.", age_s);
    let name = "memory_spine_breakers_open";
    text.one(name, "gauge", "Breakers that are not closed.", standing.breakers_open as f64);
}

fn server(text: &mut Text, app: &App) {
    let panics = app.panics.load(Ordering::Relaxed) as f64;
    text.one("memory_spine_panics_total", "counter", "Handlers that panicked.", panics);
    let used = |max: usize, left: usize| max.saturating_sub(left) as f64;
    let requests = used(app.settings.requests_max, app.requests.available_permits());
    let streams = used(app.settings.streams_max, app.streams.available_permits());
    text.one("memory_spine_http_requests_open", "gauge", "Requests at work.", requests);
    text.one("memory_spine_http_streams_open", "gauge", "Streams and long polls.", streams);
    let name = "memory_spine_build_info";
    text.head(name, "gauge", "The version that runs.");
    text.line(name, concat!("{version=\"", env!("CARGO_PKG_VERSION"), "\"}"), 1.0);
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &str, value: f64) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: f64) {
        self.head(name, kind, help);
        self.line(name, "", value);
    }

    fn histogram(&mut self, name: &str, stage: &str, histogram: &Histogram) {
        let mut upto = 0;
        for (bound, count) in LATENCY_BUCKETS_S.iter().zip(histogram.buckets) {
            upto += count;
            let labels = format!("{{stage=\"{stage}\",le=\"{bound}\"}}");
            self.line(&format!("{name}_bucket"), &labels, upto as f64);
        }
        let (all, stage) =
            (format!("{{stage=\"{stage}\",le=\"+Inf\"}}"), format!("{{stage=\"{stage}\"}}"));
        self.line(&format!("{name}_bucket"), &all, histogram.count as f64);
        self.line(&format!("{name}_sum"), &stage, histogram.sum_s);
        self.line(&format!("{name}_count"), &stage, histogram.count as f64);
    }
}
