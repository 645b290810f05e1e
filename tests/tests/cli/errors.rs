//! What is said, and with which code, when something is wrong.

use expect_test::{Expect, expect};

use crate::program::{House, program, ran};

fn check(house: &House, arguments: &[&str], expect: Expect) {
    expect.assert_eq(&house.run(arguments).shown());
}

#[test]
fn what_cannot_be_understood() {
    let house = House::open();
    check(
        &house,
        &["serach", "x"],
        expect![[r#"
        exit 2
        --- err
        error: unrecognized subcommand 'serach'

          tip: some similar subcommands exist: 'serve', 'trace', 'bench', 'search'

        Usage: memory_spine [OPTIONS] <COMMAND>

        For more information, try '--help'.
    "#]],
    );
    check(
        &house,
        &["search"],
        expect![[r#"
        exit 2
        --- err
        error: the following required arguments were not provided:
          <QUERY>

        Usage: memory_spine search <QUERY>

        For more information, try '--help'.
    "#]],
    );
    check(
        &house,
        &["handoff", "coder", "x", "--constraint", "language"],
        expect![[r#"
        exit 2
        --- err
        memory-spine: expected --constraint NAME=VALUE, got "language"
    "#]],
    );
    check(
        &house,
        &["receive", "coder", "--ack", "1", "--nack", "2"],
        expect![[r#"
        exit 2
        --- err
        error: the argument '--ack <RESULT>' cannot be used with '--nack <REASON>'

        Usage: memory_spine receive --ack <RESULT> <RECEIVER>

        For more information, try '--help'.
    "#]],
    );
    check(
        &house,
        &["search", "x", "--endpoint", "ftp://x"],
        expect![[r#"
            exit 2
            --- err
            memory-spine: endpoint: expected an address such as http://127.0.0.1:PORT or https://spine.example.com, got "ftp://x"
        "#]],
    );
    check(
        &house,
        &["search", "x", "--workspace", "a\nb"],
        expect![[r#"
        exit 2
        --- err
        memory-spine: memory-spine-workspace: it holds a character that cannot be sent in a header
    "#]],
    );
    check(
        &house,
        &["bench", "load", "--duration", "9h"],
        expect![[r#"
        exit 2
        --- err
        error: invalid value '9h' for '--duration <DURATION>': expected the unit ms, s or m

        For more information, try '--help'.
    "#]],
    );
    check(
        &house,
        &["bench", "load", "--target", "http://127.0.0.1:1"],
        expect![[r#"
        exit 2
        --- err
        error: the following required arguments were not provided:
          --yes

        Usage: memory_spine bench load --yes --target <URL>

        For more information, try '--help'.
    "#]],
    );
}

#[test]
fn what_is_not_there_or_refused() {
    let house = House::open();
    let unknown = "env_01JHX5C3Q8V6YQJ2ZD0M4T7N9R";
    check(
        &house,
        &["trace", unknown],
        expect![[r#"
        exit 3
        --- err
        memory-spine: envelope env_… does not exist: check its name and the workspace
    "#]],
    );
    check(
        &house,
        &["verify", unknown],
        expect![[r#"
        exit 3
        --- err
        memory-spine: envelope env_… does not exist: give the id of an envelope of this workspace
    "#]],
    );
    check(
        &house,
        &["parked", "show", "dlv_01JHX5C3Q8V6YQJ2ZD0M4T7N9R"],
        expect![[r#"
        exit 3
        --- err
        memory-spine: delivery dlv_… does not exist: check the id and the workspace
    "#]],
    );
    check(
        &house,
        &["trace", "../memories"],
        expect![[r#"
        exit 4
        --- err
        memory-spine: id: invalid value: string "../memories", expected an envelope id such as `env_…`
    "#]],
    );
    check(
        &house,
        &["store", "x", "--priority", "immense"],
        expect![[r#"
            exit 2
            --- err
            error: invalid value 'immense' for '--priority <PRIORITY>'
              [possible values: low, normal, high, critical]

            For more information, try '--help'.
        "#]],
    );
    check(
        &house,
        &["handoff", "coder", "x", "--max-tokens", "3", "--as", "lead"],
        expect![[r#"
        exit 4
        --- err
        memory-spine: this handoff needs 69 tokens and its budget is 3: frame 36, task 7, intent 26; raise max_tokens, or say less
    "#]],
    );
    check(
        &house,
        &["receive", "coder", "--wait", "0"],
        expect![[r#"
        exit 6
        --- err
        memory-spine: nothing came for coder within 0 s
    "#]],
    );
}

#[test]
fn no_server() {
    // A port that was free a moment ago, on which nobody listens.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let shown = ran(program().args(["health", "--endpoint", &endpoint]), "").shown();
    expect![[r#"
        exit 5
        --- err
        memory-spine: no server answers at http://127.0.0.1:PORT (Connection refused (os error 111)): start one with `memory-spine serve`, or say where it is with --endpoint or MEMORY_SPINE_ENDPOINT
    "#]].assert_eq(&shown);
}
