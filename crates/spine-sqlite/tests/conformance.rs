//! SQLite does what every store must.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;

use spine_sqlite::{Options, SqliteStore};
use spine_store::testing::conformance;

#[test]
fn sqlite_store_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let stores = Cell::new(0);
    conformance::run(|| {
        stores.set(stores.get() + 1);
        let path = folder.path().join(format!("{}.db", stores.get()));
        SqliteStore::open(&path, Options::default()).unwrap()
    });
}
