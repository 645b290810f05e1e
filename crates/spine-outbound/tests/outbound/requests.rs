//! Requests, and everything that can happen to them.

use std::sync::Arc;

use expect_test::expect;
use spine_outbound::OutboundErrorKind::{
    self, AnswerTooLarge, BadAnswer, BadInput, Busy, CannotConnect, Status, TimedOut,
};
use spine_outbound::limits::REQUEST_BYTES_MAX;
use spine_outbound::{Message, OutboundOptions, WebhookSecret, verify};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::stand_in::{Reply, StandIn, answer, local, outbound, post};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

fn hurried() -> OutboundOptions {
    OutboundOptions { request_ms_max: 200, ..local() }
}

#[tokio::test]
async fn a_signed_message_arrives_as_it_was_signed() {
    let stand_in =
        StandIn::start(|_, _| answer("202 Accepted", &["content-type: text/plain"], "taken")).await;
    let secret = WebhookSecret::parse(SECRET).unwrap();
    let message = Message { id: "msg_1", timestamp_s: 1_760_000_000, body: b"{\"a\": 1}" };
    let options = OutboundOptions { user_agent: "spine-test".to_owned(), ..local() };
    let extra = [("x-team", "blue"), ("content-type", "application/cloudevents+json")];
    let url = stand_in.url("/inbox?key=1");
    let answer = outbound(options).post_signed(&url, &secret, message, &extra).await.unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (202, &b"taken"[..]));
    assert_eq!(answer.content_type.as_deref(), Some("text/plain"));

    let asked = stand_in.asked().remove(0);
    assert!(asked.head.starts_with("POST /inbox?key=1 HTTP/1.1\r\n"), "{}", asked.head);
    assert_eq!(asked.header("host"), Some(format!("127.0.0.1:{}", stand_in.port).as_str()));
    let header = |name| asked.header(name).unwrap_or_default();
    assert_eq!((header("webhook-id"), header("webhook-timestamp")), ("msg_1", "1760000000"));
    assert_eq!((header("user-agent"), header("x-team")), ("spine-test", "blue"));
    assert_eq!(header("content-type"), "application/cloudevents+json");
    let received = Message { body: &asked.body, ..message };
    assert_eq!(verify(&secret, received, header("webhook-signature"), 1_760_000_010), Ok(()));
}

#[tokio::test]
async fn a_second_request_uses_the_first_ones_connection() {
    let stand_in = StandIn::start(|_, _| answer("200 OK", &[], "")).await;
    let outbound = outbound(local());
    for _ in 0..3 {
        assert_eq!(post(&outbound, &stand_in.url("/")).await, Ok(200));
    }
    assert_eq!((stand_in.asked().len(), stand_in.connections()), (3, 1));
}

#[tokio::test]
async fn silence_ends_with_the_time_of_the_request() {
    let stand_in = StandIn::start(|_, _| Reply::Bytes(Vec::new())).await;
    assert_eq!(post(&outbound(hurried()), &stand_in.url("/")).await, Err(TimedOut));
    assert_eq!(stand_in.asked().len(), 1);
}

#[tokio::test]
async fn a_body_that_stops_ends_with_the_time_of_the_request() {
    let stand_in = StandIn::start(|_, _| {
        Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nslowly".to_vec())
    });
    let stand_in = stand_in.await;
    assert_eq!(post(&outbound(hurried()), &stand_in.url("/")).await, Err(TimedOut));
}

/// Nothing takes connections off the queue: the TLS handshake never gets an answer.
#[tokio::test]
async fn a_handshake_that_stops_ends_with_the_time_for_connecting() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let options = OutboundOptions { connect_ms_max: 200, ..local() };
    assert_eq!(post(&outbound(options), &url).await, Err(TimedOut));
}

#[tokio::test]
async fn a_huge_body_is_not_read_to_its_end() {
    for head in [
        "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 500 Oh\r\nconnection: close\r\n\r\n",
    ] {
        let stand_in = StandIn::start(|_, _| Reply::Endless {
            head: head.as_bytes().to_vec(),
            piece: vec![b'a'; 4096],
        });
        let url = stand_in.await.url("/");
        assert_eq!(post(&outbound(local()), &url).await, Err(AnswerTooLarge), "{head}");
    }
}

#[tokio::test]
async fn headers_without_end_are_not_read_to_their_end() {
    let stand_in = StandIn::start(|_, _| Reply::Endless {
        head: b"HTTP/1.1 200 OK\r\n".to_vec(),
        piece: [b"x-more: ".to_vec(), vec![b'a'; 4096], b"\r\n".to_vec()].concat(),
    });
    let url = stand_in.await.url("/");
    assert_eq!(post(&outbound(local()), &url).await, Err(BadAnswer));
}

#[tokio::test]
async fn an_answer_of_just_the_size_is_read() {
    let stand_in = StandIn::start(|_, number| answer("200 OK", &[], &"a".repeat(10 + number)));
    let stand_in = stand_in.await;
    let outbound = outbound(OutboundOptions { answer_bytes_max: 10, ..local() });
    assert_eq!(post(&outbound, &stand_in.url("/")).await, Ok(200));
    assert_eq!(post(&outbound, &stand_in.url("/")).await, Err(AnswerTooLarge));
}

#[tokio::test]
async fn what_is_not_http_is_a_bad_answer() {
    let stand_in = StandIn::start(|_, _| Reply::Broken(b"220 mail.example ESMTP\r\n".to_vec()));
    assert_eq!(post(&outbound(local()), &stand_in.await.url("/")).await, Err(BadAnswer));
}

