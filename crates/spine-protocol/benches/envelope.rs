//! What an envelope of some 4,000 tokens costs: `cargo xtask bench protocol`.
#![allow(clippy::unwrap_used, missing_docs)]

use divan::{Bencher, black_box};
use serde_json::json;
use spine_protocol::*;

fn main() {
    let envelope = envelope();
    println!(
        "envelope: {} tokens, {} bytes",
        envelope.assembly.tokens,
        envelope.canonical_bytes().len()
    );
    divan::main();
}

fn stamp(n: u64) -> Stamp {
    let unix_ms = 1_768_469_400_000 + n;
    Stamp {
        id: EnvelopeId::from_parts(unix_ms, 7),
        created_at: Timestamp::from_unix_ms(unix_ms as i64).unwrap(),
    }
}

fn request() -> Request {
    let mut request = Request::new(
        "default".parse().unwrap(),
        "analyst".parse().unwrap(),
        "code-generator".parse().unwrap(),
        "Implement the retry logic for the payment gateway with exponential backoff and jitter.",
    );
    request.constraints = (0..8).map(constraint).collect();
    request.history = (0..12).map(step).collect();
    request
}

fn constraint(n: usize) -> NewConstraint {
    NewConstraint {
        name: format!("rule-{n}").parse().unwrap(),
        value: json!("no plaintext credentials"),
        scope: Scope::Lineage,
    }
}

fn step(n: u64) -> NewHistory {
    NewHistory {
        agent: "researcher".parse().unwrap(),
        action: format!("gathered part {n} of the API documentation"),
        why: Some("the failure modes differ by endpoint".into()),
        memory_id: MemoryId::new(4800 + n),
        result_digest: None,
        at: None,
    }
}

fn memory(n: u64) -> PackedMemory {
    let line = format!(
        "Endpoint {n} answers 502 under load; a timeout says nothing about whether the charge was made.\n"
    );
    PackedMemory {
        id: MemoryId::new(4800 + n).unwrap(),
        version: 1,
        detail: Detail::Full,
        title: Some(format!("Failure mode {n}")),
        text: Some(line.repeat(7)),
        salt: Some(Salt::from_random(n.into())),
        text_digest: None,
        priority: Priority::Normal,
        source: Source::Mentioned,
        relevance: Some(0.5),
        tokens: 150,
        created_at: Timestamp::from_unix_ms(1_768_000_000_000).unwrap(),
        occurred_at: None,
        author: None,
        unknown: Unknown::new(),
    }
}

fn packing() -> Packing {
    Packing { memories: (1..=17).map(memory).collect(), ..Packing::default() }
}

fn envelope() -> Envelope {
    derive(&[], request(), stamp(0)).unwrap().seal(packing()).unwrap()
}

#[divan::bench]
fn parse_and_verify(bencher: Bencher) {
    let bytes = envelope().canonical_bytes().to_vec();
    bencher.bench(|| Envelope::read(black_box(&bytes)).unwrap());
}

#[divan::bench]
fn digest(bencher: Bencher) {
    let value = envelope().to_value().unwrap();
    bencher.bench(|| digest_of(black_box(&value)).unwrap());
}

#[divan::bench]
fn derive_child(bencher: Bencher) {
    let parent = [envelope()];
    let next = || Request { constraints: Vec::new(), ..request() };
    bencher.with_inputs(next).bench_values(|request| derive(&parent, request, stamp(1)).unwrap());
}

#[divan::bench]
fn seal_child(bencher: Bencher) {
    let unsealed = derive(&[], request(), stamp(0)).unwrap();
    bencher
        .with_inputs(|| (unsealed.clone(), packing()))
        .bench_values(|(unsealed, packing)| unsealed.seal(packing).unwrap());
}

#[divan::bench(args = ["markdown", "xml", "json"])]
fn render_as(bencher: Bencher, format: &str) {
    let (envelope, format) = (envelope(), Format::from(format));
    bencher.bench(|| render(black_box(&envelope), &format).unwrap());
}

#[divan::bench(args = ["o200k_base", "cl100k_base", "approx"])]
fn count_with(bencher: Bencher, tokenizer: &str) {
    let (text, tokenizer) =
        (render(&envelope(), &Format::Markdown).unwrap(), TokenizerName::from(tokenizer));
    bencher.bench(|| count(&tokenizer, black_box(&text)).unwrap());
}

#[divan::bench]
fn verify_lineage_of_ten(bencher: Bencher) {
    let mut chain = vec![envelope()];
    for n in 1..10 {
        let last = chain.last().unwrap().clone();
        let next = Request { constraints: Vec::new(), history: Vec::new(), ..request() };
        chain.push(derive(&[last], next, stamp(n)).unwrap().seal(packing()).unwrap());
    }
    let records =
        chain.iter().map(|e| (e.id, Record::Whole(e.canonical_bytes().to_vec()))).collect();
    bencher.bench(|| verify(black_box(&records), &[]));
}
