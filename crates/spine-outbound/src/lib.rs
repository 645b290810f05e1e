//! Every outgoing connection: the one rule on which addresses may be reached, signing, retries, and
//! the endpoints that are called: webhooks, embeddings, summaries.
//!
//! The rule is applied when connecting, to the address that is connected to. No redirect is
//! followed and no proxy is used, so there is no second way.
//!
//! ```no_run
//! # async fn example() -> Result<(), spine_outbound::OutboundError> {
//! use spine_outbound::{Message, Outbound, OutboundOptions, WebhookSecret};
//!
//! let outbound = Outbound::new(OutboundOptions::default())?;
//! let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")?;
//! let message = Message { id: "msg_1", timestamp_s: 1_760_000_000, body: b"{}" };
//! outbound.post_signed("https://agents.example/inbox", &secret, message, &[]).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # As the embedder of `spine-retrieval`
//!
//! This room knows nothing of the index; whoever knows both puts them together. The failure's
//! message is shown to who searched, so the detail goes to the log only.
//!
//! ```
//! # use std::pin::Pin;
//! # use spine_outbound::{Endpoint, Outbound};
//! # struct EmbedError(String);
//! # type EmbedFuture<'a> =
//! #     Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, EmbedError>> + Send + 'a>>;
//! # trait Embedder: Send + Sync {
//! #     fn model(&self) -> &str;
//! #     fn dimensions(&self) -> usize;
//! #     fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_>;
//! # }
//! struct EndpointEmbedder { outbound: Outbound, endpoint: Endpoint, dimensions: usize }
//!
//! impl Embedder for EndpointEmbedder {
//!     fn model(&self) -> &str {
//!         &self.endpoint.model
//!     }
//!
//!     fn dimensions(&self) -> usize {
//!         self.dimensions
//!     }
//!
//!     fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_> {
//!         Box::pin(async move {
//!             let vectors = self.outbound.embeddings(&self.endpoint, self.dimensions, &texts).await;
//!             vectors.map_err(|failure| EmbedError(failure.to_string()))
//!         })
//!     }
//! }
//! ```

mod address;
mod answer;
mod client;
mod connection;
mod connector;
mod embeddings;
mod endpoint;
mod error;
mod headers;
pub mod limits;
mod network;
mod places;
mod reach;
mod retry;
mod signing;
mod slack;
mod summaries;
mod target;
mod tls;

pub use answer::Answer;
pub use client::{Outbound, OutboundOptions};
pub use endpoint::Endpoint;
pub use error::{OutboundError, OutboundErrorKind};
pub use retry::{RetryPolicy, retrying};
pub use signing::{Message, SignatureError, WebhookSecret, sign, verify};
pub use slack::{Alert, Severity, slack_alert};
pub use summaries::TokensParameter;
