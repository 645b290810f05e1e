//! Handing over, receiving, settling, and the story of it.

use expect_test::expect;

use crate::program::House;

fn house() -> House {
    let house = House::open();
    for text in ["The gateway takes 100 requests a second.", "Retries need an Idempotency-Key."] {
        assert_eq!(house.run(&["store", text]).code, 0);
    }
    house
}

#[test]
fn work_is_handed_over_received_and_traced() {
    let house = house();
    let sent = house.run(&[
        "handoff",
        "coder",
        "Write the client from ms-1 and ms-9.",
        "--intent",
        "Retry safely.",
        "--constraint",
        "language=python",
        "--constraint",
        "tries=4",
        "--as",
        "analyst",
    ]);
    expect![[]].assert_eq(&sent.shown());
    let received = house.run(&["receive", "coder", "--wait", "5"]);
    expect![[]].assert_eq(&received.shown());
    let word = |flag: &str| {
        let mut words = received.out.split_whitespace().skip_while(|word| *word != flag);
        words.nth(1).unwrap().to_owned()
    };
    let (id, lease) = (word("--delivery"), word("--lease"));
    let settle = ["receive", "coder", "--delivery", &id, "--lease", &lease];
    let done = house.run(&[&settle[..], &["--ack", r#"{"written": true}"#]].concat());
    expect![[]].assert_eq(&done.shown());
    let late = house.run(&[&settle[..], &["--nack", "too late"]].concat());
    expect![[]].assert_eq(&late.shown());
    let envelope = sent.out.split_whitespace().find(|word| word.starts_with("env_")).unwrap();
    let next = ["handoff", "reviewer", "Review it.", "--parent", envelope, "--as", "coder"];
    assert_eq!(house.run(&[&next[..], &["--waive", "tries=three are enough"]].concat()).code, 0);
    expect![[]].assert_eq(&house.run(&["trace", envelope]).shown());
    expect![[]].assert_eq(&house.run(&["verify", envelope]).shown());
    let trace = house.json(&["trace", envelope]);
    assert_eq!(trace["envelopes"].as_array().unwrap().len(), 2);
    assert_eq!(trace["deliveries"][0]["state"], "done");
    assert_eq!(house.json(&["verify", envelope])["intact"], true);
}

#[test]
fn a_command_does_the_work() {
    let house = house();
    let envelope = house.hand_off(&["coder", "Say what you read.", "--as", "analyst"]);
    let done =
        house.run(&["receive", "coder", "--wait", "5", "--exec", "grep -c 'Say what you read'"]);
    expect![[]].assert_eq(&done.shown());
    assert_eq!(house.json(&["trace", &envelope])["deliveries"][0]["result"], 1);

    let envelope = house.hand_off(&["coder", "Fail.", "--as", "analyst"]);
    let failed = house.run(&["receive", "coder", "--wait", "5", "--exec", "exit 3"]);
    expect![[]].assert_eq(&failed.shown());
    assert_eq!(
        house.json(&["trace", &envelope])["deliveries"][0]["attempts"][0]["outcome"],
        "nacked"
    );
}

#[test]
fn a_sender_can_wait() {
    let house = house();
    let wait = ["handoff", "nobody", "Wait.", "--as", "analyst", "--wait", "--timeout", "0.2"];
    expect![[]].assert_eq(&house.run(&wait).shown());
    std::thread::scope(|scope| {
        let worker =
            scope.spawn(|| house.run(&["receive", "coder", "--wait", "20", "--ack", "done"]));
        let wait =
            ["handoff", "coder", "Go.", "--as", "analyst", "--wait", "done", "--timeout", "20"];
        expect![[]].assert_eq(&house.run(&wait).shown());
        assert_eq!(worker.join().unwrap().code, 0);
    });
}
