//! Delivery through its public calls, on the model store, with a clock that the test moves.

mod breaker;
mod broadcast;
mod choreography;
mod direct;
mod health;
mod house;
mod order;
mod retention;
mod review;
