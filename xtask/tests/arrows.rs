//! The arrows between the rooms are those of the table in ARCHITECTURE.md, and no others.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

struct Room {
    may_use: BTreeSet<String>,
    tests_may_use: BTreeSet<String>,
}

/// The rows `| crate | owns | may depend on | its tests also on |`.
fn table() -> BTreeMap<String, Room> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../ARCHITECTURE.md"))
        .unwrap();
    let (_, rooms) =
        text.split_once("## Rooms").expect("ARCHITECTURE.md has a section on its rooms");
    let rooms = rooms.split("\n## ").next().unwrap_or_default();
    let rows = rooms.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [room, _, may_use, tests] = cells.as_slice() else { panic!("four cells in {row}") };
        (
            names(room).into_iter().next().unwrap(),
            Room { may_use: names(may_use), tests_may_use: names(tests) },
        )
    })
    .collect()
}

fn names(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn packages() -> Vec<Value> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let output = Command::new(env!("CARGO")).args(arguments).output().unwrap();
    let metadata: Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn every_arrow_is_in_the_table() {
    let (table, packages) = (table(), packages());
    let ours: BTreeSet<&str> =
        packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let mut wrong = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let Some(room) = table.get(name) else {
            wrong.push(format!("{name} is not in the table of ARCHITECTURE.md"));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = dependency["name"].as_str().unwrap();
            let in_tests = dependency["kind"] == "dev" && room.tests_may_use.contains(to);
            if ours.contains(to) && to != name && !room.may_use.contains(to) && !in_tests {
                wrong.push(format!("{name} → {to} is not allowed by ARCHITECTURE.md"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_row_is_a_room_that_exists() {
    let packages = packages();
    let exists = |name: &String| packages.iter().any(|package| package["name"] == **name);
    let missing: Vec<String> = table().into_keys().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "rows without a room: {missing:?}");
}
