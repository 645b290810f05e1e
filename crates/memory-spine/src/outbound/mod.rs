//! What calls out, put together with what wants it called. The server and the index know nothing of connections, and
//! `spine-outbound` nothing of them.

mod alerts;
mod embedder;
mod limits;
mod push;
mod summaries;

use std::time::{SystemTime, UNIX_EPOCH};

pub use alerts::AlertWebhooks;
pub use embedder::{EndpointEmbedder, in_background};
pub use push::WebhookPusher;
pub use summaries::Summariser;

/// For the timestamp of a signature.
fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
