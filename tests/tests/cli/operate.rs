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
    check(
        &house,
        &["parked", "list"],
        expect![[r#"
        exit 0
        --- out
        nothing is parked
    "#]],
    );
    let ids = parked(&house);
    check(
        &house,
        &["parked", "list"],
        expect![[r#"
        exit 0
        --- out
        DELIVERY                        AGENT     CAUSE  REASON
        dlv_…  deployer  asked  the deployer is away
        dlv_…  deployer  asked  the deployer is away
        dlv_…  deployer  asked  the deployer is away
    "#]],
    );
    check(
        &house,
        &["parked", "show", &ids[0]],
        expect![[r#"
        exit 0
        --- out
        dlv_… to deployer is parked
          parked, asked: the deployer is away

        # Handoff from lead to deployer

        Hop 1 of 10 · priority normal · made TIME

        ## Your task

        > Deploy to staging.

        ## The user's request, word for word

        Taken from the first handoff's summary.

        ```user-request
        Deploy to staging.
        ```
    "#]],
    );
    check(
        &house,
        &["parked", "resolve", &ids[0], "--result", "deployed by hand", "--as", "lead"],
        expect![[r#"
            exit 0
            --- out
            dlv_… to deployer is done
        "#]],
    );
    check(
        &house,
        &["parked", "resolve", &ids[0], "--result", "again", "--as", "other"],
        expect![[r#"
            exit 4
            --- err
            memory-spine: dlv_… is done, not parked: somebody else may have reviewed it; read it again
        "#]],
    );
    check(
        &house,
        &["parked", "requeue"],
        expect![[r#"
        exit 2
        --- err
        memory-spine: name deliveries, a filter such as --target AGENT, or --all; --dry-run shows which ones it would be
    "#]],
    );
    check(
        &house,
        &["parked", "requeue", "--target", "deployer", "--dry-run"],
        expect![[r#"
        exit 0
        --- out
        dlv_…
        dlv_…
        2 would be taken by requeue; nothing was done
    "#]],
    );
    check(
        &house,
        &["parked", "requeue", "--reason", "away", "--to", "operator"],
        expect![[r#"
        exit 0
        --- out
        dlv_…
        dlv_…
        requeue: 2 done, 0 reviewed by somebody else first
    "#]],
    );
    check(
        &house,
        &["parked", "discard", &ids[1], &ids[2], "--why", "not wanted"],
        expect![[r#"
            exit 4
            --- err
            dlv_… is pending, not parked: somebody else may have reviewed it; read it again
            dlv_… is pending, not parked: somebody else may have reviewed it; read it again
            memory-spine: 2 of 2 could not be done
        "#]],
    );
    let again = house.json(&["handoff", "deployer", "Deploy once more.", "--as", "lead"]);
    let envelope = again["handoff"]["id"].as_str().unwrap();
    check(
        &house,
        &["parked", "add", envelope, "--why", "a freeze"],
        expect![[r#"
        exit 0
        --- out
        dlv_… to deployer is parked
    "#]],
    );
    check(
        &house,
        &["parked", "discard", "--all", "--why", "the freeze stays"],
        expect![[r#"
        exit 0
        --- out
        dlv_…
        discard: 1 done, 0 reviewed by somebody else first
    "#]],
    );
}

#[test]
fn agents_and_health_are_shown() {
    let house = House::open();
    check(
        &house,
        &["health"],
        expect![[r#"
        exit 0
        --- out
        0 agents · 0 pending · 0 in hands · 0 parked
    "#]],
    );
    parked(&house);
    house.hand_off(&["coder", "Write it.", "--as", "lead"]);
    check(
        &house,
        &["agents", "pause", "coder"],
        expect![[r#"
        exit 0
        --- out
        AGENT  PENDING  LEASED  ACCEPTED  PARKED  BREAKER  STATE
        coder  1        0       0         0       closed   paused
    "#]],
    );
    check(
        &house,
        &["agents", "breaker", "deployer", "open"],
        expect![[r#"
        exit 0
        --- out
        AGENT     PENDING  LEASED  ACCEPTED  PARKED  BREAKER         STATE
        deployer  0        0       0         3       open (by hand)  ready
    "#]],
    );
    check(
        &house,
        &["agents", "list"],
        expect![[r#"
        exit 0
        --- out
        AGENT     PENDING  LEASED  ACCEPTED  PARKED  BREAKER         STATE
        coder     1        0       0         0       closed          paused
        deployer  0        0       0         3       open (by hand)  ready
    "#]],
    );
    check(
        &house,
        &["health"],
        expect![[r#"
        exit 0
        --- out
        2 agents · 1 pending · 0 in hands · 3 parked
        AGENT     PENDING  LEASED  ACCEPTED  PARKED  BREAKER         STATE
        coder     1        0       0         0       closed          paused
        deployer  0        0       0         3       open (by hand)  ready
        the breaker of deployer is open: see why nobody takes its work, then `memory-spine agents breaker deployer reset`
        3 parked: review them with `memory-spine parked list`
    "#]],
    );
    check(
        &house,
        &["health", "--json"],
        expect![[r#"
        exit 0
        --- out
        {
          "agents": 2,
          "breakers_open": [
            "deployer"
          ],
          "paused": [
            "coder"
          ],
          "queue": {
            "accepted": 0,
            "leased": 0,
            "parked": 3,
            "pending": 1
          }
        }
    "#]],
    );
    check(
        &house,
        &["agents", "breaker", "deployer", "reset"],
        expect![[r#"
        exit 0
        --- out
        AGENT     PENDING  LEASED  ACCEPTED  PARKED  BREAKER  STATE
        deployer  0        0       0         3       closed   ready
    "#]],
    );
    check(
        &house,
        &["agents", "resume", "coder"],
        expect![[r#"
        exit 0
        --- out
        AGENT  PENDING  LEASED  ACCEPTED  PARKED  BREAKER  STATE
        coder  1        0       0         0       closed   ready
    "#]],
    );
    assert_eq!(house.json(&["agents", "list"])["agents"][0]["breaker"]["state"], "closed");
}
