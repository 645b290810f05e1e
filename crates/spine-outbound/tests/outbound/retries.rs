//! What is tried again, and when.

use std::cell::RefCell;
use std::time::Duration;

use spine_outbound::OutboundErrorKind::{self, Status};
use spine_outbound::{Outbound, OutboundError, RetryPolicy, retrying};

use crate::stand_in::{Reply, StandIn, answer, local, outbound};

const POLICY: RetryPolicy = RetryPolicy {
    attempts_max: 4,
    backoff_ms_first: 100,
    backoff_ms_max: 300,
    retry_after_ms_max: 60_000,
};

/// Retries with the longest pauses there can be; gives the end and the pauses in milliseconds.
async fn attempts(outbound: &Outbound, url: &str) -> (Result<u16, OutboundErrorKind>, Vec<u128>) {
    let pauses = RefCell::new(Vec::new());
    let body = serde_json::json!({});
    let sleep = |pause: Duration| {
        pauses.borrow_mut().push(pause.as_millis());
        std::future::ready(())
    };
    let post = |_| outbound.post_json(url, &body, &[]);
    let end = retrying(POLICY, || u64::MAX, sleep, post).await;
    (end.map(|answer| answer.status).map_err(|error| error.kind()), pauses.into_inner())
}

async fn check(
    reply: impl Fn(usize) -> Reply + Send + Sync + 'static,
    wanted: Result<u16, OutboundErrorKind>,
    wanted_pauses: &[u128],
) {
    let stand_in = StandIn::start(move |_, number| reply(number)).await;
    let (end, pauses) = attempts(&outbound(local()), &stand_in.url("/")).await;
    assert_eq!((end, pauses.as_slice()), (wanted, wanted_pauses));
    assert_eq!(stand_in.asked().len(), wanted_pauses.len() + 1);
}

#[tokio::test]
async fn failures_that_pass_are_tried_again() {
    check(|_| answer("200 OK", &[], ""), Ok(200), &[]).await;
    for status in ["500 Oh", "502 Oh", "503 Oh", "504 Oh", "429 Oh", "408 Oh"] {
        let then_well = |number| answer(if number == 0 { status } else { "200 OK" }, &[], "");
        check(then_well, Ok(200), &[100]).await;
    }
    let broken = |number| match number {
        0 => Reply::Broken(Vec::new()),
        _ => answer("204 None", &[], ""),
    };
    check(broken, Ok(204), &[100]).await;
}

#[tokio::test]
async fn attempts_come_to_an_end() {
    check(|_| answer("500 Oh", &[], ""), Err(Status(500)), &[100, 200, 300]).await;
}

#[tokio::test]
async fn failures_that_stay_are_final() {
    for (text, status) in [
        ("400 Oh", 400),
        ("401 Oh", 401),
        ("404 Oh", 404),
        ("410 Oh", 410),
        ("302 Oh", 302),
        ("304 Oh", 304),
    ] {
        check(move |_| answer(text, &[], ""), Err(Status(status)), &[]).await;
    }
    let refused = attempts(&outbound(local()), "http://169.254.169.254/").await;
    assert_eq!(refused, (Err(OutboundErrorKind::AddressRefused), vec![]));
}

#[tokio::test]
async fn a_wish_to_be_left_alone_is_granted() {
    let after = |headers: &'static [&'static str]| {
        move |number| match number {
            0 => answer("429 Slow down", headers, ""),
            _ => answer("200 OK", &[], ""),
        }
    };
    check(after(&["retry-after: 7"]), Ok(200), &[7_100]).await;
    check(after(&["retry-after: 60"]), Ok(200), &[60_100]).await;
    check(after(&["retry-after: soon"]), Ok(200), &[100]).await;
    let dated =
        ["date: Sun, 06 Nov 1994 08:49:30 GMT", "retry-after: Sun, 06 Nov 1994 08:49:37 GMT"];
    check(after(Box::leak(Box::new(dated))), Ok(200), &[7_100]).await;
    // Of the past: at once, as after any failure.
    let past =
        ["date: Sun, 06 Nov 1994 08:49:37 GMT", "retry-after: Sun, 06 Nov 1994 08:49:30 GMT"];
    check(after(Box::leak(Box::new(past))), Ok(200), &[100]).await;
    // Longer than is waited for.
    check(after(&["retry-after: 61"]), Err(Status(429)), &[]).await;
    check(after(&["retry-after: 18446744073709551615"]), Err(Status(429)), &[]).await;
}

/// A failure as a caller gets one.
async fn a_failure() -> OutboundError {
    let stand_in = StandIn::start(|_, _| answer("500 Oh", &[], "")).await;
    let body = serde_json::json!({});
    outbound(local()).post_json(&stand_in.url("/"), &body, &[]).await.unwrap_err()
}

#[tokio::test]
async fn pauses_are_anything_up_to_a_ceiling_that_doubles() {
    let failure = a_failure().await;
    let policy = RetryPolicy {
        attempts_max: u32::MAX,
        backoff_ms_first: 100,
        backoff_ms_max: 10_000,
        ..POLICY
    };
    let seed = std::env::var("SPINE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("SPINE_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for (attempt, ceiling) in [(1, 100), (2, 200), (5, 1_600), (8, 10_000), (90, 10_000)] {
        let pause = |random| policy.pause_ms(attempt, &failure, random).unwrap();
        assert_eq!((pause(0), pause(u64::MAX)), (0, ceiling), "attempt {attempt}");
        let pauses: Vec<u64> = (0..1_000).map(|_| pause(random.u64(..))).collect();
        assert!(pauses.iter().all(|pause| *pause <= ceiling));
        // All over the range: not at its ends or around its middle.
        let quarters = (0..4).map(|quarter| {
            let in_quarter = |pause: &&u64| **pause * 4 / (ceiling + 1) == quarter;
            pauses.iter().filter(in_quarter).count()
        });
        for count in quarters {
            assert!((150..350).contains(&count), "{count} of 1000 in a quarter of {ceiling}");
        }
    }
}
