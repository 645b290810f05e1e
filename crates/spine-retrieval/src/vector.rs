//! Vectors as they are kept: int8 with one scale, and their sign bits.

use pulp::{Arch, NullaryFnOnce};

/// A vector of length 1, or the zero vector.
pub(crate) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|value| *value /= norm);
    }
    vector
}

/// A vector in one byte a dimension.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Vector {
    pub(crate) values: Vec<i8>,
    pub(crate) scale: f32,
}

impl Vector {
    pub(crate) fn quantize(vector: &[f32]) -> Self {
        let highest = vector.iter().fold(0f32, |highest, value| highest.max(value.abs()));
        let scale = highest / 127.0;
        let step = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        let values = vector.iter().map(|value| (value * step).round() as i8).collect();
        Self { values, scale }
    }
}

/// Bytes that are multiplied together, so that the compiler knows the length of the loop.
const LANES: usize = 64;

/// The whole product of two int8 vectors.
#[inline(always)]
pub(crate) fn dot(a: &[i8], b: &[i8]) -> i32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sum = 0;
    for (a, b) in a.iter().zip(b) {
        sum += dot_short(a, b);
    }
    sum + dot_short(a_rest, b_rest)
}

#[inline(always)]
fn dot_short(a: &[i8], b: &[i8]) -> i32 {
    let mut sum = 0;
    for (a, b) in a.iter().zip(b) {
        sum += i32::from(*a) * i32::from(*b);
    }
    sum
}

/// Sign bits, 64 to a word.
pub(crate) fn sign_bits(values: &[i8]) -> impl Iterator<Item = u64> {
    values.chunks(64).map(|chunk| {
        chunk.iter().enumerate().fold(0, |bits, (at, value)| bits | u64::from(*value > 0) << at)
    })
}

/// How many sign bits differ.
#[inline(always)]
fn bits_apart(a: &[u64], b: &[u64]) -> u32 {
    let mut apart = 0;
    for (a, b) in a.iter().zip(b) {
        apart += (a ^ b).count_ones();
    }
    apart
}

/// Work over vectors. What it does must be inlined, down to the loops: only so is it compiled for the
/// machine's widest instructions.
pub(crate) trait Wide {
    type Output;
    fn work(self) -> Self::Output;
}

struct Dispatched<W>(W);

impl<W: Wide> NullaryFnOnce for Dispatched<W> {
    type Output = W::Output;

    #[inline(always)]
    fn call(self) -> W::Output {
        self.0.work()
    }
}

/// Does the work with the machine's widest instructions.
pub(crate) fn widely<W: Wide>(work: W) -> W::Output {
    Arch::new().dispatch(Dispatched(work))
}

/// The product of a query and of each of many vectors that lie one behind the other.
pub(crate) struct Products<'v> {
    pub(crate) vectors: &'v [i8],
    pub(crate) query: &'v [i8],
}

impl Wide for Products<'_> {
    type Output = Vec<i32>;

    #[inline(always)]
    fn work(self) -> Vec<i32> {
        let dimensions = self.query.len().max(1);
        let mut products = vec![0; self.vectors.len() / dimensions];
        let vectors = self.vectors.chunks_exact(dimensions);
        for (place, vector) in products.iter_mut().zip(vectors) {
            *place = dot(vector, self.query);
        }
        products
    }
}

/// How many sign bits differ, likewise.
pub(crate) struct Distances<'v> {
    pub(crate) bits: &'v [u64],
    pub(crate) query: &'v [u64],
}

impl Wide for Distances<'_> {
    type Output = Vec<u32>;

    #[inline(always)]
    fn work(self) -> Vec<u32> {
        let words = self.query.len().max(1);
        let mut distances = vec![0; self.bits.len() / words];
        for (place, bits) in distances.iter_mut().zip(self.bits.chunks_exact(words)) {
            *place = bits_apart(bits, self.query);
        }
        distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn int8_keeps_the_cosine() {
        let a = unit((0..256).map(|n| (n as f32 * 0.7).sin()).collect());
        let b = unit((0..256).map(|n| (n as f32 * 0.7 + 0.5).sin()).collect());
        let cosine: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        let (a, b) = (Vector::quantize(&a), Vector::quantize(&b));
        let kept = dot(&a.values, &b.values) as f32 * a.scale * b.scale;
        assert!((kept - cosine).abs() < 0.01);
        assert_eq!(Vector::quantize(&[0.0; 4]).scale, 0.0);
    }

    #[test]
    fn bits_are_signs() {
        let bits: Vec<u64> = sign_bits(&[1, -1, 0, 5]).collect();
        assert_eq!(bits, [0b1001]);
        assert_eq!(bits_apart(&[0b1001], &[0b1010]), 2);
    }
}
