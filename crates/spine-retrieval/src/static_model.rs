//! The built-in embedding: one int8 vector for each token, no model to run. See `model/README.md`.

use std::sync::LazyLock;

use crate::vector::{Wide, add_scaled, widely};
use crate::wordpiece::{Vocabulary, tokenize};

static BYTES: &[u8] = include_bytes!("../model/model.bin");
static MODEL: LazyLock<Option<StaticModel>> = LazyLock::new(|| StaticModel::parse(BYTES));

/// The token table.
pub(crate) struct StaticModel {
    pub(crate) name: &'static str,
    pub(crate) dimensions: usize,
    vocabulary: Vocabulary,
    scales: Vec<f32>,
    rows: Vec<i8>,
}

/// The model that is compiled in; `None` only if its bytes are damaged.
pub(crate) fn built_in() -> Option<&'static StaticModel> {
    MODEL.as_ref()
}

impl StaticModel {
    fn parse(bytes: &'static [u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(b"MSPV\x01\x00")?;
        let name = take_short_text(&mut rest)?;
        let dimensions = take_u32(&mut rest)? as usize;
        let tokens = take_u32(&mut rest)?;
        let _vocabulary_bytes = take_u32(&mut rest)?;
        let mut vocabulary =
            Vocabulary::with_capacity_and_hasher(tokens as usize, Default::default());
        for row in 0..tokens {
            vocabulary.insert(take_short_text(&mut rest)?, row);
        }
        let (scales, rows) = rest.split_at_checked(tokens as usize * 4)?;
        let scales = scales.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        let rows: Vec<i8> = rows.iter().map(|byte| *byte as i8).collect();
        let whole = rows.len() == tokens as usize * dimensions;
        whole.then_some(Self { name, dimensions, vocabulary, scales, rows })
    }

    /// The tokens of a text, as row numbers.
    pub(crate) fn tokens(&self, text: &str) -> Vec<u32> {
        tokenize(text, &self.vocabulary)
    }

    /// The mean of the tokens' rows.
    pub(crate) fn mean(&self, tokens: &[u32]) -> Vec<f32> {
        widely(Mean { model: self, tokens })
    }
}

struct Mean<'m> {
    model: &'m StaticModel,
    tokens: &'m [u32],
}

impl Wide for Mean<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn work(self) -> Vec<f32> {
        let dimensions = self.model.dimensions;
        let mut sum = vec![0f32; dimensions];
        for token in self.tokens {
            let start = *token as usize * dimensions;
            let row = self.model.rows.get(start..start + dimensions).unwrap_or_default();
            let scale = self.model.scales.get(*token as usize).copied().unwrap_or_default();
            add_scaled(&mut sum, row, scale);
        }
        let count = self.tokens.len().max(1) as f32;
        for value in &mut sum {
            *value /= count;
        }
        sum
    }
}

fn take_u32(rest: &mut &'static [u8]) -> Option<u32> {
    let (bytes, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u32::from_le_bytes(*bytes))
}

fn take_short_text(rest: &mut &'static [u8]) -> Option<&'static str> {
    let (length, behind) = rest.split_first_chunk()?;
    let (text, behind) = behind.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    *rest = behind;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::unit;

    #[test]
    fn agrees_with_the_reference() {
        let expected: serde_json::Value =
            serde_json::from_str(include_str!("../model/expected.json")).unwrap();
        let model = built_in().unwrap();
        assert_eq!(expected["model"], model.name);
        for case in expected["cases"].as_array().unwrap() {
            check(model, case);
        }
    }

    fn check(model: &StaticModel, case: &serde_json::Value) {
        let text = case["text"].as_str().unwrap();
        let tokens = model.tokens(text);
        assert_eq!(serde_json::json!(tokens), case["ids"], "{text:?}");
        let vector = unit(model.mean(&tokens));
        for (value, wanted) in vector.iter().zip(case["vector_first_8"].as_array().unwrap()) {
            assert!((f64::from(*value) - wanted.as_f64().unwrap()).abs() < 2e-6, "{text:?}");
        }
        let norm: f32 = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!((f64::from(norm) - case["norm"].as_f64().unwrap()).abs() < 1e-5, "{text:?}");
    }
}
