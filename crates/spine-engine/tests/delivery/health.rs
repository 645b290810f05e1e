//! Numbers that are right: a scripted hour with known latencies, failures and completeness. What is expected is
//! computed here, from the script, never by the code that is tested.

use std::sync::Arc;
use std::time::Duration;

use spine_engine::Entropy;
use spine_engine::delivery::Ack;
use spine_engine::health::{Alert, AlertKind, Health, Minute, Report, Thresholds, Verdict, Window};
use spine_protocol::AlertId;
use spine_store::UnixMs;
use spine_store::testing::block_on;

use crate::house::{House, direct, house, house_on, name};

impl House {
    fn health(&self) -> Health {
        let entropy = Arc::new(Entropy::from_seed([9; 32]));
        Health::new(self.store.clone(), self.deliveries.clone(), entropy, Thresholds::default())
    }

    fn now(&self) -> UnixMs {
        use spine_store::Clock;
        self.clock.now()
    }
}

fn report(house: &House, health: &Health) -> Report {
    block_on(health.report(&house.caller, None)).unwrap().0
}

fn alerts(house: &House, health: &Health) -> Vec<Alert> {
    block_on(health.look(&house.caller.workspace)).unwrap();
    block_on(health.alerts(&house.caller)).unwrap()
}

fn window(report: &Report, window: Window) -> &Minute {
    &report.windows.iter().find(|(name, _)| *name == window).unwrap().1
}

/// The exact quantile of the script's own numbers, by rank.
fn exact(numbers: &[f64], share: f64) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[(sorted.len() as f64 * share).ceil() as usize - 1]
}

fn close(found: Option<f64>, exact: f64) {
    let found = found.unwrap();
    assert!((found / exact - 1.0).abs() < 0.01, "{found} for {exact}");
}

#[test]
fn an_hour_of_known_latencies_gives_the_known_figures() {
    let (house, mut accepted_s, mut done_s) = (house(), Vec::new(), Vec::new());
    let mut used = Vec::new();
    let health = house.health();
    for minute in 0..60_i64 {
        let started = house.now();
        let (to_accept_ms, to_finish_ms) = (100 + minute * 37, 500 + (minute * 7919) % 4000);
        house.send("coder");
        house.clock.advance_ms(to_accept_ms);
        let taken = house.take("coder");
        let assembly = house.read(&taken).assembly.clone();
        used.push(f64::from(assembly.tokens) / f64::from(assembly.max_tokens));
        house.clock.advance_ms(to_finish_ms);
        house.complete(&taken, Ack::default()).unwrap();
        accepted_s.push(to_accept_ms as f64 / 1000.0);
        done_s.push((to_accept_ms + to_finish_ms) as f64 / 1000.0);
        if minute < 59 {
            let spent = house.now().0 - started.0;
            house.clock.advance_ms(60_000 - spent);
        }
    }
    let report = report(&house, &health);
    let hour = window(&report, Window::Hour);
    assert_eq!((hour.counts.handoffs, hour.counts.accepted, hour.counts.done), (60, 60, 60));
    assert_eq!((hour.counts.failed, hour.counts.parked, hour.counts.retries), (0, 0, 0));
    for share in [0.5, 0.95, 0.99] {
        close(hour.accepted_s.quantile(share), exact(&accepted_s, share));
        close(hour.done_s.quantile(share), exact(&done_s, share));
    }
    assert_eq!(hour.accepted_s.max(), Some(exact(&accepted_s, 1.0)));
    let work_s: Vec<f64> = done_s.iter().zip(&accepted_s).map(|(done, took)| done - took).collect();
    let [assemble, queued, handover, work] = &hour.stages_s;
    assert_eq!([assemble, queued, handover, work].map(|stage| stage.count()), [60; 4]);
    // The clock stands still while an envelope is packed, and whoever takes it accepts it in the same step.
    assert_eq!((assemble.max(), handover.max()), (Some(0.0), Some(0.0)));
    close(queued.quantile(0.95), exact(&accepted_s, 0.95));
    close(work.quantile(0.95), exact(&work_s, 0.95));
    let target = report.targets.iter().find(|target| target.agent == name("coder")).unwrap();
    assert_eq!(target.windows, report.windows);
    check_totals(&health, &house, &accepted_s);
    assert_eq!(hour.hops.iter().collect::<Vec<_>>(), [(&1, &60)]);
    let last = window(&report, Window::FiveMinutes);
    assert_eq!(last.counts.handoffs, 5);
    close(last.accepted_s.quantile(0.5), exact(&accepted_s[55..], 0.5));
    let mean = used.iter().sum::<f64>() / used.len() as f64;
    assert!((hour.utilisation_mean().unwrap() - mean).abs() < 1e-9, "{mean}");
    // So short a task fills little of its budget, and that is all there is to say.
    assert!(mean < 0.1);
    let figures: Vec<_> = report.reasons.iter().map(|reason| reason.figure).collect();
    assert_eq!((report.verdict, figures), (Verdict::Degraded, vec!["token_utilisation"]));
    assert_eq!(alerts(&house, &health), []);
    // Another process reads the same from the log alone.
    let again = house_on(house.store.clone(), house.clock.clone());
    let again = block_on(again.health().report(&house.caller, None)).unwrap().0;
    assert_eq!(again.windows, report.windows);
    assert_eq!(again.since, report.since);
}

