//! Everything a person types: `cargo xtask test`, `cargo xtask soak`, `cargo xtask run`, `cargo xtask bench NAME`.

mod bench;
mod command;
mod conformance;
mod dashboard;
mod health_served;
mod mcp_clients;
mod npm;
mod peers;
mod prometheus;
mod python;
mod schemathesis;
mod sdk;
mod serve;
mod server;
mod suites;

use std::process::ExitCode;

use command::Failure;

const USAGE: &str = "\
cargo xtask test          formatting, lints and every test, with the time of each suite
cargo xtask test SUITE    one of them, such as rust or browser
cargo xtask soak          the same tests with larger numbers
cargo xtask run           builds the server, starts it on 127.0.0.1:8788, plays the demonstration and leaves it up
cargo xtask run DIR       the same without the play, with the data in DIR
cargo xtask bench NAME    a benchmark; without a name, the list of them";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test"] => suites::run_all(suites::Scale::Normal),
        ["test", name] => suites::run_one(name, suites::Scale::Normal),
        ["soak"] => suites::run_all(suites::Scale::Soak),
        ["soak", name] => suites::run_one(name, suites::Scale::Soak),
        ["run"] => serve::run_demo(),
        ["run", data] => serve::run_server(data),
        ["bench", "peers", rest @ ..] => peers::compare(rest),
        ["bench", "health-served", rest @ ..] => health_served::compare(rest),
        ["bench", name, rest @ ..] => bench::run_one(name, rest),
        ["bench"] => Err(Failure::new(bench::list())),
        _ => Err(Failure::new(USAGE)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
