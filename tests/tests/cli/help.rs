//! What `--help` says, of every command, and what shells complete.

use expect_test::expect_file;

use crate::program::{program, ran};

const COMMANDS: &[&[&str]] = &[
    &[],
    &["serve"],
    &["demo"],
    &["store"],
    &["search"],
    &["memories"],
    &["memories", "list"],
    &["memories", "show"],
    &["memories", "update"],
    &["memories", "delete"],
    &["memories", "erase"],
    &["handoff"],
    &["receive"],
    &["trace"],
    &["verify"],
    &["parked"],
    &["parked", "list"],
    &["parked", "show"],
    &["parked", "requeue"],
    &["parked", "resolve"],
    &["parked", "discard"],
    &["agents"],
    &["agents", "breaker"],
    &["health"],
    &["export"],
    &["import"],
    &["bench", "load"],
    &["mcp"],
    &["inbox"],
    &["completions"],
];

#[test]
fn every_command_says_what_it_does() {
    let mut all = String::new();
    for command in COMMANDS {
        let shown = ran(program().args(*command).arg("--help"), "");
        assert_eq!((shown.code, shown.err.as_str()), (0, ""), "{command:?}");
        all.push_str(&format!(
            "$ memory-spine {}\n{}\n",
            [command, &["--help"][..]].concat().join(" "),
            shown.out
        ));
    }
    expect_file!["help.txt"].assert_eq(&all);
}

#[test]
fn shells_complete() {
    for shell in ["bash", "zsh", "fish"] {
        let shown = ran(program().args(["completions", shell]), "");
        assert!(shown.code == 0 && shown.out.contains("requeue"), "{shell}");
    }
}
