//! What a handoff reads out of texts: which memories they mention, what they say in short, and which
//! secrets they hold. Pure functions in linear time: any text may come in.

pub mod mentions;
pub mod secrets;
pub mod summary;
