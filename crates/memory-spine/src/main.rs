//! The program `memory-spine`.

fn main() -> std::process::ExitCode {
    memory_spine::main()
}
