//! The server calls out: what others get, and what it makes of their answers.

mod alerts;
mod embeddings;
mod push;
mod stand_in;
mod summaries;

/// What sender and receiver share.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
