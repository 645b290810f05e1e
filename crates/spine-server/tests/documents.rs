//! What is written down about the server is what the server does.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use spine_server::{ProblemKind, openapi, routes};

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

#[test]
fn the_description_that_is_checked_in_is_that_of_the_handlers() {
    let (file, fresh) = (docs().join("openapi.json"), format!("{:#}\n", openapi()));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, &fresh).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == fresh,
        "docs/openapi.json is out of date: renew it with UPDATE_EXPECT=1 cargo test -p spine-server, and read the difference"
    );
}

#[test]
fn every_problem_has_its_page_and_every_page_its_problem() {
    let pages: BTreeSet<String> = std::fs::read_dir(docs().join("errors"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().replace(".md", ""))
        .collect();
    let kinds: BTreeSet<String> =
        ProblemKind::ALL.iter().map(|kind| kind.slug().to_owned()).collect();
    assert_eq!(kinds, pages);
    for kind in ProblemKind::ALL {
        let page =
            std::fs::read_to_string(docs().join(format!("errors/{}.md", kind.slug()))).unwrap();
        let head = format!(
            "# {}\n\n`/errors/{}`, status {}\n",
            kind.title(),
            kind.slug(),
            kind.status().as_u16()
        );
        assert!(
            page.starts_with(&head),
            "docs/errors/{}.md should start with\n{head}",
            kind.slug()
        );
        assert!(page.contains("## What to do\n"));
    }
}

#[test]
fn every_route_has_a_name_of_its_own() {
    let ids: BTreeSet<&str> = routes().iter().map(|route| route.id).collect();
    assert_eq!(ids.len(), routes().len());
}
