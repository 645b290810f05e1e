use expect_test::{Expect, expect};
use spine_protocol::{DeliveryId, EnvelopeId};
use spine_store::{Change, DeliveryState, Identity, Priority, UnixMs};

use super::*;
use crate::delivery::policy::{Policy, later};
use crate::delivery::story::Story;

const START: UnixMs = UnixMs(1_000_000);

fn identity() -> Identity {
    Identity { store: "s".into(), history: "h".into(), incarnation: 7 }
}

/// A delivery to `a`, as the first words of a script say: `direct`, `fallback`, `expires`.
fn fresh(words: &str) -> Delivery {
    let agent: AgentName = "a".parse().unwrap();
    let policy = Policy { backoff_first_ms: 0, ..Policy::default() };
    let direct = words.contains("direct");
    let story = Story {
        policy,
        direct,
        fallbacks: words.contains("fallback").then(|| "b".parse().unwrap()).into_iter().collect(),
        expires_at: words.contains("expires").then(|| later(START, 5_000)),
        pending_until: later(START, policy.pending_ms_max),
        take_by: direct.then(|| later(START, policy.take_ms)),
        ..Story::blank(START, agent.clone())
    };
    let row = spine_store::Delivery {
        id: DeliveryId::from_parts(1, 1),
        envelope: EnvelopeId::from_parts(1, 1),
        root: EnvelopeId::from_parts(1, 1),
        agent,
        state: DeliveryState::Pending,
        priority: Priority::Normal,
        order_key: None,
        sequence: Change(1),
        visible_at: START,
        due_at: None,
        epoch: 0,
        incarnation: 0,
        story: Vec::new(),
        result: None,
        updated_at: START,
        change: Change(1),
    };
    Delivery { row, story: Box::new(story) }
}

fn event(word: &str, fence: Fence) -> Event {
    let by = || By { agent: None, reason: "because".into() };
    let reason = || "because".to_owned();
    match word {
        "lease" => Event::Lease { holder: None, lease_ms: None, accept: false },
        "take" => Event::Lease { holder: None, lease_ms: None, accept: true },
        "release" => Event::Release(fence, 0),
        "accept" => Event::Accept(fence),
        "extend" => Event::Extend(fence, None),
        "progress" => Event::Progress(fence, Note { text: "half".into(), ..Note::default() }),
        "complete" => Event::Complete(fence, Completion::default()),
        "nack" => Event::Nack { fence, reason: reason(), retry: true, after_ms: None },
        "nack-final" => Event::Nack { fence, reason: reason(), retry: false, after_ms: None },
        "nack-later" => Event::Nack { fence, reason: reason(), retry: true, after_ms: Some(5_000) },
        "unreached" => Event::Unreached { fence, reason: reason(), retry: true },
        "unreached-final" => Event::Unreached { fence, reason: reason(), retry: false },
        "reject" => Event::Reject { fence, reason: reason(), question: None },
        "due" => Event::Due,
        "cancel" => Event::Cancel(by()),
        "park" => Event::Park(ParkCause::Asked, by(), None),
        "requeue" => Event::Requeue { by: by(), target: None, after_ms: 0 },
        "requeue-b" => Event::Requeue { by: by(), target: "b".parse().ok(), after_ms: 0 },
        "resolve" => Event::Resolve(by(), Completion::default()),
        "discard" => Event::Discard(by()),
        "resend" => Event::Replace(by(), EnvelopeId::from_parts(2, 2)),
        other => panic!("no such word: {other}"),
    }
}

