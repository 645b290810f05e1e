//! Parked work, agents, health.

use expect_test::{Expect, expect};

use crate::program::House;

fn check(house: &House, arguments: &[&str], expect: Expect) {
    expect.assert_eq(&house.run(arguments).shown());
}

/// Three deliveries that somebody set aside, by their ids.
fn parked(house: &House) -> Vec<String> {
    for place in ["staging", "the EU", "the US"] {
        let envelope =
            house.hand_off(&["deployer", &format!("Deploy to {place}."), "--as", "lead"]);
        assert_eq!(
            house.run(&["parked", "add", &envelope, "--why", "the deployer is away"]).code,
            0
        );
    }
    let list = house.json(&["parked", "list"]);
    let ids = list["deliveries"].as_array().unwrap().iter();
    ids.map(|delivery| delivery["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn parked_work_is_reviewed() {
    let house = House::open();
    check(&house, &["parked", "list"], expect![[]]);
    let ids = parked(&house);
    check(&house, &["parked", "list"], expect![[]]);
    check(&house, &["parked", "show", &ids[0]], expect![[]]);
    check(
        &house,
        &["parked", "resolve", &ids[0], "--result", "deployed by hand", "--as", "lead"],
        expect![[]],
    );
    check(
        &house,
        &["parked", "resolve", &ids[0], "--result", "again", "--as", "other"],
        expect![[]],
    );
    check(&house, &["parked", "requeue"], expect![[]]);
    check(&house, &["parked", "requeue", "--target", "deployer", "--dry-run"], expect![[]]);
    check(&house, &["parked", "requeue", "--reason", "away", "--to", "operator"], expect![[]]);
    check(&house, &["parked", "discard", &ids[1], &ids[2], "--why", "not wanted"], expect![[]]);
    let again = house.json(&["handoff", "deployer", "Deploy once more.", "--as", "lead"]);
    let envelope = again["handoff"]["id"].as_str().unwrap();
    check(&house, &["parked", "add", envelope, "--why", "a freeze"], expect![[]]);
    check(&house, &["parked", "discard", "--all", "--why", "the freeze stays"], expect![[]]);
}

#[test]
fn agents_and_health_are_shown() {
    let house = House::open();
    check(&house, &["health"], expect![[]]);
    parked(&house);
    house.hand_off(&["coder", "Write it.", "--as", "lead"]);
    check(&house, &["agents", "pause", "coder"], expect![[]]);
    check(&house, &["agents", "breaker", "deployer", "open"], expect![[]]);
    check(&house, &["agents", "list"], expect![[]]);
    check(&house, &["health"], expect![[]]);
    check(&house, &["health", "--json"], expect![[]]);
    check(&house, &["agents", "breaker", "deployer", "reset"], expect![[]]);
    check(&house, &["agents", "resume", "coder"], expect![[]]);
    assert_eq!(house.json(&["agents", "list"])["agents"][0]["breaker"]["state"], "closed");
}
