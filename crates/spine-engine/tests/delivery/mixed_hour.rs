//! An hour in which everything happens that is counted: every figure of a report beside the script's own arithmetic, for all, for
//! each target, and as Prometheus gets it.

use std::collections::BTreeMap;
use std::sync::Arc;

use spine_engine::Entropy;
use spine_engine::delivery::{Ack, BreakerOrder, Delivery, ReceiveRequest, Received, SendOptions};
use spine_engine::health::{
    Counts, Health, Minute, Report, Sketch, Thresholds, UTILISATION_CLASSES, Verdict, Window,
};
use spine_protocol::MemoryId;
use spine_store::testing::block_on;

use crate::house::{House, handoff, house, name, next};

const MINUTES: u64 = 60;
const TARGETS: [&str; 2] = ["coder", "tester"];

/// What becomes of the handoff of a minute.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Done,
    DoneAndHandedOn,
    NackedThenDone,
    LeaseRanOutThenDone,
    Rejected,
    Cancelled,
    GivenUp,
    Left,
}

const FATES: [Fate; 8] = [
    Fate::Done,
    Fate::NackedThenDone,
    Fate::Rejected,
    Fate::DoneAndHandedOn,
    Fate::LeaseRanOutThenDone,
    Fate::Cancelled,
    Fate::GivenUp,
    Fate::Left,
];

/// What the script knows of one target, or of all: plain lists, counted at the end.
#[derive(Default, Clone)]
struct Known {
    counts: Counts,
    accepted_s: Vec<f64>,
    done_s: Vec<f64>,
    queued_s: Vec<f64>,
    handover_s: Vec<f64>,
    work_s: Vec<f64>,
    used: Vec<f64>,
    hops: BTreeMap<u64, u64>,
    envelopes: u64,
}

/// The script, and what it has done so far.
struct Script {
    house: House,
    note: MemoryId,
    known: BTreeMap<&'static str, Known>,
}

impl Script {
    fn know(&mut self, target: &'static str, change: impl Fn(&mut Known)) {
        for name in [target, "all"] {
            change(self.known.entry(name).or_default());
        }
    }

    fn pass(&self, ms: u64) {
        self.house.clock.advance_ms(ms as i64);
        self.house.due();
    }

    /// Sends what asks for two references of which one is there, in every third minute.
    fn send(&mut self, target: &'static str, minute: u64) -> Delivery {
        let mut request = handoff(target, "Do the work.");
        if minute.is_multiple_of(3) {
            request.memory_refs = vec![self.note, "ms-900".parse().unwrap()];
        }
        let (house, options) = (&self.house, SendOptions::default());
        let sent = block_on(house.deliveries.hand_off(&house.caller, request, options)).unwrap();
        self.count_sent(target, &sent.1, if minute.is_multiple_of(3) { (2, 1) } else { (0, 0) });
        sent.1
    }

    fn count_sent(&mut self, target: &'static str, sent: &Delivery, (asked, got): (u64, u64)) {
        let (house, caller) = (&self.house, &self.house.caller);
        let stored = block_on(house.deliveries.envelope(caller, sent)).unwrap();
        let used = f64::from(stored.assembly.tokens) / f64::from(stored.assembly.max_tokens);
        let hop = u64::from(stored.hop);
        self.know(target, |known| {
            known.counts.handoffs += 1;
            known.counts.requested += asked;
            known.counts.included += got;
            known.counts.partial += u64::from(got < asked);
            known.used.push(used);
            *known.hops.entry(hop).or_default() += 1;
            known.envelopes += 1;
        });
    }

    fn receive(&self, target: &str) -> Received {
        let request = ReceiveRequest { lease_ms: Some(1_000), ..ReceiveRequest::new(name(target)) };
        let house = &self.house;
        block_on(house.deliveries.receive(&house.caller, request)).unwrap().pop().unwrap()
    }

    /// Takes it after some time, accepts it after some more, and finishes.
    fn finish(&mut self, target: &'static str, before_ms: u64, minute: u64, ack: Ack) -> Delivery {
        let (queued, handover, work) = (100 + minute * 37, minute * 11, 500 + minute * 7_919 % 900);
        self.pass(queued);
        let received = self.receive(target);
        self.pass(handover);
        let (id, fence) = (received.delivery.row.id, received.fence.clone());
        let house = &self.house;
        block_on(house.deliveries.accept(&house.caller, id, fence.clone())).unwrap();
        let lease = Some(60_000);
        block_on(house.deliveries.extend(&house.caller, id, fence, lease)).unwrap();
        self.pass(work);
        let done = self.house.complete(&received, ack).unwrap();
        let seconds = |ms: u64| ms as f64 / 1000.0;
        let waited = before_ms + queued;
        self.know(target, |known| {
            known.counts.accepted += 1;
            known.counts.done += 1;
            known.queued_s.push(seconds(waited));
            known.handover_s.push(seconds(handover));
            known.work_s.push(seconds(work));
            known.accepted_s.push(seconds(waited + handover));
            known.done_s.push(seconds(waited + handover + work));
        });
        done
    }