/// Plays a script: words are events, `+15s` lets time pass, `old:` before one shows the lease before the present one,
/// `held:` says that the agent is given no work for a minute.
fn check(script: &str, expected: Expect) {
    let (setup, words) =
        script.split_once(':').map_or(("", script), |(setup, words)| (setup, words));
    let (identity, mut now, mut delivery) = (identity(), START, fresh(setup));
    let mut shown = String::new();
    for word in words.split_whitespace() {
        if let Some(seconds) = word.strip_prefix('+') {
            now = later(now, seconds.trim_end_matches('s').parse::<u64>().unwrap() * 1000);
            continue;
        }
        let (word, held_until) = match word.strip_prefix("held/") {
            Some(word) => (word, Some(later(now, 60_000))),
            None => (word, None),
        };
        let mut fence = Fence::of_row(&delivery.row, &identity);
        let plain = match word.split_once('/') {
            Some(("old", word)) => {
                fence.epoch -= 1;
                word
            }
            Some(("before-restart", word)) => {
                fence.incarnation -= 1;
                word
            }
            Some(("other-history", word)) => {
                fence.history = "x".into();
                word
            }
            _ => word,
        };
        let moment = Moment { now, random: 0, identity: &identity, held_until };
        let outcome = step(&delivery, event(plain, fence), &moment);
        shown += &format!("{word:<12} ");
        match outcome {
            Ok(step) => {
                shown += &line(&step, now);
                delivery = step.after;
            }
            Err(refusal) => shown += &format!("refused: {refusal:?}\n"),
        }
    }
    expected.assert_eq(&shown);
}

fn line(step: &Step, now: UnixMs) -> String {
    let Delivery { row, story } = &step.after;
    let due = row.due_at.map_or_else(|| "-".to_owned(), |at| format!("{}s", (at.0 - now.0) / 1000));
    let effect = |effect: &Effect| match effect {
        Effect::Log(kind) => kind.trim_start_matches("delivery.").to_owned(),
        Effect::Offer(agent) => format!("offer {agent}"),
        Effect::Left(agent) => format!("left {agent}"),
        Effect::Alive(agent) => format!("alive {agent}"),
        Effect::Dropped(agent) => format!("dropped {agent}"),
        Effect::Exhausted(agent) => format!("exhausted {agent}"),
        Effect::Ended => "ended".to_owned(),
    };
    let effects = step.effects.iter().map(effect).collect::<Vec<_>>().join(", ");
    let state = row.state.as_str();
    format!(
        "{state}@{} lease {} spent {} due {due} [{effects}]\n",
        row.agent, row.epoch, story.spent
    )
}

