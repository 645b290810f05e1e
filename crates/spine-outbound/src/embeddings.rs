//! Vectors from an OpenAI-compatible endpoint.

use std::fmt;

use serde::Deserialize;
use serde_json::json;

use crate::client::Outbound;
use crate::endpoint::{Endpoint, bad_answer};
use crate::error::OutboundError;
use crate::limits::{
    ANSWER_HEAD_BYTES_MAX, EMBED_BATCH_BYTES_MAX, EMBED_BATCH_TEXTS_MAX, EMBED_TEXT_BYTES_MAX,
    EMBED_TEXTS_MAX, EMBED_VECTOR_BYTES_MAX,
};

#[derive(Deserialize)]
struct Embeddings {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

impl Outbound {
    /// One vector for each text, in order, each of the given size. Of a long text the beginning is
    /// embedded. All or nothing: a failed batch fails the call.
    pub async fn embeddings(
        &self,
        endpoint: &Endpoint,
        dimensions: usize,
        texts: &[String],
    ) -> Result<Vec<Vec<f32>>, OutboundError> {
        check_texts(texts)?;
        let texts: Vec<&str> =
            texts.iter().map(|text| beginning(text, EMBED_TEXT_BYTES_MAX)).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in batches(&texts) {
            vectors.extend(self.embed_batch(endpoint, dimensions, batch).await?);
        }
        Ok(vectors)
    }

    async fn embed_batch(
        &self,
        endpoint: &Endpoint,
        dimensions: usize,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, OutboundError> {
        let body = json!({ "model": endpoint.model, "input": texts, "encoding_format": "float" });
        let answer_bytes_max = ANSWER_HEAD_BYTES_MAX + texts.len() * EMBED_VECTOR_BYTES_MAX;
        let answer: Embeddings = self.ask(endpoint, "/embeddings", &body, answer_bytes_max).await?;
        in_order(answer.data, texts.len(), dimensions).map_err(|why| {
            bad_answer(format_args!("embeddings of {}", endpoint.model), &why.to_string())
        })
    }
}

fn check_texts(texts: &[String]) -> Result<(), OutboundError> {
    if texts.len() > EMBED_TEXTS_MAX {
        return Err(OutboundError::bad_input(format!("{} texts to embed", texts.len())));
    }
    match texts.iter().position(String::is_empty) {
        // Endpoints refuse these, and with them the whole batch.
        Some(number) => Err(OutboundError::bad_input(format!("text {number} is empty"))),
        None => Ok(()),
    }
}

fn beginning(text: &str, bytes_max: usize) -> &str {
    let cut = (0..=bytes_max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    cut.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// Cuts the texts into requests, by number and by bytes.
fn batches<'t, 's>(texts: &'t [&'s str]) -> impl Iterator<Item = &'t [&'s str]> {
    let mut rest = texts;
    std::iter::from_fn(move || {
        let (batch, after) = rest.split_at_checked(batch_texts(rest))?;
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}

fn batch_texts(texts: &[&str]) -> usize {
    let mut bytes = 0;
    let fitting = texts.iter().take(EMBED_BATCH_TEXTS_MAX).take_while(|text| {
        bytes += text.len();
        bytes <= EMBED_BATCH_BYTES_MAX
    });
    fitting.count().max(1).min(texts.len())
}

/// What is wrong with the vectors of an answer.
enum Wrong {
    Count { wanted: usize, found: usize },
    Index(usize),
    Size { wanted: usize, found: usize },
    NotFinite,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { wanted, found } => write!(f, "{found} vectors for {wanted} texts"),
            Self::Index(index) => write!(f, "index {index} twice, or beyond the texts"),
            Self::Size { wanted, found } => write!(f, "vectors of {found} numbers, not {wanted}"),
            Self::NotFinite => f.write_str("a number that is none"),
        }
    }
}

fn in_order(data: Vec<Embedding>, count: usize, dimensions: usize) -> Result<Vec<Vec<f32>>, Wrong> {
    if data.len() != count {
        return Err(Wrong::Count { wanted: count, found: data.len() });
    }
    let mut places: Vec<Option<Vec<f32>>> = vec![None; count];
    for Embedding { index, embedding } in data {
        check_vector(&embedding, dimensions)?;
        let place = places.get_mut(index).filter(|place| place.is_none());
        *place.ok_or(Wrong::Index(index))? = Some(embedding);
    }
    Ok(places.into_iter().flatten().collect())
}

fn check_vector(vector: &[f32], dimensions: usize) -> Result<(), Wrong> {
    if vector.len() != dimensions {
        return Err(Wrong::Size { wanted: dimensions, found: vector.len() });
    }
    vector.iter().all(|number| number.is_finite()).then_some(()).ok_or(Wrong::NotFinite)
}
