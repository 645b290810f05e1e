//! What the crash tests share with the program they crash: a load of writes, the acknowledgements it
//! prints, and the check of what is left.

mod ack;
mod house;
mod verify;

pub use ack::Ack;
pub use house::{House, STORE_FILE};
pub use verify::{Verdict, verify};
