//! Signs of vectors, a bit a dimension, and how near they are to a query.
//!
//! The bits of eight vectors lie together, word by word: what is done to one is done to all of them at once, and nothing has
//! to be added up across.

use crate::vector::Wide;

/// Vectors whose bits lie together.
const TOGETHER: usize = 8;

/// The same word of vectors that lie together.
pub(crate) type Row = [u64; TOGETHER];

/// The sign bits of all vectors, by number.
#[derive(Debug, Default)]
pub(crate) struct SignBits {
    words: usize,
    rows: Vec<Row>,
}

impl SignBits {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self { words: dimensions.div_ceil(64).max(1), rows: Vec::new() }
    }

    /// Makes room for so many.
    pub(crate) fn resize(&mut self, count: usize) {
        self.rows.resize(count.div_ceil(TOGETHER) * self.words, [0; TOGETHER]);
    }

    /// In parts of so many vectors, rounded up to whole rows.
    pub(crate) fn parts(&self, vectors: usize) -> impl Iterator<Item = &[Row]> {
        self.rows.chunks(self.rows_of(vectors))
    }

    /// The same, to be set.
    pub(crate) fn parts_mut(&mut self, vectors: usize) -> impl Iterator<Item = SignPart<'_>> {
        let (words, rows) = (self.words, self.rows_of(vectors));
        self.rows.chunks_mut(rows).map(move |rows| SignPart { words, rows })
    }

    fn rows_of(&self, vectors: usize) -> usize {
        (vectors.div_ceil(TOGETHER) * self.words).max(1)
    }
}

/// So many vectors fill whole rows.
pub(crate) fn whole_rows(vectors: usize) -> usize {
    vectors.next_multiple_of(TOGETHER)
}

/// Sign bits of vectors that follow each other, from the first of a row on.
pub(crate) struct SignPart<'b> {
    words: usize,
    rows: &'b mut [Row],
}

impl SignPart<'_> {
    /// Notes the signs of the vector at this place.
    #[inline(always)]
    pub(crate) fn set(&mut self, place: usize, values: &[f32]) {
        let first = place / TOGETHER * self.words;
        let rows = self.rows.get_mut(first..first + self.words).unwrap_or_default();
        for (row, chunk) in rows.iter_mut().zip(values.chunks(64)) {
            let mut word = 0;
            for (at, value) in chunk.iter().enumerate() {
                word |= u64::from(*value > 0.0) << at;
            }
            row.get_mut(place % TOGETHER).into_iter().for_each(|place| *place = word);
        }
    }
}

/// Bits of a query's figures where they are compared with sign bits.
const PLANES: usize = 4;
const STEPS: i32 = (1 << PLANES) - 1;

/// A query for a scan of sign bits: its figures in four bits each; of each word all first bits, all second
/// ones, and so on. `Σ q × sign` is then a few counts of bits, and much nearer to the true product than
/// a comparison of signs with signs.
pub(crate) struct Planes(Vec<[u64; PLANES]>);

impl Planes {
    pub(crate) fn new(query: &[i8]) -> Self {
        let highest = query.iter().map(|value| i32::from(*value).abs()).max().unwrap_or(0).max(1);
        let level = |value: &i8| ((i32::from(*value) + highest) * STEPS + highest) / (2 * highest);
        let planes = query.chunks(64).map(|chunk| {
            let levels: Vec<u64> = chunk.iter().map(|value| level(value) as u64).collect();
            std::array::from_fn(|bit| plane(&levels, bit))
        });
        Self(planes.collect())
    }

    /// `Σ q × bit` of vectors that lie together, twice: levels are counted from the lowest, whose value is
    /// `-STEPS / 2`.
    #[inline(always)]
    fn figures(&self, rows: &[Row]) -> [i32; TOGETHER] {
        let mut figures = [0i64; TOGETHER];
        for (planes, row) in self.0.iter().zip(rows) {
            for (bit, plane) in planes.iter().enumerate() {
                for (figure, word) in figures.iter_mut().zip(row) {
                    *figure += i64::from((plane & word).count_ones()) << (bit + 1);
                }
            }
            for (figure, word) in figures.iter_mut().zip(row) {
                *figure -= i64::from(STEPS) * i64::from(word.count_ones());
            }
        }
        figures.map(|figure| figure as i32)
    }
}

fn plane(levels: &[u64], bit: usize) -> u64 {
    levels.iter().enumerate().fold(0, |plane, (at, level)| plane | ((level >> bit) & 1) << at)
}

/// How near each of many vectors is to a query, judged by its sign bits.
pub(crate) struct Nearness<'v> {
    pub(crate) rows: &'v [Row],
    pub(crate) query: &'v Planes,
    /// Room for a figure of each.
    pub(crate) into: &'v mut [i32],
}

impl Wide for Nearness<'_> {
    /// How many there are.
    type Output = usize;

    #[inline(always)]
    fn work(self) -> usize {
        let words = self.query.0.len().max(1);
        let (places, _) = self.into.as_chunks_mut::<TOGETHER>();
        for (place, rows) in places.iter_mut().zip(self.rows.chunks_exact(words)) {
            *place = self.query.figures(rows);
        }
        self.rows.len() / words * TOGETHER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::widely;

    /// The figures of vectors whose first signs are the lowest of these bits.
    fn figures(query: &[i8], signs: &[u64]) -> Vec<i32> {
        let mut bits = SignBits::new(query.len());
        bits.resize(signs.len());
        for mut part in bits.parts_mut(signs.len()) {
            for (place, signs) in signs.iter().enumerate() {
                let sign = |at: usize| if signs >> (at % 64) & 1 == 1 { 1.0 } else { -1.0 };
                let values: Vec<f32> = (0..query.len()).map(sign).collect();
                part.set(place, &values);
            }
        }
        let planes = Planes::new(query);
        let mut into = vec![0; whole_rows(signs.len())];
        let rows: Vec<Row> = bits.parts(signs.len()).flatten().copied().collect();
        let count = widely(Nearness { rows: &rows, query: &planes, into: &mut into });
        assert_eq!(count, into.len());
        into
    }

    #[test]
    fn planes_tell_likeness_by_signs() {
        let found = figures(&[7, -7, 1, 0], &[0b0001, 0b0101, 0b0100, 0b0000, 0b0010]);
        assert!(found[0] > found[1].min(found[2]));
        assert!(found[1] > found[3]);
        assert!(found[3] > found[4]);
        assert_eq!(found[0], -found[4]);
    }

    /// Each figure by its definition, for vectors of several words and for more of them than lie together.
    #[test]
    fn figures_are_sums_of_levels() {
        let rng = &mut fastrand::Rng::with_seed(1);
        for dimensions in [1, 64, 100, 256] {
            let query: Vec<i8> = (0..dimensions).map(|_| rng.i8(-127..)).collect();
            let signs: Vec<u64> = (0..21).map(|_| rng.u64(..)).collect();
            let highest = query.iter().map(|value| i32::from(*value).abs()).max().unwrap().max(1);
            let found = figures(&query, &signs);
            for (signs, found) in signs.iter().zip(found) {
                let set = (0..dimensions).filter(|at| signs >> (at % 64) & 1 == 1);
                let level = |at: usize| {
                    ((i32::from(query[at]) + highest) * STEPS + highest) / (2 * highest)
                };
                let expected: i32 = set.map(|at| 2 * level(at) - STEPS).sum();
                assert_eq!(found, expected, "{dimensions} dimensions");
            }
        }
    }
}