    fn nack(&self, target: &str, retry: bool) {
        let (house, received) = (&self.house, self.receive(target));
        let (id, fence) = (received.delivery.row.id, received.fence);
        let reason = "cannot".to_owned();
        block_on(house.deliveries.nack(&house.caller, id, fence, reason, retry, None)).unwrap();
    }

    /// Taken by somebody who is still at work when the hour is over.
    fn leave(&mut self, target: &'static str, sent: &Delivery) {
        let caller = self.house.caller.clone();
        self.pass(1);
        let long_ms = Some(12 * 60 * 60 * 1000);
        let request =
            ReceiveRequest { accept: true, lease_ms: long_ms, ..ReceiveRequest::new(name(target)) };
        let taken = block_on(self.house.deliveries.receive(&caller, request)).unwrap();
        assert_eq!(taken[0].delivery.row.id, sent.row.id);
        self.know(target, |known| {
            known.counts.accepted += 1;
            known.queued_s.push(0.001);
            known.handover_s.push(0.0);
            known.accepted_s.push(0.001);
        });
    }

    fn hand_on(&mut self, target: &'static str, minute: u64) {
        self.finish(target, 0, minute, next("reviewer", "Review it."));
        let taken = self.house.take("reviewer");
        // The reference that was missing travels on as a gap.
        let gaps = if minute.is_multiple_of(3) { (1, 0) } else { (0, 0) };
        self.count_sent("reviewer", &taken.delivery, gaps);
        self.house.complete(&taken, Ack::default()).unwrap();
        self.know("reviewer", |known| {
            known.counts.accepted += 1;
            known.counts.done += 1;
            for list in [
                &mut known.accepted_s,
                &mut known.done_s,
                &mut known.queued_s,
                &mut known.handover_s,
                &mut known.work_s,
            ] {
                list.push(0.0);
            }
        });
    }

    fn play(&mut self, minute: u64) {
        let target = TARGETS[(minute / 8 % 2) as usize];
        let sent = self.send(target, minute);
        let caller = self.house.caller.clone();
        match FATES[(minute % 8) as usize] {
            Fate::Left => self.leave(target, &sent),
            Fate::Done => drop(self.finish(target, 0, minute, Ack::default())),
            Fate::DoneAndHandedOn => self.hand_on(target, minute),
            Fate::NackedThenDone => {
                self.nack(target, true);
                self.know(target, |known| known.counts.retries += 1);
                self.finish(target, 0, minute, Ack::default());
            }
            Fate::LeaseRanOutThenDone => {
                self.receive(target);
                self.pass(1_000);
                self.know(target, |known| known.counts.redeliveries += 1);
                self.finish(target, 1_000, minute, Ack::default());
            }
            Fate::Rejected => {
                let received = self.receive(target);
                let (deliveries, reason) = (&self.house.deliveries, "not mine".to_owned());
                let (id, fence) = (received.delivery.row.id, received.fence);
                block_on(deliveries.reject(&caller, id, fence, reason, None)).unwrap();
                self.know(target, |known| known.counts.rejected += 1);
            }
            Fate::Cancelled => {
                block_on(self.house.deliveries.cancel(&caller, sent.row.id, "not needed")).unwrap();
                self.know(target, |known| known.counts.cancelled += 1);
            }
            Fate::GivenUp => {
                self.nack(target, false);
                self.know(target, |known| {
                    known.counts.retries += 1;
                    known.counts.parked += 1;
                    known.counts.failed += 1;
                });
            }
        }
    }
}

fn check_sketch(what: &str, found: &Sketch, exact: &[f64]) {
    assert_eq!(found.count(), exact.len() as u64, "{what}");
    let mut sorted = exact.to_vec();
    sorted.sort_by(f64::total_cmp);
    for share in [0.5, 0.95, 0.99] {
        let rank = (sorted.len() as f64 * share).ceil() as usize;
        let (found, exact) = (found.quantile(share).unwrap(), sorted[rank - 1]);
        assert!((found - exact).abs() <= exact * 0.01, "{what}: {found} for {exact}");
    }
}

fn check_minute(what: &str, found: &Minute, known: &Known) {
    assert_eq!(found.counts, known.counts, "{what}");
    check_sketch("accepted", &found.accepted_s, &known.accepted_s);
    check_sketch("done", &found.done_s, &known.done_s);
    let [assemble, queued, handover, work] = &found.stages_s;
    check_sketch("queued", queued, &known.queued_s);
    check_sketch("handover", handover, &known.handover_s);
    check_sketch("work", work, &known.work_s);
    // The clock stands still while an envelope is packed.
    assert_eq!((assemble.count(), assemble.max()), (known.envelopes, Some(0.0)), "{what}");
    check_sketch("utilisation", &found.utilisation, &known.used);
    let mut classes = [0; UTILISATION_CLASSES];
    known.used.iter().for_each(|used| classes[((used * 10.0).ceil() as usize).max(1) - 1] += 1);
    assert_eq!(found.utilisation_classes, classes, "{what}");
    let mean = known.used.iter().sum::<f64>() / known.used.len() as f64;
    assert!((found.utilisation_mean().unwrap() - mean).abs() < 1e-9, "{what}");
    assert_eq!(found.hops, known.hops, "{what}");
    let counts = &known.counts;
    let share = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
    assert_eq!(found.completeness(), share(counts.included, counts.requested), "{what}");
    let ended = counts.failed + counts.done + counts.rejected;
    assert_eq!((found.ended(), found.failure_rate()), (ended, share(counts.failed, ended)));
    let hops: u64 = known.hops.iter().map(|(hop, count)| hop * count).sum();
    assert_eq!(found.hop_mean(), share(hops, counts.handoffs), "{what}");
}

