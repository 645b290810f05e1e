//! Vectors from an embeddings endpoint, as the index wants them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use spine_outbound::{Outbound, OutboundError, OutboundErrorKind, OutboundOptions};
use spine_retrieval::{EmbedError, EmbedFuture, Embedder};

use super::limits::{
    EMBED_PAUSE, EMBED_REQUEST_MS_MAX, EMBED_SEARCH_TEXTS_MAX, EMBED_SHORT_TEXT_BYTES_MAX,
};
use crate::config::{EmbeddingSettings, OutboundSettings};

tokio::task_local! {
    static IN_BACKGROUND: ();
}

/// Work that nobody waits for: it may ask for many vectors, and for longer.
pub async fn in_background<T>(work: impl Future<Output = T>) -> T {
    IN_BACKGROUND.scope((), work).await
}

/// Asks an endpoint, and leaves it alone for a while when it failed: a search goes on with words.
pub struct EndpointEmbedder {
    outbound: Outbound,
    settings: EmbeddingSettings,
    asked_again_at: Mutex<Option<Instant>>,
}

type Vectors = Vec<Vec<f32>>;

impl EndpointEmbedder {
    /// Over what may be reached.
    pub fn new(
        reach: &OutboundSettings,
        settings: EmbeddingSettings,
    ) -> Result<Self, OutboundError> {
        let options = OutboundOptions { request_ms_max: EMBED_REQUEST_MS_MAX, ..reach.options() };
        let outbound = Outbound::new(options)?;
        Ok(Self { outbound, settings, asked_again_at: Mutex::default() })
    }

    async fn vectors(&self, texts: Vec<String>) -> Result<Vectors, EmbedError> {
        self.check_rested()?;
        let in_background = IN_BACKGROUND.try_with(|()| ()).is_ok();
        if in_background {
            let asked = self.ask(&texts).await;
            return asked.map_err(|failure| self.failed(&failure));
        }
        if texts.len() > EMBED_SEARCH_TEXTS_MAX {
            // Somebody waits: these are embedded in the background.
            return Err(EmbedError(format!("{} memories wait for their vectors", texts.len())));
        }
        match tokio::time::timeout(self.settings.search_time_max, self.ask(&texts)).await {
            Ok(asked) => asked.map_err(|failure| self.failed(&failure)),
            Err(_) => Err(self.late()),
        }
    }

    /// Endpoints refuse empty texts, and texts beyond what their model takes, each with its whole batch.
    async fn ask(&self, texts: &[String]) -> Result<Vectors, OutboundError> {
        let wanted: Vec<String> =
            texts.iter().filter(|text| !text.trim().is_empty()).cloned().collect();
        let mut vectors = match self.ask_all(&wanted).await {
            Err(failure) if is_refusal(&failure) => {
                let short: Vec<String> = wanted.iter().map(|text| beginning(text)).collect();
                self.ask_all(&short).await?
            }
            answer => answer?,
        }
        .into_iter();
        let zero = || vec![0.0; self.settings.dimensions];
        let one = |text: &String| match text.trim() {
            "" => zero(),
            _ => vectors.next().unwrap_or_default(),
        };
        Ok(texts.iter().map(one).collect())
    }

    async fn ask_all(&self, texts: &[String]) -> Result<Vectors, OutboundError> {
        let (endpoint, dimensions) = (&self.settings.endpoint, self.settings.dimensions);
        let vectors = self.outbound.embeddings(endpoint, dimensions, texts).await?;
        Ok(vectors.into_iter().map(unit).collect())
    }

    fn check_rested(&self) -> Result<(), EmbedError> {
        let now = Instant::now();
        match self.asked_again_at().filter(|at| *at > now) {
            None => Ok(()),
            Some(at) => {
                let left_s = (at - now).as_secs() + 1;
                Err(EmbedError(format!("the endpoint failed and is asked again in {left_s} s")))
            }
        }
    }

    fn failed(&self, failure: &OutboundError) -> EmbedError {
        tracing::warn!(detail = failure.detail(), "no vectors from the embeddings endpoint");
        // Too much to do here is no fault of the endpoint.
        if failure.kind() != OutboundErrorKind::Busy {
            self.rest();
        }
        EmbedError(format!("the embeddings endpoint: {failure}"))
    }

    fn late(&self) -> EmbedError {
        let time_max = self.settings.search_time_max;
        tracing::warn!(?time_max, "no vectors from the embeddings endpoint in time");
        self.rest();
        EmbedError(format!(
            "no answer from the embeddings endpoint in {} s",
            time_max.as_secs_f32()
        ))
    }

    fn rest(&self) {
        *self.asked_again_at() = Instant::now().checked_add(EMBED_PAUSE);
    }

    fn asked_again_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.asked_again_at.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Embedder for EndpointEmbedder {
    fn model(&self) -> &str {
        &self.settings.endpoint.model
    }

    fn dimensions(&self) -> usize {
        self.settings.dimensions
    }

    fn embed(&self, texts: Vec<String>) -> EmbedFuture<'_> {
        Box::pin(self.vectors(texts))
    }
}

fn is_refusal(failure: &OutboundError) -> bool {
    matches!(failure.kind(), OutboundErrorKind::Status(400 | 413 | 422))
}

fn beginning(text: &str) -> String {
    let most = text.len().min(EMBED_SHORT_TEXT_BYTES_MAX);
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default().to_owned()
}

/// The index compares vectors of length 1; not every model gives those.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}
