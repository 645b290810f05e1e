//! Finds memories by words and by meaning: an index derived from the store.
//!
//! Words and whatever else is known of a memory lie in a tantivy index, in a folder that can be deleted
//! at will; a workspace is loaded into memory when it is first searched. Every search first reads the
//! store up to its newest change, so an answered write is found. All figures are the workspace's own:
//! scores do not depend on any other workspace, nor on how the index came to be.

mod asks;
mod best;
mod committed;
mod date_words;
mod disk;
mod document_terms;
mod embedder;
mod fast_map;
mod feeding;
mod fetching;
mod first_pass;
mod index;
pub mod limits;
mod loading;
mod meaning;
mod names;
mod narrowed;
mod question;
mod ranking;
mod recipe;
mod record;
mod resident;
mod segment_records;
mod sign_bits;
mod space;
mod static_model;
mod stop_words;
mod tail;
mod taken;
mod term_key;
mod turns;
mod vector;
mod vectors;
mod wordpiece;
mod words;
mod workspace_terms;

pub use disk::folder_beside;
pub use embedder::{BuiltInEmbedder, EmbedError, EmbedFuture, Embedder};
pub use index::{IndexOptions, SearchIndex};
pub use limits::IndexLimits;
pub use recipe::Recipe;
