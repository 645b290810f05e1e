//! An OpenAI-compatible endpoint for vectors.

use serde_json::{Value, json};
use spine_outbound::OutboundErrorKind::{self, AnswerTooLarge, BadAnswer, BadInput, Status};
use spine_outbound::limits::{
    EMBED_BATCH_BYTES_MAX, EMBED_BATCH_TEXTS_MAX, EMBED_TEXT_BYTES_MAX, EMBED_TEXTS_MAX,
};
use spine_outbound::{Endpoint, OutboundError};

use crate::stand_in::{Asked, Reply, StandIn, answer, local, outbound};

fn endpoint(base_url: String) -> Endpoint {
    Endpoint { base_url, model: "small".to_owned(), key: Some("sk-sesame".to_owned()) }
}

async fn embed(stand_in: &StandIn, texts: &[&str]) -> Result<Vec<Vec<f32>>, OutboundError> {
    let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    outbound(local()).embeddings(&endpoint(stand_in.url("/v1")), 2, &texts).await
}

/// The vector of a text is its length and 1.
fn item(index: usize, text: &Value) -> Value {
    json!({ "object": "embedding", "index": index, "embedding": [text.as_str().unwrap().len(), 1] })
}

fn backwards(asked: &Asked) -> Reply {
    let input = asked.json()["input"].as_array().unwrap().clone();
    let data = input.iter().enumerate().rev().map(|(index, text)| item(index, text));
    let data: Vec<Value> = data.collect();
    answer("200 OK", &[], &json!({ "data": data, "model": "small", "usage": {} }).to_string())
}

