//! Bodies of requests and answers, as they are written. Names are those of the SDKs' parameters.

pub mod cursor;
pub mod envelope;
pub mod event;
pub mod handoff;
pub mod memory;
pub mod memory_list;
pub mod one_or_many;
