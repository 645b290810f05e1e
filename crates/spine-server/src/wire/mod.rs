//! Bodies of requests and answers, as they are written. Names are those of the SDKs' parameters.

pub mod agent;
pub mod alert;
pub mod channel;
pub mod cursor;
pub mod delivery;
pub mod envelope;
pub mod event;
pub mod handoff;
pub mod health;
pub mod memory;
pub mod memory_list;
pub mod one_or_many;
pub mod parked;
pub mod receive;
pub mod send;
