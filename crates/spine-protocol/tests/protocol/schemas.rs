//! The JSON Schemas that are checked in are those of the types.

use expect_test::expect_file;
use spine_protocol::{Major, schema};

fn pretty(major: Major) -> String {
    serde_json::to_string_pretty(&schema(major)).unwrap() + "\n"
}

#[test]
fn schemas_have_not_drifted() {
    expect_file!["../../schema/envelope-v1.json"].assert_eq(&pretty(Major::V1));
    expect_file!["../../schema/envelope-v2.json"].assert_eq(&pretty(Major::V2));
}
