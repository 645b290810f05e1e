//! Storing and finding.

use expect_test::{Expect, expect};

use crate::program::{House, Ran};

fn check(house: &House, arguments: &[&str], expect: Expect) {
    expect.assert_eq(&house.run(arguments).shown());
}

#[test]
fn memories_are_stored_and_found() {
    let house = House::open();
    let text = "The gateway takes 100 requests a second.";
    check(
        &house,
        &["store", text, "--title", "Limit", "--tag", "api"],
        expect![[r#"
        exit 0
        --- out
        ms-1 stored
    "#]],
    );
    check(
        &house,
        &["store", text, "--title", "Limit", "--tag", "api"],
        expect![[r#"
        exit 0
        --- out
        ms-1 was there already: nothing new was stored
    "#]],
    );
    let piped = house.run_with(&["store"], "Retries need an Idempotency-Key.\n");
    expect![[r#"
        exit 0
        --- out
        ms-2 stored
    "#]]
    .assert_eq(&piped.shown());
    check(
        &house,
        &["search", "requests a second", "--limit", "1"],
        expect![[r#"
        exit 0
        --- out
        ms-1  SCORE  Limit
            The gateway takes 100 requests a second.
    "#]],
    );
    check(
        &house,
        &["search", "requests", "--tag", "none"],
        expect![[r#"
        exit 0
        --- out
        nothing was found
    "#]],
    );
    check(
        &house,
        &["store", "another", "--json"],
        expect![[r#"
        exit 0
        --- out
        {
          "id": "ms-3",
          "version": 1,
          "content": "another",
          "title": null,
          "duplicate": false,
          "author": null,
          "created_at": "TIME",
          "expires_at": null,
          "kind": "note",
          "metadata": {},
          "occurred_at": null,
          "pinned": false,
          "priority": "normal",
          "subject": null,
          "summary": null,
          "tags": [],
          "thread": null,
          "updated_at": "TIME"
        }
    "#]],
    );
    check(
        &house,
        &["search", "gateway", "--limit", "1", "--json"],
        expect![[r#"
        exit 0
        --- out
        {
          "degraded": [],
          "hits": [
            {
              "memory": {
                "author": null,
                "content": "The gateway takes 100 requests a second.",
                "created_at": "TIME",
                "expires_at": null,
                "id": "ms-1",
                "kind": "note",
                "metadata": {},
                "occurred_at": null,
                "pinned": false,
                "priority": "normal",
                "subject": null,
                "summary": null,
                "tags": [
                  "api"
                ],
                "thread": null,
                "title": "Limit",
                "updated_at": "TIME",
                "version": 1
              },
              "parts": [],
              "score": SCORE
            }
          ]
        }
    "#]],
    );
}

/// A text that clears the screen, sets the title and turns letters round, in a memory and in JSON.
#[test]
fn a_hostile_text_is_inert() {
    let house = House::open();
    let hostile = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m red \u{202e}txt.exe\rover";
    assert_eq!(house.run_with(&["store", "-", "--title", hostile], hostile).code, 0);
    let envelope = house.hand_off(&["coder", "Use ms-1.", "--as", "analyst"]);
    let looks: [&[&str]; 6] = [
        &["search", "red"],
        &["search", "red", "--json"],
        &["trace", &envelope],
        &["handoff", "coder", hostile, "--no-send", "--as", "analyst"],
        &["receive", "coder", "--wait", "1"],
        &["trace", hostile],
    ];
    for look in looks {
        let ran = house.run(look);
        assert_eq!(steering(&ran), None, "{look:?} printed {:?}", ran.out + &ran.err);
    }
    check(
        &house,
        &["search", "red"],
        expect![[r#"
        exit 0
        --- out
        ms-1  SCORE  ⟨U+001B⟩[2J⟨U+001B⟩]0;owned⟨U+0007⟩⟨U+009B⟩31m red ⟨U+202E⟩txt.exe ⏎ over
            ⟨U+001B⟩[2J⟨U+001B⟩]0;owned⟨U+0007⟩⟨U+009B⟩31m red ⟨U+202E⟩txt.exe ⏎ over
    "#]],
    );
}

/// A character that moves the cursor, hides text or turns it round.
fn steering(ran: &Ran) -> Option<char> {
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let steers = |c: &char| (c.is_control() && *c != '\n' && *c != '\t') || turns(*c);
    ran.out.chars().chain(ran.err.chars()).find(steers)
}

/// Everything that a terminal or a page could be steered with, each in four kinds of surroundings.
fn hostile_texts() -> Vec<String> {
    let escapes = [
        "\u{1b}[2J",
        "\u{1b}]8;;http://evil.example\u{7}click\u{1b}]8;;\u{7}",
        "\u{1b}[8mhidden",
        "\u{1b}c",
    ];
    let markup =
        ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))"];
    let controls =
        ('\u{1}'..='\u{1f}').chain('\u{7f}'..='\u{9f}').filter(|c| !matches!(c, '\n' | '\t'));
    let turns = ('\u{202a}'..='\u{202e}')
        .chain('\u{2066}'..='\u{2069}')
        .chain(['\u{61c}', '\u{200e}', '\u{200f}']);
    let single = turns.chain(controls).map(String::from);
    let all: Vec<String> =
        escapes.iter().chain(&markup).map(ToString::to_string).chain(single).collect();
    let around = |n: usize, text: &str| match n % 4 {
        0 => format!("{text}word"),
        1 => format!("word{text}"),
        2 => format!("one {text} word {text}"),
        _ => format!("```\n{text}\n```"),
    };
    let surrounded =
        all.iter().enumerate().flat_map(|(n, text)| (0..4).map(move |k| around(n + k, text)));
    surrounded.take(200).collect()
}

#[test]
fn two_hundred_hostile_texts_are_inert() {
    let house = House::open();
    let texts = hostile_texts();
    assert_eq!(texts.len(), 200);
    for (number, text) in texts.iter().enumerate() {
        let title = format!("{number} {text}");
        let stored = house.run_with(&["store", "-", "--title", &title], text);
        assert_eq!((stored.code, steering(&stored)), (0, None), "{text:?}");
    }
    for look in [["search", "word", "--limit", "100"], ["search", "one word", "--limit", "100"]] {
        let ran = house.run(&look);
        assert_eq!((ran.code, steering(&ran)), (0, None), "{look:?} printed {:?}", ran.out);
    }
}
