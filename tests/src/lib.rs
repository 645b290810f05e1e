//! What the tests of the whole share: with the program that the crash tests kill, a load of writes, the
//! acknowledgements it prints, and the check of what is left; and the telephone game.

mod ack;
mod cpu;
pub mod cycles;
mod engine;
mod house;
pub mod http;
mod index_check;
pub mod survival;
mod verify;

pub use ack::{Ack, Left};
pub use cpu::cpu_ms;
pub use engine::Engine;
pub use house::{House, STORE_FILE};
pub use index_check::{IndexVerdict, open_crashed};
pub use verify::{Verdict, verify};
