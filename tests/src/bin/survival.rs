//! `cargo xtask bench survival [SVG]`: the table, and the curve as a picture.

use std::process::ExitCode;

use spine_tests::survival::{shown, svg, table};

const CHAINS: u32 = 1_000;
const SEED: u64 = 20_260_115;

fn main() -> ExitCode {
    let rows = table(SEED, CHAINS);
    println!("{CHAINS} chains, seed {SEED}, shares in percent\n{}", shown(&rows));
    let Some(path) = std::env::args().nth(1) else { return ExitCode::SUCCESS };
    match std::fs::write(&path, svg(&rows)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write {path}: {error}");
            ExitCode::FAILURE
        }
    }
}
