//! Delivery, as senders, receivers and people meet it.

mod broadcast;
mod client;
mod handoff;
mod keys;
mod leases;
mod parked;
mod receivers;
mod refused;
