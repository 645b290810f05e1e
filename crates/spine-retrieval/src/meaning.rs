//! Candidates by meaning: the cosine of the query and of each memory mixed with its neighbours.
//!
//! Vectors are stored as each memory's own; neighbours are mixed in when searching. `(v + m × Σ v') · q`
//! is a sum of products that are at hand, and its length is kept ready. So writing a memory never
//! rewrites others on disk.
//!
//! Among many, a scan of the sign bits of mixed vectors picks those that are compared exactly.

use crate::best::{Best, Scored};
use crate::fetching::FETCHED_TOGETHER;
use crate::limits::{MEMORIES_PER_PICK, PICKED_VECTORS};
use crate::narrowed::Passing;
use crate::recipe::{CANDIDATES, REACH};
use crate::sign_bits::{Nearness, Planes};
use crate::space::Space;
use crate::vector::{Products, Vector, Wide, dot, widely};

/// The best memories by meaning, best first.
pub(crate) fn by_meaning(space: &Space, query: &Vector, passing: &Passing) -> Vec<Scored<f32>> {
    match passing {
        // Mixing anew for each costs five products.
        Passing::Few(numbers) if numbers.len() * (2 * REACH + 1) < space.numbers() => {
            best_of(space, query, numbers)
        }
        _ if space.live <= space.limits.exact_vectors_max => {
            select(space, &mixed(space, &products(space, query)), passing)
        }
        Passing::Few(numbers) => best_of(space, query, numbers),
        _ => best_of(space, query, &picked(space, query, passing)),
    }
}

/// Vectors whose signs are compared before the best of them are kept: their figures stay in the nearest cache.
const SCANNED_TOGETHER: usize = 1_024;

/// Those whose signs are most like the query's, by number: so memory is read in one direction.
fn picked(space: &Space, query: &Vector, passing: &Passing) -> Vec<u32> {
    let query = Planes::new(&query.values);
    let mut selection =
        Selection::new(space, passing, PICKED_VECTORS.max(space.live / MEMORIES_PER_PICK));
    let mut figures = [0; SCANNED_TOGETHER];
    for rows in space.bits().parts(SCANNED_TOGETHER) {
        let count = widely(Nearness { rows, query: &query, into: &mut figures });
        selection.offer(figures.get(..count).unwrap_or_default());
    }
    let mut numbers: Vec<u32> =
        selection.best.into_kept().into_iter().map(|(_, number)| number).collect();
    numbers.sort_unstable();
    numbers
}

/// The cosines of some memories, each mixed with its neighbours, and the query.
pub(crate) fn cosines(space: &Space, query: &Vector, numbers: &[u32]) -> Vec<f32> {
    widely(Cosines { space, query, numbers })
}

struct Cosines<'s> {
    space: &'s Space,
    query: &'s Vector,
    numbers: &'s [u32],
}

impl Wide for Cosines<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn work(self) -> Vec<f32> {
        let mut cosines = Vec::with_capacity(self.numbers.len());
        for numbers in self.numbers.chunks(FETCHED_TOGETHER) {
            self.space.fetch_vectors(numbers);
            for number in numbers {
                let mut near = 0.0;
                for other in self.space.neighbours(*number) {
                    near += self.product(other);
                }
                cosines.push(blend(self.space, *number, self.product(*number), near));
            }
        }
        cosines
    }
}

impl Cosines<'_> {
    #[inline(always)]
    fn product(&self, number: u32) -> f32 {
        let product = dot(self.space.vector(number), &self.query.values) as f32;
        product * self.space.scale(number) * self.query.scale
    }
}

fn blend(space: &Space, number: u32, own: f32, near: f32) -> f32 {
    (own + space.mix() * near) / space.norm(number)
}

fn best_of(space: &Space, query: &Vector, numbers: &[u32]) -> Vec<Scored<f32>> {
    let mut best = Best::new(CANDIDATES);
    let cosines = cosines(space, query, numbers);
    cosines.iter().zip(numbers).for_each(|(cosine, number)| best.push(*cosine, *number));
    best.into_sorted()
}

/// Figures that are looked at together: few are high enough.
const JUDGED_TOGETHER: usize = 16;

/// The best of figures that come by number, from 0, which is no memory.
struct Selection<'s, F> {
    space: &'s Space,
    passing: &'s Passing,
    all_pass: bool,
    next: u32,
    best: Best<F>,
}

impl<'s, F: PartialOrd + Copy> Selection<'s, F> {
    fn new(space: &'s Space, passing: &'s Passing, limit: usize) -> Self {
        let all_pass = matches!(passing, Passing::All { .. }) && space.is_dense();
        Self { space, passing, all_pass, next: 0, best: Best::new(limit) }
    }

    fn offer(&mut self, figures: &[F]) {
        for figures in figures.chunks(JUDGED_TOGETHER) {
            // No way out of the loop before its end, so that the compiler compares several at once.
            if figures.iter().fold(false, |some, figure| some | self.best.admits(*figure)) {
                self.offer_each(figures);
            }
            self.next += figures.len() as u32;
        }
    }

    fn offer_each(&mut self, figures: &[F]) {
        for (number, figure) in (self.next..self.space.numbers() as u32).zip(figures) {
            if self.best.admits(*figure) && self.passes(number) {
                self.best.push(*figure, number);
            }
        }
    }

    fn passes(&self, number: u32) -> bool {
        number != 0 && (self.all_pass || self.passing.contains(self.space, number))
    }
}

fn select(space: &Space, figures: &[f32], passing: &Passing) -> Vec<Scored<f32>> {
    let mut selection = Selection::new(space, passing, CANDIDATES);
    selection.offer(figures);
    selection.best.into_sorted()
}

/// The product of every vector and the query.
fn products(space: &Space, query: &Vector) -> Vec<f32> {
    let (vectors, scales) = space.vectors();
    let products = widely(Products { vectors, query: &query.values });
    let scaled = |(product, scale): (i32, &f32)| product as f32 * scale * query.scale;
    products.into_iter().zip(scales).map(scaled).collect()
}

/// Mixes neighbours into every figure.
fn mixed(space: &Space, own: &[f32]) -> Vec<f32> {
    let mut mixed = own.to_vec();
    let at = |number: &u32| own.get(*number as usize).copied().unwrap_or_default();
    for members in space.threads() {
        for (place, number) in members.iter().enumerate() {
            let before = members.get(place.saturating_sub(REACH)..place).unwrap_or_default();
            let behind = members.iter().skip(place + 1).take(REACH);
            let near: f32 = before.iter().chain(behind).map(at).sum();
            let blended = blend(space, *number, at(number), near);
            mixed.get_mut(*number as usize).into_iter().for_each(|figure| *figure = blended);
        }
    }
    mixed
}
