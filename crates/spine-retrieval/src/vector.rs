//! Vectors as they are kept: int8 with one scale, and their sign bits.

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
        let mut highest = 0f32;
        for value in self.0 {
            highest = highest.max(value.abs());
        }
        let scale = highest / 127.0;
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

/// Sign bits, 64 to a word.
#[inline(always)]
pub(crate) fn sign_bits(values: &[f32], bits: &mut [u64]) {
    for (word, chunk) in bits.iter_mut().zip(values.chunks(64)) {
        *word = 0;
        for (at, value) in chunk.iter().enumerate() {
            *word |= u64::from(*value > 0.0) << at;
        }
    }
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

/// Bits of a query's figures where they are compared with sign bits.
const PLANES: usize = 4;
const STEPS: i32 = (1 << PLANES) - 1;

/// Words of sign bits that are looked at together; a vector's bits fill whole blocks.
pub(crate) const BLOCK_WORDS: usize = 4;

type Block = [u64; BLOCK_WORDS];

/// A query for a scan of sign bits: its figures in four bits each, all first bits together, all second
/// ones, and so on. `Σ q × sign` is then a few counts of bits, and much nearer to the true product than
/// a comparison of signs with signs.
pub(crate) struct Planes(Vec<[Block; PLANES]>);

impl Planes {
    pub(crate) fn new(query: &[i8]) -> Self {
        let highest = query.iter().map(|value| i32::from(*value).abs()).max().unwrap_or(0).max(1);
        let level = |value: &i8| ((i32::from(*value) + highest) * STEPS + highest) / (2 * highest);
        let planes = query.chunks(64 * BLOCK_WORDS).map(|chunk| {
            let levels: Vec<u64> = chunk.iter().map(|value| level(value) as u64).collect();
            std::array::from_fn(|bit| block(&levels, bit))
        });
        Self(planes.collect())
    }

    /// `Σ q × bit`, twice: levels are counted from the lowest, whose value is `-STEPS / 2`.
    #[inline(always)]
    fn figure(&self, bits: &[Block]) -> i32 {
        let mut lanes = [0i64; BLOCK_WORDS];
        for (planes, block) in self.0.iter().zip(bits) {
            for (bit, plane) in planes.iter().enumerate() {
                for ((lane, plane), word) in lanes.iter_mut().zip(plane).zip(block) {
                    *lane += i64::from((plane & word).count_ones()) << (bit + 1);
                }
            }
            for (lane, word) in lanes.iter_mut().zip(block) {
                *lane -= i64::from(STEPS) * i64::from(word.count_ones());
            }
        }
        let mut sum = 0;
        for lane in lanes {
            sum += lane;
        }
        sum as i32
    }
}

fn block(levels: &[u64], bit: usize) -> Block {
    let mut block = [0; BLOCK_WORDS];
    for (word, chunk) in block.iter_mut().zip(levels.chunks(64)) {
        for (at, level) in chunk.iter().enumerate() {
            *word |= ((level >> bit) & 1) << at;
        }
    }
    block
}

/// How near each of many vectors is to a query, judged by its sign bits.
pub(crate) struct Nearness<'v> {
    pub(crate) bits: &'v [u64],
    pub(crate) query: &'v Planes,
}

impl Wide for Nearness<'_> {
    type Output = Vec<i32>;

    #[inline(always)]
    fn work(self) -> Vec<i32> {
        let blocks = self.query.0.len().max(1);
        let (bits, _) = self.bits.as_chunks();
        let mut figures = vec![0; bits.len() / blocks];
        for (place, bits) in figures.iter_mut().zip(bits.chunks_exact(blocks)) {
            *place = self.query.figure(bits);
        }
        figures
    }
}

/// A vector mixed from several: each with its weight.
#[inline(always)]
pub(crate) fn add_scaled(sum: &mut [f32], values: &[i8], weight: f32) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += weight * f32::from(*value);
    }
}

/// The length of a vector. Summed in lanes, so that the order is the same on every machine.
#[inline(always)]
pub(crate) fn length(vector: &[f32]) -> f32 {
    let mut lanes = [0f32; 16];
    for chunk in vector.chunks(lanes.len()) {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value * value;
        }
    }
    let mut sum = 0.0;
    for lane in lanes {
        sum += lane;
    }
    sum.sqrt()
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
        let mut bits = [0];
        sign_bits(&[1.0, -1.0, 0.0, 5.0], &mut bits);
        assert_eq!(bits, [0b1001]);
    }

    #[test]
    fn planes_tell_likeness_by_signs() {
        let planes = Planes::new(&[7, -7, 1, 0]);
        let figure = |bits: u64| planes.figure(&[[bits, 0, 0, 0]]);
        assert!(figure(0b0001) > figure(0b0101).min(figure(0b0100)));
        assert!(figure(0b0101) > figure(0b0000));
        assert!(figure(0b0000) > figure(0b0010));
        assert_eq!(figure(0b0001), -figure(0b0010));
    }
}
