//! For tests: models of the store and of the retriever, and the suite that every store must pass.

mod block_on;
mod clock;
pub mod conformance;
mod model_retriever;
mod model_store;

pub use block_on::block_on;
pub use clock::ManualClock;
pub use model_retriever::ModelRetriever;
pub use model_store::{Fault, ModelStore};