/// Everything since the process began, also what happened before anybody looked; another process begins with nothing.
fn check_totals(health: &Health, house: &House, accepted_s: &[f64]) {
    let totals = block_on(health.totals(&house.caller.workspace));
    assert_eq!(
        (totals.counts.handoffs, totals.accepted.count(), totals.hops.count()),
        (60, 60, 60)
    );
    assert!((totals.accepted.sum() - accepted_s.iter().sum::<f64>()).abs() < 1e-6);
    let upto = |bound: f64| accepted_s.iter().filter(|seconds| **seconds <= bound).count() as u64;
    let mut seen = 0;
    for (bound, count) in totals.accepted.buckets() {
        seen += count;
        assert_eq!(seen, upto(bound), "up to {bound}");
    }
    assert_eq!(totals.stages.each_ref().map(|stage| stage.count()), [60; 4]);
    house.clock.advance_ms(1);
    let later = house.health();
    report(house, &later);
    assert_eq!(block_on(later.totals(&house.caller.workspace)).counts.handoffs, 0);
    house.clock.advance_ms(-1);
}

#[test]
fn failures_in_a_row_and_a_breaker_open_and_resolve_at_their_moments() {
    let house = house();
    let health = house.health();
    let sent = house.now();
    // Nobody takes three direct handoffs: three waits of 15 s each, and all are given up at second 45.
    let failed = house.open_breaker("coder");
    let given_up = UnixMs(sent.0 + 45_000);
    let found = alerts(&house, &health);
    let shown: Vec<_> =
        found.iter().map(|a| (a.kind, a.count, a.opened_at, a.resolved_at)).collect();
    assert_eq!(shown.len(), 3, "{shown:?}");
    for (kind, count) in
        [(AlertKind::HandoffFailed, 3), (AlertKind::FailuresInARow, 3), (AlertKind::BreakerOpen, 1)]
    {
        assert!(shown.contains(&(kind, count, given_up, None)), "{kind:?} in {shown:?}");
    }
    let open = block_on(health.open_alerts(&house.caller.workspace));
    let each_once = [AlertKind::HandoffFailed, AlertKind::FailuresInARow, AlertKind::BreakerOpen];
    assert_eq!(open, each_once.map(|kind| (kind, 1)).into());
    let named = &found.iter().find(|a| a.kind == AlertKind::HandoffFailed).unwrap().deliveries;
    assert_eq!(named.len(), 3);
    assert!(failed.iter().all(|id| named.contains(&id.to_string())));
    let critical = report(&house, &health);
    assert_eq!(critical.verdict, Verdict::Critical);
    let figures: Vec<_> = critical.reasons.iter().map(|reason| reason.figure).collect();
    assert_eq!(figures, ["breaker", "failure_rate"]);
    assert_eq!(window(&critical, Window::Hour).failure_rate(), Some(1.0));
    assert_eq!(window(&critical, Window::Hour).counts.retries, 9);
    // The probe a minute later is accepted: the breaker closes, and the row of failures ends.
    house.pass(70);
    house.send("coder");
    let taken = house.take("coder");
    let accepted = house.now();
    house.complete(&taken, Ack::default()).unwrap();
    house.pass(400);
    let resolved = |kind| {
        let all = alerts(&house, &health);
        all.into_iter().find(|alert| alert.kind == kind).unwrap().resolved_at
    };
    assert_eq!(resolved(AlertKind::FailuresInARow), Some(accepted));
    assert_eq!(resolved(AlertKind::BreakerOpen), Some(accepted));
    assert_eq!(resolved(AlertKind::HandoffFailed), Some(UnixMs(given_up.0 + 300_000)));
    assert!(block_on(health.open_alerts(&house.caller.workspace)).is_empty());
    assert_eq!(house.kinds("alert.opened").len(), 3);
    assert_eq!(house.kinds("alert.resolved").len(), 3);
}

