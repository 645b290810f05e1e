//! The golden files: real envelopes with their renderings. Frozen at the first tagged release, then only added to.

use std::collections::BTreeMap;

use expect_test::expect_file;
use serde_json::{Value, json};
use spine_protocol::*;

use crate::story::story;

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

macro_rules! check_golden {
    ($name:literal, $envelope:expr) => {{
        let envelope: &Envelope = $envelope;
        let rendered = |format: Format| render(envelope, &format).unwrap();
        expect_file![concat!("../../golden/v2/", $name, ".json")]
            .assert_eq(&pretty(&envelope.to_value().unwrap()));
        expect_file![concat!("../../golden/v2/", $name, ".md")]
            .assert_eq(&rendered(Format::Markdown));
        expect_file![concat!("../../golden/v2/", $name, ".xml")].assert_eq(&rendered(Format::Xml));
        expect_file![concat!("../../golden/v2/", $name, ".reading.json")]
            .assert_eq(&rendered(Format::Json));
        let flat = serde_json::to_value(FlatEnvelope::of(envelope)).unwrap();
        expect_file![concat!("../../golden/v1/", $name, ".json")].assert_eq(&pretty(&flat));
    }};
}

#[test]
fn the_story_is_as_it_was() {
    let story = story();
    check_golden!("1-research", &story.research);
    check_golden!("2-analysis", &story.analysis);
    check_golden!("3-code", &story.code);
    check_golden!("3-tests", &story.tests);
    check_golden!("4-review", &story.review);
    check_golden!("erased", &story.analysis.without_texts(|id| id.number() == 4822).unwrap());
    check_golden!("newer-minor", &newer_minor(&story.analysis));
}

/// What a server of version 2.7 might send: new fields at every level, new words where words are open.
fn newer_minor(envelope: &Envelope) -> Envelope {
    let mut value = envelope.to_value().unwrap();
    value["protocol"] = json!("2.7");
    value["mood"] = json!({"nested": [1, 2.5, null]});
    value["task"]["state"]["confidence"] = json!(0.5);
    value["memories"][0]["source"] = json!("dreamt");
    value["memories"][0]["language"] = json!("en");
    value["constraints"][0]["severity"] = json!("hard");
    value["history"][0]["cost_usd"] = json!(0.02);
    value["digest"] = json!(digest_of(&value).unwrap());
    Envelope::read(&serde_json::to_vec(&value).unwrap()).unwrap()
}

#[test]
fn every_golden_envelope_is_read_verified_and_rendered_alike() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/v2");
    let mut lineage = BTreeMap::new();
    let mut read = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.ends_with(".json") || name.ends_with(".reading.json") {
            continue;
        }
        let envelope = Envelope::read(&std::fs::read(&path).unwrap())
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let markdown = std::fs::read_to_string(path.with_extension("md")).unwrap();
        assert_eq!(render(&envelope, &Format::Markdown).unwrap(), markdown, "{name}");
        read += 1;
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            lineage.insert(envelope.id, Record::Whole(envelope.canonical_bytes().to_vec()));
        }
    }
    assert!(read >= 7, "found {read}");
    assert_eq!(verify(&lineage, &[]).to_string(), "intact");
}

#[test]
fn what_the_story_tells_survives_to_its_end() {
    let review = story().review;
    assert!(review.task.intent.contains("Do NOT log card numbers"));
    assert!(review.is_overdue());
    let names: Vec<&str> = review.constraints.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["language", "forbid", "deadline", "style"]);
    assert_eq!(review.constraints[1].value, json!(["secrets", "card numbers in logs"]));
    assert_eq!(review.waived.len(), 1, "one branch waived the style; the other still carries it");
    let agents: Vec<&str> = review.history.iter().map(|step| step.agent.as_str()).collect();
    assert_eq!(agents, ["researcher", "analyst", "code-generator", "test-writer", "reviewer"]);
    assert_eq!(review.task.state.open_questions[0].answer.as_deref(), Some("yes, for 24 hours"));
    assert_eq!(review.hop, 4);
}

/// The block of a document that carries this label.
fn block<'a>(document: &'a str, label: &str) -> &'a str {
    let (_, from) = document.split_once(&format!("{label}\n")).unwrap();
    from.split_once("\n```").unwrap().0
}

#[test]
fn the_worked_example_of_the_documentation_is_right() {
    let document = include_str!("../../../../docs/protocol.md");
    let (envelope, canonical) =
        (block(document, "example-envelope"), block(document, "example-canonical"));
    let envelope = Envelope::read(envelope.as_bytes()).unwrap();
    assert_eq!(Digest::of(&[canonical.as_bytes()]), envelope.digest);
}
