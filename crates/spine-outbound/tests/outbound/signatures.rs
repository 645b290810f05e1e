//! Signing and verifying.

use expect_test::expect_file;
use serde_json::json;
use spine_outbound::SignatureError::{NotRecent, Wrong};
use spine_outbound::limits::SIGNATURE_AGE_S_MAX;
use spine_outbound::{Message, WebhookSecret, sign, verify};

const SECRETS: &[&str] = &[
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    "whsec_//////////////////////////////////////////8=",
    "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==",
];

const BODIES: &[&str] = &["", "{\"test\": 2432232314}", "a.b.c\n\r\0", "Grüße, 世界 🌍"];

fn secret() -> WebhookSecret {
    WebhookSecret::parse(SECRETS[0]).unwrap()
}

/// The file is checked by `independent/check_signatures.py` with another implementation.
#[test]
fn signatures_are_those_on_file() {
    let mut cases = Vec::new();
    for (number, text) in SECRETS.iter().enumerate() {
        let secret = WebhookSecret::parse(text).unwrap();
        assert_eq!(secret.reveal(), *text);
        for body in BODIES {
            let id = format!("msg_{number}");
            let timestamp_s = 1_614_265_330 + number as u64;
            let message = Message { id: &id, timestamp_s, body: body.as_bytes() };
            let signature = sign(&secret, message).unwrap();
            cases.push(json!({
                "secret": text, "id": id, "timestamp": timestamp_s, "body": body,
                "signature": signature,
            }));
        }
    }
    let text = serde_json::to_string_pretty(&cases).unwrap() + "\n";
    expect_file!["../../golden/signatures.json"].assert_eq(&text);
}

#[test]
fn a_message_verifies_as_it_was_signed_and_not_otherwise() {
    let message = Message { id: "msg_1", timestamp_s: 1_000_000, body: b"{}" };
    let signature = sign(&secret(), message).unwrap();
    let check = |message, signature: &str| verify(&secret(), message, signature, 1_000_000);
    assert_eq!(check(message, &signature), Ok(()));
    assert_eq!(check(message, &format!("v1a,xyz v1,AAAA {signature}")), Ok(()));
    assert_eq!(check(Message { id: "msg_2", ..message }, &signature), Err(Wrong));
    assert_eq!(check(Message { body: b"{} ", ..message }, &signature), Err(Wrong));
    assert_eq!(check(Message { timestamp_s: 1_000_001, ..message }, &signature), Err(Wrong));
    let other = WebhookSecret::parse(SECRETS[1]).unwrap();
    assert_eq!(verify(&other, message, &signature, 1_000_000), Err(Wrong));
    for broken in
        ["", "v1,", "v1", &signature[3..], &signature[..10], "v2,AAAA", &"v1,A ".repeat(99)]
    {
        assert_eq!(check(message, broken), Err(Wrong), "{broken}");
    }
}

#[test]
fn a_message_is_believed_for_five_minutes() {
    let message = Message { id: "msg_1", timestamp_s: 1_000_000, body: b"{}" };
    let signature = sign(&secret(), message).unwrap();
    let at = |now_s| verify(&secret(), message, &signature, now_s);
    assert_eq!(at(1_000_000 + SIGNATURE_AGE_S_MAX), Ok(()));
    assert_eq!(at(1_000_000 - SIGNATURE_AGE_S_MAX), Ok(()));
    assert_eq!(at(1_000_001 + SIGNATURE_AGE_S_MAX), Err(NotRecent));
    assert_eq!(at(999_999 - SIGNATURE_AGE_S_MAX), Err(NotRecent));
}

/// `a.1` at 2 and `a` at 1.2 would be the same bytes.
#[test]
fn ids_that_could_be_read_in_two_ways_are_not_signed() {
    for id in ["", "a.1", "a b", "é", "a\n", &"a".repeat(257)] {
        let message = Message { id, timestamp_s: 2, body: b"" };
        assert!(sign(&secret(), message).is_err(), "{id:?}");
    }
}

#[test]
fn secrets_are_of_the_usual_form_and_size() {
    let (short, long) = ("A".repeat(28), "A".repeat(88));
    let whole = |encoded: &str| format!("whsec_{encoded}");
    for text in ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_?", &whole(&short), &whole(&long)] {
        let error = WebhookSecret::parse(text).unwrap_err();
        assert!(text.is_empty() || !error.detail().contains(text), "{}", error.detail());
    }
    assert!(WebhookSecret::from_bytes(vec![0; 24]).is_ok());
    assert!(WebhookSecret::from_bytes(vec![0; 64]).is_ok());
}
