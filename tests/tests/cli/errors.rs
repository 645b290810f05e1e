//! What is said, and with which code, when something is wrong.

use expect_test::{Expect, expect};

use crate::program::{House, program, ran};

fn check(house: &House, arguments: &[&str], expect: Expect) {
    expect.assert_eq(&house.run(arguments).shown());
}

#[test]
fn what_cannot_be_understood() {
    let house = House::open();
    check(&house, &["serach", "x"], expect![[]]);
    check(&house, &["search"], expect![[]]);
    check(&house, &["handoff", "coder", "x", "--constraint", "language"], expect![[]]);
    check(&house, &["receive", "coder", "--ack", "1", "--nack", "2"], expect![[]]);
    check(&house, &["search", "x", "--endpoint", "ftp://x"], expect![[]]);
    check(&house, &["search", "x", "--workspace", "a\nb"], expect![[]]);
    check(&house, &["bench", "load", "--duration", "9h"], expect![[]]);
    check(&house, &["bench", "load", "--target", "http://127.0.0.1:1"], expect![[]]);
}

#[test]
fn what_is_not_there_or_refused() {
    let house = House::open();
    let unknown = "env_01JHX5C3Q8V6YQJ2ZD0M4T7N9R";
    check(&house, &["trace", unknown], expect![[]]);
    check(&house, &["verify", unknown], expect![[]]);
    check(&house, &["parked", "show", "dlv_01JHX5C3Q8V6YQJ2ZD0M4T7N9R"], expect![[]]);
    check(&house, &["trace", "../memories"], expect![[]]);
    check(&house, &["store", "x", "--priority", "immense"], expect![[]]);
    check(&house, &["handoff", "coder", "x", "--max-tokens", "3", "--as", "lead"], expect![[]]);
    check(&house, &["receive", "coder", "--wait", "0"], expect![[]]);
}

#[test]
fn no_server() {
    // A port that was free a moment ago, on which nobody listens.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let shown = ran(program().args(["health", "--endpoint", &endpoint]), "").shown();
    expect![[]].assert_eq(&shown);
}
