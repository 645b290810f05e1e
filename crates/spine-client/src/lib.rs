//! A client over the HTTP API: connections are used again, every wait has an end, what failed in passing is tried
//! again with the same key, and a refusal is a typed error that says what to do.
//!
//! ```no_run
//! # async fn example() -> Result<(), spine_client::ClientError> {
//! use spine_client::{Client, ClientOptions};
//! let client = Client::new(ClientOptions::from_environment())?;
//! let sent = client.hand_off(&serde_json::json!({"target_agent": "coder", "task_summary": "Write it."}), None).await?;
//! println!("{}", sent.delivery.id);
//! # Ok(())
//! # }
//! ```

mod agents;
mod ask;
mod client;
mod connector;
mod deliveries;
mod error;
mod handoffs;
mod limits;
mod memories;
mod options;
mod page;
mod parked;
mod transport;
mod types;

pub use ask::Ask;
pub use client::Client;
pub use connector::{Connector, Stream};
pub use error::{ClientError, Problem};
pub use memories::MemoryFilter;
pub use options::ClientOptions;
pub use page::Pages;
pub use parked::{ParkedFilter, Review};
pub use transport::innermost;
pub use types::*;
