//! Vectors as they are kept: int8 with one scale.

use pulp::{Arch, NullaryFnOnce};

/// A vector of length 1, or the zero vector.
pub(crate) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = length(&vector);
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
        widely(Quantize(vector))
    }
}

struct Quantize<'v>(&'v [f32]);

impl Wide for Quantize<'_> {
    type Output = Vector;

    #[inline(always)]
    fn work(self) -> Vector {
        let scale = highest(self.0) / 127.0;
        let step = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        let mut values = vec![0; self.0.len()];
        for (place, value) in values.iter_mut().zip(self.0) {
            *place = (value * step).round() as i8;
        }
        Vector { values, scale }
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

#[cfg(target_arch = "x86_64")]
pulp::simd_type! {
    /// Counts bits in many words at once, which no set of instructions of `pulp` has.
    struct CountsBits {
        avx512f: "avx512f",
        avx512bw: "avx512bw",
        avx512dq: "avx512dq",
        avx512vl: "avx512vl",
        avx512vpopcntdq: "avx512vpopcntdq",
        fma: "fma",
        popcnt: "popcnt",
    }
}

/// Does the work with the machine's widest instructions.
pub(crate) fn widely<W: Wide>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = CountsBits::try_new() {
        return simd.vectorize(Dispatched(work));
    }
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

/// A vector mixed from several: each with its weight.
#[inline(always)]
pub(crate) fn add_scaled(sum: &mut [f32], values: &[i8], weight: f32) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += weight * f32::from(*value);
    }
}

/// The length of a vector.
#[inline(always)]
pub(crate) fn length(vector: &[f32]) -> f32 {
    fold_in_lanes(vector, |sum, value| sum + value * value, |sum, lane| sum + lane).sqrt()
}

/// The highest figure of a vector, signs apart.
#[inline(always)]
fn highest(vector: &[f32]) -> f32 {
    fold_in_lanes(vector, |highest, value| highest.max(value.abs()), f32::max)
}

/// In lanes, so that no figure waits for the one before it, and the order is the same on every machine.
#[inline(always)]
fn fold_in_lanes(
    vector: &[f32],
    take: impl Fn(f32, f32) -> f32,
    join: impl Fn(f32, f32) -> f32,
) -> f32 {
    let mut lanes = [0f32; 16];
    for chunk in vector.chunks(lanes.len()) {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = take(*lane, *value);
        }
    }
    let mut joined = 0.0;
    for lane in lanes {
        joined = join(joined, lane);
    }
    joined
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
}
