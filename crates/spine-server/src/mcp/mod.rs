//! The Model Context Protocol, streamable over HTTP at `/mcp`: both the stateless revision and those with
//! sessions. This is the only room that knows `rmcp`.
//!
//! A message comes in through the table of routes like every request: the same hosts, origins, keys, rates and
//! limits. What it asks for is done by the same functions as the routes'.

mod asker;
mod complete;
mod door;
mod fit;
mod follow;
mod handler;
mod held;
mod inbox;
mod place;
mod prompts;
mod refusal;
mod resources;
mod schema;
mod sessions;
mod tool;
mod tools;

pub use door::{Door, end, message, stream};
pub use handler::Spine;
pub use tool::described_tools;