fn over(report: &[(Window, Minute)], window: Window) -> &Minute {
    &report.iter().find(|(found, _)| *found == window).unwrap().1
}

fn check_report(report: &Report, known: &BTreeMap<&'static str, Known>) {
    for window in [Window::Hour, Window::Day] {
        check_minute("all", over(&report.windows, window), &known["all"]);
        for target in &report.targets {
            let known = &known[target.agent.as_str()];
            check_minute(target.agent.as_str(), over(&target.windows, window), known);
        }
    }
    let names: Vec<&str> = report.targets.iter().map(|target| target.agent.as_str()).collect();
    assert_eq!(names, ["coder", "reviewer", "tester"]);
    let left = |known: &Known| {
        let counts = &known.counts;
        let over = counts.done + counts.rejected + counts.cancelled + counts.parked;
        (0, counts.handoffs - over, counts.parked)
    };
    let queue = &report.queue;
    assert_eq!((queue.pending, queue.accepted, queue.parked), left(&known["all"]));
    for target in &report.targets {
        let queue = &target.queue;
        let expected = left(&known[target.agent.as_str()]);
        assert_eq!((queue.pending, queue.accepted, queue.parked), expected, "{}", target.agent);
    }
}

fn check_totals(health: &Health, house: &House, known: &BTreeMap<&'static str, Known>) {
    let totals = block_on(health.totals(&house.caller.workspace));
    assert_eq!(totals.counts, known["all"].counts);
    let names: Vec<_> = totals.targets.keys().flatten().map(|name| name.as_str()).collect();
    assert_eq!(names, ["coder", "reviewer", "tester"]);
    for (agent, totals) in &totals.targets {
        let known = &known[agent.as_ref().unwrap().as_str()];
        assert_eq!(totals.counts, known.counts, "{agent:?}");
        for (tally, exact) in [(&totals.accepted, &known.accepted_s), (&totals.done, &known.done_s)]
        {
            assert_eq!(tally.count(), exact.len() as u64, "{agent:?}");
            assert!((tally.sum() - exact.iter().sum::<f64>()).abs() < 1e-6, "{agent:?}");
        }
    }
}

#[test]
fn every_figure_of_a_mixed_hour_is_what_the_script_says() {
    let house = house();
    let note = house.note("The only one there is.");
    let entropy = Arc::new(Entropy::from_seed([9; 32]));
    let (store, deliveries) = (house.store.clone(), house.deliveries.clone());
    let health = Health::new(store, deliveries, entropy, Thresholds::default());
    let mut script = Script { house, note, known: BTreeMap::new() };
    let began = spine_store::Clock::now(script.house.clock.as_ref());
    for minute in 0..MINUTES {
        script.play(minute);
        let now = spine_store::Clock::now(script.house.clock.as_ref());
        let next = began.0 + (minute as i64 + 1) * 60_000;
        if minute + 1 < MINUTES {
            script.house.clock.advance_ms(next - now.0);
        }
    }
    let caller = script.house.caller.clone();
    let (report, _) = block_on(health.report(&caller, None)).unwrap();
    check_report(&report, &script.known);
    check_totals(&health, &script.house, &script.known);
    let hour = over(&report.windows, Window::Hour);
    assert!(hour.failure_rate().unwrap() > 0.02 && report.verdict == Verdict::Critical);
    let last = over(&report.windows, Window::FiveMinutes);
    assert_eq!(last.counts.handoffs, last_minutes(5));
}

/// Handoffs of the last minutes: one each, and one more where it was handed on.
fn last_minutes(count: u64) -> u64 {
    let handed_on = |minute: &u64| FATES[(*minute % 8) as usize] == Fate::DoneAndHandedOn;
    let minutes = MINUTES - count..MINUTES;
    count + minutes.filter(handed_on).count() as u64
}

/// A breaker that a person holds open is not one that nobody answers behind.
#[test]
fn a_breaker_that_a_person_holds_open_says_so() {
    let house = house();
    let entropy = Arc::new(Entropy::from_seed([9; 32]));
    let (store, deliveries) = (house.store.clone(), house.deliveries.clone());
    let health = Health::new(store, deliveries, entropy, Thresholds::default());
    let order = BreakerOrder::ForceOpen;
    block_on(house.deliveries.order_breaker(&house.caller, &name("coder"), order)).unwrap();
    let (report, _) = block_on(health.report(&house.caller, None)).unwrap();
    let texts: Vec<&str> = report.reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "The breaker of coder is not closed: a person holds it open, and what is sent waits until it is closed."
        ]
    );
    assert_eq!(report.verdict, Verdict::Critical);
}
