//! Where vectors come from: the built-in table, or anything else that can be called.

use std::fmt;
use std::pin::Pin;

use crate::static_model::built_in;
use crate::vector::unit;

/// One vector for each text, in order.
pub type EmbedFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, EmbedError>> + Send + 'a>>;

/// Why there are no vectors now: for the answer's `degraded` and for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedError(pub String);

impl fmt::Display for EmbedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EmbedError {}

/// Turns texts into vectors. When it fails, search goes on with words.
pub trait Embedder: Send + Sync {
    /// Its name: vectors of another model are made anew.
    fn model(&self) -> &str;

    /// How many numbers a vector has.
    fn dimensions(&self) -> usize;

    /// The vectors of these texts.
    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_>;
}

/// The embedding that is built into the program: no download, no key, no network.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltInEmbedder;

impl Embedder for BuiltInEmbedder {
    fn model(&self) -> &str {
        built_in().map_or("damaged", |model| model.name)
    }

    fn dimensions(&self) -> usize {
        built_in().map_or(0, |model| model.dimensions)
    }

    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_> {
        let embed_all = || {
            let model =
                built_in().ok_or_else(|| EmbedError("the built-in model is damaged".into()))?;
            Ok(texts.iter().map(|text| unit(model.mean(&model.tokens(text)))).collect())
        };
        Box::pin(std::future::ready(embed_all()))
    }
}