#[tokio::test]
async fn vectors_come_in_the_order_of_their_texts() {
    let stand_in = StandIn::start(|asked, _| backwards(asked)).await;
    let vectors = embed(&stand_in, &["a", "bbb", "cc"]).await.unwrap();
    assert_eq!(vectors, [[1.0, 1.0], [3.0, 1.0], [2.0, 1.0]]);
    let asked = stand_in.asked().remove(0);
    assert!(asked.head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{}", asked.head);
    assert_eq!(asked.header("authorization"), Some("Bearer sk-sesame"));
    let wanted =
        json!({ "model": "small", "input": ["a", "bbb", "cc"], "encoding_format": "float" });
    assert_eq!(asked.json(), wanted);
}

#[tokio::test]
async fn a_base_url_keeps_its_query_and_needs_no_key() {
    let stand_in = StandIn::start(|asked, _| backwards(asked)).await;
    let endpoint = Endpoint { key: None, ..endpoint(stand_in.url("/openai/v1/?version=2")) };
    let outbound = outbound(local());
    assert_eq!(outbound.embeddings(&endpoint, 2, &["a".to_owned()]).await.unwrap().len(), 1);
    let asked = stand_in.asked().remove(0);
    assert!(asked.head.starts_with("POST /openai/v1/embeddings?version=2 HTTP/1.1\r\n"));
    assert_eq!(asked.header("authorization"), None);
}

#[tokio::test]
async fn many_texts_are_sent_in_batches() {
    let stand_in = StandIn::start(|asked, _| backwards(asked)).await;
    let texts: Vec<String> =
        (1..=EMBED_BATCH_TEXTS_MAX * 2 + 1).map(|length| "a".repeat(length)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embed(&stand_in, &texts).await.unwrap();
    let lengths: Vec<usize> = vectors.iter().map(|vector| vector[0] as usize).collect();
    assert_eq!(lengths, (1..=EMBED_BATCH_TEXTS_MAX * 2 + 1).collect::<Vec<_>>());
    assert_eq!(stand_in.asked().len(), 3);
}

#[tokio::test]
async fn long_texts_are_cut_and_fill_fewer_to_a_batch() {
    let stand_in = StandIn::start(|asked, _| backwards(asked)).await;
    // Three bytes a letter: the cut falls between letters.
    let long = format!("a{}", "世".repeat(EMBED_TEXT_BYTES_MAX / 3));
    let count = EMBED_BATCH_BYTES_MAX / EMBED_TEXT_BYTES_MAX + 3;
    let vectors = embed(&stand_in, &vec![long.as_str(); count]).await.unwrap();
    let cut = (EMBED_TEXT_BYTES_MAX - 1) / 3 * 3 + 1;
    assert_eq!(vectors, vec![vec![cut as f32, 1.0]; count]);
    assert_eq!(stand_in.asked().len(), 2);
}

#[tokio::test]
async fn nothing_to_embed_asks_nobody() {
    let stand_in = StandIn::start(|asked, _| backwards(asked)).await;
    assert_eq!(embed(&stand_in, &[]).await.unwrap(), Vec::<Vec<f32>>::new());
    assert_eq!(embed(&stand_in, &["a", ""]).await.unwrap_err().kind(), BadInput);
    let many = vec!["a"; EMBED_TEXTS_MAX + 1];
    assert_eq!(embed(&stand_in, &many).await.unwrap_err().kind(), BadInput);
    assert_eq!(stand_in.connections(), 0);
}

async fn check(reply: &'static str, kind: OutboundErrorKind, detail: &str) {
    let stand_in = StandIn::start(|_, _| answer("200 OK", &[], reply)).await;
    let error = embed(&stand_in, &["a", "b"]).await.unwrap_err();
    assert_eq!((error.kind(), error.detail().contains(detail)), (kind, true), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused() {
    let one = r#"{"data": [{"index": 0, "embedding": [1, 2]}]}"#;
    check(one, BadAnswer, "1 vectors for 2 texts").await;
    let three = r#"{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2]},
                             {"index": 2, "embedding": [1, 2]}]}"#;
    check(three, BadAnswer, "3 vectors for 2 texts").await;
    let size = r#"{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}"#;
    check(size, BadAnswer, "vectors of 1 numbers, not 2").await;
    let twice =
        r#"{"data": [{"index": 1, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2]}]}"#;
    check(twice, BadAnswer, "index 1 twice").await;
    let beyond =
        r#"{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 2, "embedding": [1, 2]}]}"#;
    check(beyond, BadAnswer, "index 2 twice, or beyond").await;
    let endless =
        r#"{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 1e39]}]}"#;
    // Refused when it is read or when it is looked at, by what the JSON reader makes of a number that large.
    check(endless, BadAnswer, "").await;
    let word = r#"{"data": [{"index": 0, "embedding": "sk-sesame"}]}"#;
    check(word, BadAnswer, "no such JSON at line 1").await;
    check("<html>", BadAnswer, "no such JSON at line 1").await;
    check("", BadAnswer, "no such JSON").await;
}

#[tokio::test]
async fn an_answer_larger_than_its_vectors_can_be_is_not_read() {
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
    let stand_in =
        StandIn::start(move |_, _| Reply::Endless { head: head.clone(), piece: vec![b' '; 65536] });
    let error = embed(&stand_in.await, &["a"]).await.unwrap_err();
    assert_eq!(error.kind(), AnswerTooLarge);
}

async fn check_refusal(code: &str, shown: &str) {
    let body = json!({ "error": {
        "message": "Incorrect API key provided: sk-sesame", "type": "invalid_request_error",
        "code": code,
    } });
    let body = body.to_string();
    let stand_in = StandIn::start(move |_, _| answer("401 No", &[], &body)).await;
    let error = embed(&stand_in, &["a"]).await.unwrap_err();
    assert_eq!(error.kind(), Status(401));
    assert!(error.detail().ends_with(&format!(": status 401, {shown}")), "{}", error.detail());
    let shown = format!("{error} {error:?} {:?}", endpoint(stand_in.url("/v1")));
    assert!(!shown.contains("sesame"), "{shown}");
}

#[tokio::test]
async fn a_refusal_says_why_without_repeating_the_key() {
    check_refusal("invalid_api_key", "invalid_api_key").await;
    check_refusal("sk-sesame", "invalid_request_error").await;
}

#[tokio::test]
async fn a_busy_endpoint_says_when_to_come_back() {
    let stand_in = StandIn::start(|_, _| answer("429 Slow", &["retry-after: 3"], "{}")).await;
    let error = embed(&stand_in, &["a"]).await.unwrap_err();
    assert_eq!((error.kind(), error.retry_after_ms()), (Status(429), Some(3_000)));
}

#[tokio::test]
async fn a_batch_that_fails_fails_the_call() {
    let stand_in = StandIn::start(|asked, number| match number {
        0 => backwards(asked),
        _ => answer("500 Oh", &[], ""),
    });
    let error = embed(&stand_in.await, &["a"; EMBED_BATCH_TEXTS_MAX + 1]).await.unwrap_err();
    assert_eq!(error.kind(), Status(500));
}