#[tokio::test]
async fn a_connection_that_breaks_is_one_that_failed() {
    for bytes in ["", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab"] {
        let stand_in = StandIn::start(move |_, _| Reply::Broken(bytes.as_bytes().to_vec()));
        let url = stand_in.await.url("/");
        assert_eq!(post(&outbound(local()), &url).await, Err(CannotConnect), "{bytes:?}");
    }
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(post(&outbound(local()), &format!("http://{free}/")).await, Err(CannotConnect));
}

#[tokio::test]
async fn a_name_that_nobody_has_cannot_be_reached() {
    let url = "http://no-such-host.invalid/";
    assert_eq!(post(&outbound(local()), url).await, Err(CannotConnect));
}

/// A receiver that is reachable sends the server on to where credentials are served.
#[tokio::test]
async fn redirects_are_not_followed() {
    let other = StandIn::start(|_, _| answer("200 OK", &[], "credentials")).await;
    for location in ["http://169.254.169.254/latest/meta-data/".to_owned(), other.url("/")] {
        for status in [301, 302, 303, 307, 308] {
            let header = format!("location: {location}");
            let stand_in =
                StandIn::start(move |_, _| answer(&format!("{status} Elsewhere"), &[&header], ""));
            let url = stand_in.await.url("/");
            assert_eq!(post(&outbound(local()), &url).await, Err(Status(status)), "{location}");
        }
    }
    assert_eq!(other.connections(), 0);
}

/// One request that hangs, then one to each of two hosts; then the first goes away.
async fn check_places(
    options: OutboundOptions,
    same: Result<u16, OutboundErrorKind>,
    other: Result<u16, OutboundErrorKind>,
) {
    let arrived = Arc::new(Notify::new());
    let seen = Arc::clone(&arrived);
    let silent = StandIn::start(move |_, _| {
        seen.notify_one();
        Reply::Bytes(Vec::new())
    });
    let (silent, quick) = (silent.await, StandIn::start(|_, _| answer("200 OK", &[], "")).await);
    let outbound = Arc::new(outbound(options));
    let (shared, url) = (Arc::clone(&outbound), silent.url("/"));
    let waiting = tokio::spawn(async move { post(&shared, &url).await });
    arrived.notified().await;
    let other_host = format!("http://localhost:{}/", quick.port);
    assert_eq!(post(&outbound, &quick.url("/")).await, same);
    assert_eq!(post(&outbound, &other_host).await, other);
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!(post(&outbound, &quick.url("/")).await, Ok(200));
}

#[tokio::test]
async fn one_more_than_allowed_is_refused_at_once() {
    let options = OutboundOptions { requests_max: 1, ..local() };
    check_places(options, Err(Busy), Err(Busy)).await;
}

#[tokio::test]
async fn a_host_that_hangs_holds_its_own_places_only() {
    let options = OutboundOptions { requests_per_host_max: 1, ..local() };
    check_places(options, Err(Busy), Ok(200)).await;
    check_places(local(), Ok(200), Ok(200)).await;
}

#[tokio::test]
async fn headers_that_are_not_a_callers_are_refused() {
    let outbound = outbound(local());
    let body = serde_json::json!({});
    for (name, value) in [
        ("Host", "other.example"),
        ("content-length", "1"),
        ("Transfer-Encoding", "chunked"),
        ("webhook-signature", "v1,x"),
        ("proxy-authorization", "x"),
        ("x y", "a"),
        ("x-y", "a\r\nb: c"),
    ] {
        let sent = outbound.post_json("http://127.0.0.1:9/", &body, &[(name, value)]).await;
        assert_eq!(sent.unwrap_err().kind(), BadInput, "{name}: {value}");
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_not_sent() {
    let text = serde_json::Value::String("a".repeat(REQUEST_BYTES_MAX));
    let sent = outbound(local()).post_json("http://127.0.0.1:9/", &text, &[]).await;
    assert_eq!(sent.unwrap_err().kind(), BadInput);
}

/// A webhook's path and query are often its password, and proxies repeat what they were sent.
#[tokio::test]
async fn no_error_repeats_a_secret() {
    let stand_in = StandIn::start(|asked, _| {
        answer("500 Oh", &[], &format!("{}{}", asked.head, String::from_utf8_lossy(&asked.body)))
    });
    let stand_in = stand_in.await;
    let secret = WebhookSecret::parse(SECRET).unwrap();
    let message = Message { id: "msg_1", timestamp_s: 1, body: b"sesame" };
    let headers = [("authorization", "Bearer sesame")];
    let ports = [stand_in.port, 9];
    for url in ports.map(|port| format!("http://127.0.0.1:{port}/sesame?token=sesame#sesame")) {
        let failed = outbound(local()).post_signed(&url, &secret, message, &headers).await;
        let shown = failed.map_err(|error| format!("{error} {error:?}")).unwrap_err();
        assert!(!shown.contains("sesame") && !shown.contains("v1,"), "{shown}");
    }
    for url in ["http://sesame@127.0.0.1/", "http://127.0.0.1/ sesame", "sesame://a/"] {
        let shown = outbound(local()).check_url(url).map_err(|error| format!("{error} {error:?}"));
        assert!(!shown.unwrap_err().contains("sesame"), "{url}");
    }
    expect!["WebhookSecret(…)"].assert_eq(&format!("{secret:?}"));
}

#[tokio::test]
async fn an_error_says_what_to_do_and_the_detail_what_happened() {
    let failed = outbound(OutboundOptions::default())
        .post_json("http://10.0.0.1:8080/a?b", &serde_json::json!({}), &[])
        .await
        .unwrap_err();
    expect!["this address may not be reached: use a public one, or allow its host or network in the server's configuration"]
        .assert_eq(&failed.to_string());
    expect!["http://10.0.0.1:8080: 10.0.0.1 is a private address"].assert_eq(failed.detail());
    assert_eq!(failed.kind().code(), "address_refused");
}