#[test]
fn the_way_of_most_deliveries() {
    check(
        "lease accept +20s extend progress +50s complete",
        expect![[r#"
        lease        leased@a lease 1 spent 0 due 60s [leased]
        accept       accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        extend       accepted@a lease 1 spent 0 due 60s []
        progress     accepted@a lease 1 spent 0 due 60s [progress]
        complete     done@a lease 1 spent 0 due - [done, ended]
    "#]],
    );
    check(
        "take complete",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        complete     done@a lease 1 spent 0 due - [done, ended]
    "#]],
    );
    check(
        "lease complete",
        expect![[r#"
        lease        leased@a lease 1 spent 0 due 60s [leased]
        complete     done@a lease 1 spent 0 due - [accepted, alive a, done, ended]
    "#]],
    );
}

#[test]
fn an_attempt_is_spent_when_the_lease_runs_out_and_the_last_one_parks() {
    check(
        "take +59s due +1s due take +60s due take +60s due",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        due          accepted@a lease 1 spent 0 due 1s []
        due          pending@a lease 1 spent 1 due 86400s [lease_expired, offer a, dropped a]
        take         accepted@a lease 2 spent 1 due 60s [accepted, alive a]
        due          pending@a lease 2 spent 2 due 86400s [lease_expired, offer a, dropped a]
        take         accepted@a lease 3 spent 2 due 60s [accepted, alive a]
        due          parked@a lease 3 spent 3 due - [lease_expired, parked, ended, exhausted a, dropped a]
    "#]],
    );
}

#[test]
fn an_attempt_is_spent_when_nobody_takes_a_direct_handoff_and_a_fallback_comes_next() {
    check(
        "direct fallback: +15s due +15s due +15s due take complete",
        expect![[r#"
        due          pending@a lease 0 spent 1 due 15s [not_taken, offer a, dropped a]
        due          pending@a lease 0 spent 2 due 15s [not_taken, offer a, dropped a]
        due          pending@b lease 0 spent 0 due 15s [not_taken, rerouted, offer b, left a, exhausted a, dropped a]
        take         accepted@b lease 1 spent 0 due 60s [accepted, alive b]
        complete     done@b lease 1 spent 0 due - [done, ended]
    "#]],
    );
}

/// A webhook that nobody answers at is counted as an agent that nobody took anything for; one that says no is not.
#[test]
fn an_attempt_is_spent_when_the_receiver_cannot_be_reached() {
    check(
        "lease unreached lease unreached lease unreached unreached",
        expect![[r#"
        lease        leased@a lease 1 spent 0 due 60s [leased]
        unreached    pending@a lease 1 spent 1 due 86400s [not_taken, offer a, dropped a]
        lease        leased@a lease 2 spent 1 due 60s [leased]
        unreached    pending@a lease 2 spent 2 due 86400s [not_taken, offer a, dropped a]
        lease        leased@a lease 3 spent 2 due 60s [leased]
        unreached    parked@a lease 3 spent 3 due - [not_taken, parked, ended, exhausted a, dropped a]
        unreached    refused: LeaseLost
    "#]],
    );
    check(
        "fallback: lease old/unreached unreached-final lease nack lease unreached lease unreached",
        expect![[r#"
        lease        leased@a lease 1 spent 0 due 60s [leased]
        old/unreached refused: LeaseLost
        unreached-final pending@b lease 1 spent 0 due 86400s [not_taken, rerouted, offer b, left a, exhausted a, dropped a]
        lease        leased@b lease 2 spent 0 due 60s [leased]
        nack         pending@b lease 2 spent 1 due 86400s [nacked, offer b]
        lease        leased@b lease 3 spent 1 due 60s [leased]
        unreached    pending@b lease 3 spent 2 due 86400s [not_taken, offer b, dropped b]
        lease        leased@b lease 4 spent 2 due 60s [leased]
        unreached    parked@b lease 4 spent 3 due - [not_taken, parked, ended, dropped b]
    "#]],
    );
}

#[test]
fn a_queued_handoff_waits_a_day_and_no_longer() {
    check(
        "+60s due +86340s due",
        expect![[r#"
        due          pending@a lease 0 spent 0 due 86340s []
        due          parked@a lease 0 spent 0 due - [parked, ended]
    "#]],
    );
    check(
        "expires: +5s due",
        expect![[r#"
        due          parked@a lease 0 spent 0 due - [parked, ended]
    "#]],
    );
}

#[test]
fn an_agent_that_is_given_no_work_spends_no_attempts() {
    check(
        "direct: +15s held/due +74s due +1s due",
        expect![[r#"
        due          pending@a lease 0 spent 0 due 75s []
        due          pending@a lease 0 spent 0 due 1s []
        due          pending@a lease 0 spent 1 due 15s [not_taken, offer a, dropped a]
    "#]],
    );
}

#[test]
fn a_nack_is_retried_and_is_never_counted_by_the_breaker() {
    check(
        "take nack take nack take nack",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        nack         pending@a lease 1 spent 1 due 86400s [nacked, offer a]
        take         accepted@a lease 2 spent 1 due 60s [accepted, alive a]
        nack         pending@a lease 2 spent 2 due 86400s [nacked, offer a]
        take         accepted@a lease 3 spent 2 due 60s [accepted, alive a]
        nack         parked@a lease 3 spent 3 due - [nacked, parked, ended]
    "#]],
    );
    check(
        "take +60s due take nack take +60s due",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        due          pending@a lease 1 spent 1 due 86400s [lease_expired, offer a, dropped a]
        take         accepted@a lease 2 spent 1 due 60s [accepted, alive a]
        nack         pending@a lease 2 spent 2 due 86400s [nacked, offer a]
        take         accepted@a lease 3 spent 2 due 60s [accepted, alive a]
        due          parked@a lease 3 spent 3 due - [lease_expired, parked, ended, dropped a]
    "#]],
    );
    check(
        "fallback: take nack-final take nack-later lease +5s lease",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        nack-final   pending@b lease 1 spent 0 due 86400s [nacked, rerouted, offer b, left a]
        take         accepted@b lease 2 spent 0 due 60s [accepted, alive b]
        nack-later   pending@b lease 2 spent 1 due 86405s [nacked, offer b]
        lease        refused: NotReady
        lease        leased@b lease 3 spent 1 due 60s [leased]
    "#]],
    );
}

#[test]
fn an_older_lease_is_told_that_it_is_lost() {
    check(
        "take +60s due take old/complete old/extend old/nack before-restart/complete other-history/accept complete old/complete",
        expect![[r#"
            take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
            due          pending@a lease 1 spent 1 due 86400s [lease_expired, offer a, dropped a]
            take         accepted@a lease 2 spent 1 due 60s [accepted, alive a]
            old/complete refused: LeaseLost
            old/extend   refused: LeaseLost
            old/nack     refused: LeaseLost
            before-restart/complete refused: LeaseLost
            other-history/accept refused: LeaseLost
            complete     done@a lease 2 spent 1 due - [done, ended]
            old/complete refused: LeaseLost
        "#]],
    );
}

#[test]
fn the_same_one_twice_succeeds_twice() {
    check(
        "take complete complete extend",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        complete     done@a lease 1 spent 0 due - [done, ended]
        complete     done@a lease 1 spent 0 due - []
        extend       refused: Over(Done)
    "#]],
    );
    check(
        "take nack nack",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        nack         pending@a lease 1 spent 1 due 86400s [nacked, offer a]
        nack         pending@a lease 1 spent 1 due 86400s []
    "#]],
    );
    check(
        "take reject reject complete",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        reject       rejected@a lease 1 spent 0 due - [rejected, alive a, ended]
        reject       rejected@a lease 1 spent 0 due - []
        complete     refused: Over(Rejected)
    "#]],
    );
    check(
        "lease accept accept",
        expect![[r#"
        lease        leased@a lease 1 spent 0 due 60s [leased]
        accept       accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        accept       accepted@a lease 1 spent 0 due 60s []
    "#]],
    );
    check(
        "cancel cancel",
        expect![[r#"
        cancel       cancelled@a lease 0 spent 0 due - [cancelled, ended]
        cancel       cancelled@a lease 0 spent 0 due - []
    "#]],
    );
}

#[test]
fn a_receiver_at_work_learns_of_a_cancellation() {
    check(
        "take cancel extend complete",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        cancel       cancelled@a lease 1 spent 0 due - [cancelled, ended]
        extend       refused: Cancelled(Some("because"))
        complete     refused: Cancelled(Some("because"))
    "#]],
    );
    check(
        "take complete cancel",
        expect![[r#"
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        complete     done@a lease 1 spent 0 due - [done, ended]
        cancel       refused: Over(Done)
    "#]],
    );
}

#[test]
fn a_lease_that_never_reached_its_receiver_costs_nothing() {
    check(
        "lease release lease",
        expect![[r#"
        lease        leased@a lease 1 spent 0 due 60s [leased]
        release      pending@a lease 1 spent 0 due 86400s [released, offer a]
        lease        leased@a lease 2 spent 0 due 60s [leased]
    "#]],
    );
}

#[test]
fn a_person_reviews_what_is_parked_and_nothing_else() {
    check(
        "requeue take park extend park requeue-b take complete requeue",
        expect![[r#"
        requeue      refused: NotParked(Pending)
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
        park         parked@a lease 1 spent 0 due - [parked, ended]
        extend       refused: LeaseLost
        park         parked@a lease 1 spent 0 due - [parked, ended]
        requeue-b    pending@b lease 1 spent 0 due 86400s [requeued, offer b]
        take         accepted@b lease 2 spent 0 due 60s [accepted, alive b]
        complete     done@b lease 2 spent 0 due - [done, ended]
        requeue      refused: NotParked(Done)
    "#]],
    );
    check(
        "park resolve resolve",
        expect![[r#"
        park         parked@a lease 0 spent 0 due - [parked, ended]
        resolve      done@a lease 0 spent 0 due - [resolved, ended]
        resolve      refused: NotParked(Done)
    "#]],
    );
    check(
        "park discard requeue",
        expect![[r#"
        park         parked@a lease 0 spent 0 due - [parked, ended]
        discard      cancelled@a lease 0 spent 0 due - [discarded, ended]
        requeue      refused: NotParked(Cancelled)
    "#]],
    );
    check(
        "park resend",
        expect![[r#"
        park         parked@a lease 0 spent 0 due - [parked, ended]
        resend       cancelled@a lease 0 spent 0 due - [resent, ended]
    "#]],
    );
    check(
        "expires: +5s due requeue +86399s due take",
        expect![[r#"
        due          parked@a lease 0 spent 0 due - [parked, ended]
        requeue      pending@a lease 0 spent 0 due 86400s [requeued, offer a]
        due          pending@a lease 0 spent 0 due 1s []
        take         accepted@a lease 1 spent 0 due 60s [accepted, alive a]
    "#]],
    );
}
