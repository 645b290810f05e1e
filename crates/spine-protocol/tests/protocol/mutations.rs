//! The readers take anything without a panic, and what they accept they write back alike.

use fastrand::Rng;
use spine_protocol::*;

use crate::random::*;

const SNIPPETS: &[&str] = &[
    "null",
    "{}",
    "[]",
    "\"\"",
    "-0",
    "1e999",
    "9007199254740993",
    "true",
    "\"\\ud800\"",
    "\"sha256:\"",
    "[[[[[[[[",
    "}}",
    ",",
    ":",
    "\"id\":",
    "\u{202e}",
    "\"protocol\":\"3.0\"",
    "0.1",
    "-1",
    "4294967296",
    "\"broadcast\"",
    "\"deadline\"",
];

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.usize(1..6) {
        let at = rng.usize(..=bytes.len());
        match rng.u8(..6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(..8),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => drop(bytes.splice(at..at, pick(rng, SNIPPETS).bytes())),
            3 => bytes.truncate(at),
            4 => {
                let end = (at + rng.usize(..40)).min(bytes.len());
                bytes.splice(at..end, pick(rng, SNIPPETS).bytes());
            }
            _ => {
                let end = (at + rng.usize(..40)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = rng.usize(..=bytes.len());
                bytes.splice(to..to, copy);
            }
        }
    }
}

/// Replaces one value in a valid document and mends the digest, to get past the first line of defence.
fn replace_a_value(rng: &mut Rng, envelope: &Envelope) -> Vec<u8> {
    let mut value = envelope.to_value().unwrap();
    let mut pointers = Vec::new();
    collect_pointers(&value, "", &mut pointers);
    let pointer = &pointers[rng.usize(..pointers.len())];
    *value.pointer_mut(pointer).unwrap() = crate::random::value(rng, 2);
    if let Some(digest) = digest_of(&value).ok().filter(|_| value.is_object()) {
        value["digest"] = serde_json::json!(digest);
    }
    serde_json::to_vec(&value).unwrap()
}

fn collect_pointers(value: &serde_json::Value, pointer: &str, all: &mut Vec<String>) {
    all.push(pointer.to_owned());
    match value {
        serde_json::Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, item)| collect_pointers(item, &format!("{pointer}/{i}"), all));
        }
        serde_json::Value::Object(members) => members.iter().for_each(|(name, member)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            collect_pointers(member, &format!("{pointer}/{name}"), all);
        }),
        _ => {}
    }
}

fn feed(bytes: &[u8]) -> bool {
    let _ = FlatEnvelope::read(bytes);
    let Ok(envelope) = Envelope::read(bytes) else { return false };
    let again = Envelope::read(envelope.canonical_bytes()).unwrap();
    assert_eq!(again.canonical_bytes(), envelope.canonical_bytes());
    for format in [Format::Markdown, Format::Xml, Format::Json] {
        render(&envelope, &format).unwrap();
    }
    true
}

/// 10,000 inputs in the normal run, 1,000,000 under soak.
#[test]
fn readers_take_generated_and_mutated_input_without_a_panic() {
    let accepted = std::cell::Cell::new(0_u64);
    property("mutations", 500, |rng| {
        let envelope = root(rng);
        for _ in 0..10 {
            let mut bytes = envelope.canonical_bytes().to_vec();
            mutate(rng, &mut bytes);
            accepted.set(accepted.get() + u64::from(feed(&bytes)));
            let bytes = replace_a_value(rng, &envelope);
            accepted.set(accepted.get() + u64::from(feed(&bytes)));
        }
    });
    println!("accepted {} of {} inputs", accepted.get(), cases(500) * 20);
    assert!(accepted.get() > 0, "the mutations never get past the first check");
}
