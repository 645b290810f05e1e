//! The server's program, as the tests start it: what `memory-spine` is, under this package's own name.

fn main() -> std::process::ExitCode {
    memory_spine::main()
}
