//! The demonstration: it checks itself against the server; this checks that it says everything it must.

use expect_test::expect;
use regex::Regex;

use crate::program::{program, ran};

#[test]
fn the_demonstration_plays() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = program();
    command.arg("--data").arg(folder.path()).args(["demo", "--once"]);
    let played = ran(&mut command, "");
    assert_eq!(played.code, 0, "{}{}", played.out, played.err);
    let steps = Regex::new(r"(?m)^ ?\d+  .*$").unwrap();
    let steps: Vec<&str> = steps.find_iter(&played.out).map(|found| found.as_str()).collect();
    let shown = crate::program::masked(&steps.join("\n"));
    expect![[]].assert_eq(&shown);
    assert!(played.out.contains("attempt with coder ended lease_expired"), "{}", played.out);
    assert!(played.out.contains("lacks ms-4 (deleted)"), "{}", played.out);
}
