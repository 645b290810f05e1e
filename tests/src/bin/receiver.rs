//! An agent that takes work, does it and says so, until it is killed: `receiver ADDRESS AGENT SEED`. It prints each delivery that it
//! got, and each whose completion the server confirmed.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a program of the tests"
)]

use std::io::Write;

use serde_json::{Value, json};
use spine_tests::http::try_post;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, agent, seed] = arguments.as_slice() else {
        panic!("receiver ADDRESS AGENT SEED")
    };
    let mut rng = fastrand::Rng::with_seed(seed.parse().unwrap());
    loop {
        let ask = json!({"max": rng.u8(1..6), "wait_s": 1, "lease_s": 1, "accept": rng.bool()});
        let path = format!("/v1/agents/{agent}/receive");
        // A server that is down is asked again: it is being restarted.
        let Some(answer) = try_post(address, &path, agent, &ask) else { continue };
        for got in answer.json()["deliveries"].as_array().into_iter().flatten() {
            complete(address, agent, got);
        }
    }
}

fn complete(address: &str, agent: &str, got: &Value) {
    let id = got["delivery"]["id"].as_str().unwrap();
    say("got", id);
    let ack = json!({"lease": got["lease"], "result": {"of": id}});
    let answer = try_post(address, &format!("/v1/deliveries/{id}/ack"), agent, &ack);
    if answer.is_some_and(|answer| answer.status == 200) {
        say("done", id);
    }
}

fn say(what: &str, id: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{what} {id}").unwrap();
    out.flush().unwrap();
}
