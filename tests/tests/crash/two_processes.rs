//! Two processes on one folder.

use spine_sqlite::Options;
use spine_store::ErrorKind;
use spine_tests::House;

use crate::writer::{Writer, assert_clean};

#[test]
fn second_process_is_refused_until_the_first_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = Writer::start(folder.path(), 2, &[]);
    let mut acks = first.acks(10);
    let refused = House::open(folder.path(), Options::default()).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InUse);
    // The refusal did the first one no harm.
    acks.extend(first.acks(10));
    acks.extend(first.kill());
    assert_clean(folder.path(), &acks);
}
