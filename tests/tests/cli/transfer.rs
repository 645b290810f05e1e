//! A workspace written down, and taken in elsewhere.

use expect_test::expect;

use crate::program::House;

#[test]
fn a_workspace_moves_to_another_server() {
    let (from, to) = (House::open(), House::open());
    for text in ["one fact", "another fact", "a third\nin two lines"] {
        assert_eq!(from.run(&["store", text, "--tag", "t", "--pin"]).code, 0);
    }
    let envelope = from.hand_off(&["coder", "Use ms-1.", "--as", "analyst"]);
    let next = from.hand_off(&["reviewer", "Review.", "--parent", &envelope, "--as", "coder"]);
    let file = from.folder.path().join("all.jsonl");
    let file = file.to_str().unwrap();
    expect![[r#"
        exit 0
        --- err
        3 memories and 2 envelopes written
    "#]]
    .assert_eq(&from.run(&["export", file]).shown());
    expect![[r#"
        exit 1
        --- err
        memory-spine: FOLDER/all.jsonl: File exists (os error 17)
    "#]]
    .assert_eq(&from.run(&["export", file]).shown());
    expect![[r#"
        exit 0
        --- out
        3 memories (0 were there already) and 2 envelopes taken in
    "#]]
    .assert_eq(&to.run(&["import", file]).shown());
    expect![[r#"
        exit 0
        --- out
        3 memories (3 were there already) and 2 envelopes taken in
    "#]]
    .assert_eq(&to.run(&["import", file]).shown());
    assert_eq!(to.json(&["verify", &next])["envelopes"], 2);
    let (before, after) = (from.run(&["export"]).out, to.run(&["export"]).out);
    let texts = |all: &str| {
        let lines =
            all.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines
            .map(|mut line| {
                for name in ["created_at", "updated_at"] {
                    line["memory"].as_object_mut().map(|memory| memory.remove(name));
                }
                line
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&before), texts(&after), "what was taken in is what was written down");
}

#[test]
fn a_file_that_is_none_is_refused_by_its_line() {
    let house = House::open();
    expect![[r#"
        exit 1
        --- err
        memory-spine: line 2: expected a record of type memory or envelope, as `memory-spine export` writes them
    "#]].assert_eq(
        &house
            .run_with(&["import"], "{\"type\":\"memory-spine-export\"}\n{\"type\":\"other\"}\n")
            .shown(),
    );
    expect![[r#"
        exit 1
        --- err
        memory-spine: line 1: expected ident at line 1 column 2
    "#]]
    .assert_eq(&house.run_with(&["import"], "no JSON\n").shown());
    expect![[r#"
        exit 1
        --- err
        memory-spine: missing.jsonl: No such file or directory (os error 2)
    "#]]
    .assert_eq(&house.run(&["import", "missing.jsonl"]).shown());
}
