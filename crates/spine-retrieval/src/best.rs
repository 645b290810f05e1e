//! The best few of many.

use std::cmp::Ordering;

/// A memory's number with a figure.
pub(crate) type Scored<F> = (F, u32);

/// Keeps the highest figures; equal ones by the newer memory, so that the result does not depend on
/// the order in which they come.
pub(crate) struct Best<F> {
    kept: Vec<Scored<F>>,
    limit: usize,
    /// What is not above this cannot get in.
    floor: Option<Scored<F>>,
}

impl<F: PartialOrd + Copy> Best<F> {
    pub(crate) fn new(limit: usize) -> Self {
        Self { kept: Vec::with_capacity(limit.saturating_mul(2)), limit, floor: None }
    }

    /// Whether a figure could be among the best.
    #[inline]
    pub(crate) fn admits(&self, figure: F) -> bool {
        self.floor.is_none_or(|(floor, _)| figure >= floor)
    }

    pub(crate) fn push(&mut self, figure: F, number: u32) {
        if self.limit == 0 || !self.admits(figure) {
            return;
        }
        self.kept.push((figure, number));
        if self.kept.len() >= self.limit.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() < self.limit {
            return;
        }
        let (_, lowest, _) = self.kept.select_nth_unstable_by(self.limit - 1, best_first);
        self.floor = Some(*lowest);
        self.kept.truncate(self.limit);
    }

    /// The lowest figure among the best, once there are enough of them.
    pub(crate) fn floor(&mut self) -> Option<F> {
        self.cut();
        self.floor.map(|(figure, _)| figure)
    }

    /// In no order.
    pub(crate) fn into_kept(mut self) -> Vec<Scored<F>> {
        self.cut();
        self.kept
    }

    /// Best first.
    pub(crate) fn into_sorted(self) -> Vec<Scored<F>> {
        let mut kept = self.into_kept();
        kept.sort_unstable_by(best_first);
        kept
    }
}

/// Higher figures first, then newer memories.
pub(crate) fn best_first<F: PartialOrd>(a: &Scored<F>, b: &Scored<F>) -> Ordering {
    b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(b.1.cmp(&a.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_best_whatever_the_order() {
        let mut items: Vec<Scored<f64>> = (0..100).map(|n| (f64::from(n % 7), n)).collect();
        let mut sorted = items.clone();
        sorted.sort_by(best_first);
        for _ in 0..3 {
            fastrand::Rng::with_seed(1).shuffle(&mut items);
            let mut best = Best::new(10);
            items.iter().for_each(|(figure, number)| best.push(*figure, *number));
            assert_eq!(best.into_sorted(), sorted[..10]);
        }
    }
}
