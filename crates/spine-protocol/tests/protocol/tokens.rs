//! Counts that agree with OpenAI's tiktoken. `independent/check_tokens.py` checks the same numbers with tiktoken
//! itself.

use serde_json::Value;
use spine_protocol::{TokenizerName, count};

fn corpus() -> Vec<Value> {
    serde_json::from_str(include_str!("../../golden/tokens.json")).unwrap()
}

fn counted(tokenizer: TokenizerName, text: &str) -> u32 {
    count(&tokenizer, text).unwrap()
}

#[test]
fn counts_are_those_of_tiktoken() {
    for entry in corpus() {
        let text = entry["text"].as_str().unwrap();
        for tokenizer in [TokenizerName::O200kBase, TokenizerName::Cl100kBase] {
            let expected = entry[tokenizer.as_str()].as_u64().unwrap();
            assert_eq!(
                u64::from(counted(tokenizer.clone(), text)),
                expected,
                "{tokenizer} {text:?}"
            );
        }
    }
}

/// The error that `docs/protocol.md` states, on texts of at least 40 tokens: short ones have no average.
#[test]
fn the_estimate_keeps_to_its_stated_error() {
    let mut ratios = Vec::new();
    for entry in corpus().iter().filter(|entry| entry["kind"] != "noise") {
        let text = entry["text"].as_str().unwrap();
        let exact = f64::from(counted(TokenizerName::O200kBase, text));
        if exact >= 40.0 {
            let ratio = f64::from(counted(TokenizerName::Approx, text)) / exact;
            println!(
                "{:>5.2} {} {:?}",
                ratio,
                entry["kind"],
                text.chars().take(40).collect::<String>()
            );
            ratios.push(ratio);
        }
    }
    let (low, high) =
        ratios.iter().fold((f64::MAX, 0.0_f64), |(low, high), r| (low.min(*r), high.max(*r)));
    println!("estimate over exact: {low:.2} to {high:.2} on {} texts", ratios.len());
    assert!(ratios.len() >= 10 && low >= 0.9 && high <= 1.4, "{low:.2} to {high:.2}");
}

#[test]
fn an_unknown_tokenizer_is_named() {
    let error = count(&TokenizerName::from("llama3"), "x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "tokenizer \"llama3\" is not one of o200k_base, cl100k_base, approx"
    );
}
