//! An OpenAI-compatible endpoint for summaries.

use serde_json::{Value, json};
use spine_outbound::OutboundErrorKind::{BadAnswer, BadInput, Status};
use spine_outbound::limits::SUMMARISE_TEXT_BYTES_MAX;
use spine_outbound::{Endpoint, OutboundError, TokensParameter};

use crate::stand_in::{StandIn, answer, local, outbound};

async fn summarise(
    stand_in: &StandIn,
    parameter: TokensParameter,
    text: &str,
) -> Result<String, OutboundError> {
    let endpoint = Endpoint { base_url: stand_in.url("/v1"), model: "chat".to_owned(), key: None };
    outbound(local()).summarise(&endpoint, parameter, text, 90).await
}

async fn stand_in(choices: Value) -> StandIn {
    let body = json!({ "choices": choices }).to_string();
    StandIn::start(move |_, _| answer("200 OK", &[], &body)).await
}

fn choice(finish_reason: Value, content: Value) -> Value {
    json!([{ "index": 0, "finish_reason": finish_reason,
             "message": { "role": "assistant", "content": content } }])
}

#[tokio::test]
async fn a_summary_is_what_the_model_wrote() {
    let stand_in = stand_in(choice(json!("stop"), json!("\n Short. \n"))).await;
    let summary = summarise(&stand_in, TokensParameter::MaxTokens, "Long.").await;
    assert_eq!(summary.unwrap(), "Short.");
    let asked = stand_in.asked().remove(0);
    assert!(asked.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", asked.head);
    let body = asked.json();
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("chat"), &json!(90)));
    assert!(body["messages"][0]["content"].as_str().unwrap().contains("at most 60 words"));
    assert_eq!(body["messages"][1], json!({ "role": "user", "content": "Long." }));
}

#[tokio::test]
async fn the_bound_has_the_name_that_the_endpoint_knows() {
    let stand_in = stand_in(choice(Value::Null, json!("Short."))).await;
    let newer = TokensParameter::MaxCompletionTokens;
    assert_eq!(summarise(&stand_in, newer, "Long.").await.unwrap(), "Short.");
    let body = stand_in.asked().remove(0).json();
    assert_eq!((&body["max_completion_tokens"], &body["max_tokens"]), (&json!(90), &Value::Null));
}

async fn check(choices: Value, detail: &str) {
    let stand_in = stand_in(choices).await;
    let error = summarise(&stand_in, TokensParameter::MaxTokens, "Long.").await.unwrap_err();
    assert_eq!((error.kind(), error.detail()), (BadAnswer, detail));
}

#[tokio::test]
async fn half_a_summary_is_none() {
    check(choice(json!("length"), json!("Sho")), "summary by chat: the summary was cut short")
        .await;
    let unfinished = "summary by chat: the model did not finish the summary";
    check(choice(json!("content_filter"), json!("Sho")), unfinished).await;
    check(choice(json!("stop"), json!("  ")), "summary by chat: an empty summary").await;
    check(choice(json!("stop"), Value::Null), "summary by chat: an empty summary").await;
    check(json!([]), "summary by chat: no choices").await;
}

#[tokio::test]
async fn a_text_beyond_the_limit_is_not_sent() {
    let stand_in = StandIn::start(|_, _| answer("500 Oh", &[], "")).await;
    let long = "a".repeat(SUMMARISE_TEXT_BYTES_MAX);
    let at = |text| summarise(&stand_in, TokensParameter::MaxTokens, text);
    assert_eq!(at(&long).await.unwrap_err().kind(), Status(500));
    assert_eq!(at(&format!("{long}a")).await.unwrap_err().kind(), BadInput);
    assert_eq!(stand_in.asked().len(), 1);
}
