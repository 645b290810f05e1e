//! Memories by their ids, and which ones a filter means.

use expect_test::{Expect, expect};

use crate::program::House;

fn check(house: &House, arguments: &[&str], expect: Expect) {
    let arguments = [&["memories"], arguments].concat();
    expect.assert_eq(&house.run(&arguments).shown());
}

/// Two, of which the first has all that a memory can have.
fn with_two() -> House {
    let house = House::open();
    let limit = "The gateway takes 100 requests a second.";
    let details = ["--title", "Limit", "--summary", "100/s", "--kind", "fact", "--tag", "api"];
    let more =
        ["--priority", "critical", "--thread", "talk-1", "--occurred-at", "2026-01-15T09:30:00Z"];
    let most = ["--meta", "source=docs", "--meta", "rank=3", "--author", "ada", "--pin"];
    let first = [&["store", limit][..], &details, &more, &most].concat();
    assert_eq!(house.run(&first).code, 0);
    let second = ["store", "Call me Bo.", "--subject", "user:1", "--as", "bo"];
    assert_eq!(house.run(&second).code, 0);
    house
}

#[test]
fn one_is_shown() {
    let house = with_two();
    check(
        &house,
        &["show", "ms-1"],
        expect![[r#"
        exit 0
        --- out
        ms-1  version 1  Limit
          kind         fact
          priority     critical
          pinned       yes
          tags         api
          author       ada
          thread       talk-1
          occurred_at  2026-01-15T09:30:00Z
          created_at   TIME
          updated_at   TIME
          metadata     {"rank":3,"source":"docs"}

        The gateway takes 100 requests a second.

        Summary: 100/s
    "#]],
    );
    check(
        &house,
        &["show", "ms-1", "--json"],
        expect![[r#"
        exit 0
        --- out
        {
          "id": "ms-1",
          "version": 1,
          "content": "The gateway takes 100 requests a second.",
          "title": "Limit",
          "author": "ada",
          "created_at": "TIME",
          "expires_at": null,
          "kind": "fact",
          "metadata": {
            "rank": 3,
            "source": "docs"
          },
          "occurred_at": "2026-01-15T09:30:00Z",
          "pinned": true,
          "priority": "critical",
          "subject": null,
          "summary": "100/s",
          "tags": [
            "api"
          ],
          "thread": "talk-1",
          "updated_at": "TIME"
        }
    "#]],
    );
}

#[test]
fn what_is_not_named_stays() {
    let house = with_two();
    check(
        &house,
        &["update", "ms-1", "It takes 200.", "--clear", "tags", "--meta", "rank=4"],
        expect![[r#"
            exit 0
            --- out
            ms-1 is at version 2, pinned
        "#]],
    );
    check(
        &house,
        &["show", "ms-1"],
        expect![[r#"
        exit 0
        --- out
        ms-1  version 2  Limit
          kind         fact
          priority     critical
          pinned       yes
          author       ada
          thread       talk-1
          occurred_at  2026-01-15T09:30:00Z
          created_at   TIME
          updated_at   TIME
          metadata     {"rank":4}

        It takes 200.

        Summary: 100/s
    "#]],
    );
}

#[test]
fn what_somebody_else_changed_is_not_overwritten() {
    let house = with_two();
    let update = |text| ["update", "ms-1", text, "--if-version", "1"];
    check(
        &house,
        &update("It takes 200."),
        expect![[r#"
        exit 0
        --- out
        ms-1 is at version 2, pinned
    "#]],
    );
    check(
        &house,
        &update("It takes 300."),
        expect![[r#"
        exit 4
        --- err
        memory-spine: ms-1 is at version 2, not 1: read it again and decide anew
    "#]],
    );
    check(
        &house,
        &["versions", "ms-1"],
        expect![[r#"
        exit 0
        --- out
        MEMORY  VERSION  KIND  AUTHOR  WRITTEN                   TEXT
        ms-1    1        fact  ada     TIME  Limit
        ms-1    2        fact  ada     TIME  Limit
    "#]],
    );
    let first = house.json(&["memories", "show", "ms-1", "--version", "1"]);
    assert_eq!(first["content"], "The gateway takes 100 requests a second.");
}

#[test]
fn several_are_pinned_and_deleted() {
    let house = with_two();
    check(
        &house,
        &["unpin", "ms-1"],
        expect![[r#"
        exit 0
        --- out
        ms-1 is at version 1
    "#]],
    );
    check(
        &house,
        &["pin", "ms-1", "ms-9", "ms-2"],
        expect![[r#"
        exit 3
        --- out
        ms-1 is at version 1, pinned
        ms-2 is at version 1, pinned
        --- err
        memory-spine: ms-9 is not there (not_found): check the id
    "#]],
    );
    check(
        &house,
        &["delete", "ms-1"],
        expect![[r#"
        exit 0
        --- out
        ms-1 is deleted
    "#]],
    );
    check(
        &house,
        &["show", "ms-1"],
        expect![[r#"
        exit 3
        --- err
        memory-spine: ms-1 is not there (deleted): check the id
    "#]],
    );
    check(
        &house,
        &["delete", "ms-8", "ms-1", "ms-9", "--purge"],
        expect![[r#"
        exit 3
        --- out
        ms-1 is purged
        --- err
        ms-8 is not there (not_found): check the id
        ms-9 is not there (not_found): check the id
        memory-spine: 2 of 3 could not be done
    "#]],
    );
}

#[test]
fn a_text_comes_from_standard_input_too() {
    let house = with_two();
    let changed = house.run_with(&["memories", "update", "ms-2", "-"], "Call me Bob.\n");
    assert_eq!((changed.code, changed.out.as_str()), (0, "ms-2 is at version 2\n"));
    assert_eq!(house.json(&["memories", "show", "ms-2"])["content"], "Call me Bob.\n");
}

#[test]
fn a_subject_is_erased_after_a_look() {
    let house = with_two();
    let erase = ["erase", "--subject", "user:1", "--why", "asked to be forgotten"];
    check(
        &house,
        &[&erase[..], &["--dry-run"]].concat(),
        expect![[r#"
        exit 0
        --- out
        would be erased: 1 memories · 0 envelopes · 0 lineages · 0 deliveries
    "#]],
    );
    assert_eq!(house.run(&["memories", "show", "ms-2"]).code, 0);
    check(
        &house,
        &erase,
        expect![[r#"
        exit 0
        --- out
        erased: 1 memories · 0 envelopes · 0 lineages · 0 deliveries
    "#]],
    );
    check(
        &house,
        &["show", "ms-2"],
        expect![[r#"
        exit 3
        --- err
        memory-spine: ms-2 is not there (purged): check the id
    "#]],
    );
}

#[test]
fn a_filter_says_which() {
    let house = with_two();
    let all = ["ms-2", "ms-1"];
    for (filter, expect) in [
        (&[][..], &all[..]),
        (&["--oldest", "--limit", "1"], &["ms-1"]),
        (&["--limit", "1"], &["ms-2"]),
        (&["--kind", "fact", "--kind", "rumour"], &["ms-1"]),
        (&["--kind", "rumour"], &[]),
        (&["--tag", "api"], &["ms-1"]),
        (&["--author", "bo"], &["ms-2"]),
        (&["--thread", "talk-1"], &["ms-1"]),
        (&["--subject", "user:1"], &["ms-2"]),
        (&["--pinned"], &["ms-1"]),
        (&["--until", "2026-01-15T09:30:00Z"], &[]),
        (&["--since", "2026-01-15T09:30:00Z", "--until", "2026-01-15T09:30:01Z"], &["ms-1"]),
    ] {
        let listed = house.json(&[&["memories", "list"], filter].concat());
        let listed = listed["memories"].as_array().unwrap().iter();
        let ids: Vec<&str> = listed.map(|memory| memory["id"].as_str().unwrap()).collect();
        assert_eq!(ids, expect, "{filter:?}");
        if !filter.contains(&"--limit") {
            let found = house.json(&[&["search", "gateway call me"], filter].concat());
            assert_eq!(found["hits"].as_array().unwrap().len(), expect.len(), "{filter:?}");
        }
    }
    check(
        &house,
        &["list"],
        expect![[r#"
        exit 0
        --- out
        MEMORY  VERSION  KIND  AUTHOR  WRITTEN                   TEXT
        ms-2    1        note  bo      TIME  Call me Bo.
        ms-1    1        fact  ada     TIME  Limit
    "#]],
    );
    check(
        &house,
        &["list", "--author", "nobody"],
        expect![[r#"
        exit 0
        --- out
        there are none
    "#]],
    );
}

#[test]
fn a_mistake_is_named() {
    let house = with_two();
    check(
        &house,
        &["list", "--since", "yesterday"],
        expect![[r#"
        exit 4
        --- err
        memory-spine: about_from: invalid value: string "yesterday", expected an RFC 3339 date and time such as `TIME`
    "#]],
    );
    check(
        &house,
        &["show", "first"],
        expect![[r#"
        exit 4
        --- err
        memory-spine: id: invalid value: string "first", expected a memory id such as `ms-4821`
    "#]],
    );
    check(
        &house,
        &["update", "ms-1", "--meta", "rank"],
        expect![[r#"
        exit 2
        --- err
        memory-spine: expected --meta NAME=VALUE, got "rank"
    "#]],
    );
    check(
        &house,
        &["update", "ms-1", "--priority", "urgent"],
        expect![[r#"
        exit 2
        --- err
        error: invalid value 'urgent' for '--priority <PRIORITY>'
          [possible values: low, normal, high, critical]

        For more information, try '--help'.
    "#]],
    );
    check(
        &house,
        &["erase", "--why", "asked"],
        expect![[r#"
        exit 2
        --- err
        error: the following required arguments were not provided:
          <--subject <SUBJECT>|--memory <ID>>

        Usage: memory_spine memories erase --why <WHY> <--subject <SUBJECT>|--memory <ID>>

        For more information, try '--help'.
    "#]],
    );
}
