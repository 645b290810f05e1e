//! What the tests of the whole share: with the program that the crash tests kill, a load of writes, the
//! acknowledgements it prints, and the check of what is left; and the telephone game.

mod ack;
pub mod cycles;
mod engine;
mod house;
pub mod http;
pub mod survival;
mod verify;

pub use ack::Ack;
pub use engine::Engine;
pub use house::{House, STORE_FILE};
pub use verify::{Verdict, verify};
