//! Delivery, as senders, receivers and people meet it.

mod broadcast;
pub mod client;
mod crash;
mod handoff;
mod keys;
mod leases;
mod parked;
mod receivers;
mod refused;