#[test]
fn low_completeness_opens_once_on_two_engines_and_resolves_with_the_window() {
    let house = house();
    let other = house_on(house.store.clone(), house.clock.clone());
    let (here, there) = (house.health(), other.health());
    let note = house.note("The only one there is.");
    // Three references in all, one of them there: a third.
    let mut asked = crate::house::handoff("coder", "See what was noted.");
    asked.memory_refs = vec![note, "ms-900".parse().unwrap(), "ms-901".parse().unwrap()];
    block_on(house.deliveries.hand_off(&house.caller, asked, direct())).unwrap();
    let sent = house.now();
    let told: Vec<_> = [&here, &there, &here]
        .iter()
        .map(|health| block_on(health.look(&house.caller.workspace)).unwrap().len())
        .collect();
    assert_eq!(told, [1, 0, 0]);
    let report = report(&house, &here);
    let minute = window(&report, Window::FiveMinutes);
    assert_eq!((minute.counts.requested, minute.counts.included, minute.counts.partial), (3, 1, 1));
    assert_eq!(report.verdict, Verdict::Critical);
    let open = &alerts(&house, &here)[0];
    assert_eq!(
        (open.kind, open.opened_at, open.resolved_at),
        (AlertKind::CompletenessLow, sent, None)
    );
    // Taken, so that nothing fails meanwhile.
    let taken = house.take("coder");
    house.complete(&taken, Ack::default()).unwrap();
    house.clock.advance_ms(5 * 60_000);
    let resolved = &alerts(&house, &there)[0];
    assert_eq!(resolved.resolved_at, Some(house.now()));
    assert_eq!(house.kinds("alert."), ["alert.opened", "alert.resolved"]);
}

#[test]
fn an_alert_is_acknowledged_once_and_silenced_with_the_next_of_its_kind() {
    let house = house();
    let health = house.health();
    house.open_breaker("coder");
    let breaker = |all: Vec<Alert>| all.into_iter().find(|a| a.kind == AlertKind::BreakerOpen);
    let open = breaker(alerts(&house, &health)).unwrap();
    let ack = |by: &str| {
        let by = Some(by.to_owned());
        block_on(health.acknowledge(&house.caller, open.id, by, None)).unwrap().acknowledged
    };
    assert_eq!(ack("night shift"), ack("somebody else"));
    let hour = Duration::from_secs(3600);
    let silenced = block_on(health.silence(&house.caller, open.id, hour, None, None)).unwrap();
    assert_eq!(silenced.silenced.unwrap().until, house.now().after(hour));
    let told = || block_on(health.open_alerts(&house.caller.workspace)).remove(&open.kind);
    assert_eq!(told(), None, "a silence holds at once");
    let order = |order| {
        block_on(house.deliveries.order_breaker(&house.caller, &name("coder"), order)).unwrap()
    };
    order(spine_engine::delivery::BreakerOrder::Reset);
    order(spine_engine::delivery::BreakerOrder::ForceOpen);
    // It resolves and opens anew in the list, and nobody is told.
    assert_eq!(block_on(health.look(&house.caller.workspace)).unwrap(), []);
    let again = breaker(alerts(&house, &health)).unwrap();
    assert_ne!(again.id, open.id);
    assert!(again.silenced.is_some());
    block_on(health.silence(&house.caller, again.id, Duration::ZERO, None, None)).unwrap();
    assert_eq!(told(), Some(1));
    let unknown = AlertId::from_parts(1, 1);
    assert!(block_on(health.acknowledge(&house.caller, unknown, None, None)).is_err());
}
