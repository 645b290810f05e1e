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
    expect![[r#"
         1  A server is ready at http://127.0.0.1:PORT after N ms.
         2  Stored 5 memories about the payment gateway, then deleted ms-4.
         3  Handed to researcher in 349 tokens; ms-4 is missing and flagged (deleted), completeness 80 %.
         4  researcher is done and handed on to analyst in one step.
         5  analyst is done and handed on to coder.
         6  coder had accepted (attempt 1) when its process N was killed with SIGKILL.
         7  Its lease ran out, another coder got the same work (attempt 2) and finished it.
         8  reviewer approved at hop 4: the constraint language = python and the user's words arrived unchanged.
         9  A broadcast went to tester, documenter, auditor; their three results were joined for release-manager, who is done.
        10  deployer is down: 3 handoffs found nobody and parked, its breaker opened, a fourth was refused at once (try again at TIME).
        11  deployer is back: its breaker was reset, the 3 parked deliveries were requeued, and all are done.
        12  Verified 12 envelopes: intact. This is the trace:
        13  And these are the figures:"#]].assert_eq(&shown);
    assert!(played.out.contains("attempt with coder ended lease_expired"), "{}", played.out);
    assert!(played.out.contains("lacks ms-4 (deleted)"), "{}", played.out);
}
