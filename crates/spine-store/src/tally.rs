//! Numbers counted in buckets, as they are shown to those who gather them from many machines.

/// Upper ends of buckets for times that are part of a request, in seconds.
pub const SHORT_TIMES_S: [f64; 15] = [
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    10.0,
];

/// How many numbers were how large.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    bounds: &'static [f64],
    buckets: Vec<u64>,
    count: u64,
    sum: f64,
}

impl Tally {
    /// Without any, in buckets with these upper ends; what is beyond the last is in none of them.
    pub fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, buckets: vec![0; bounds.len()], count: 0, sum: 0.0 }
    }

    /// Counts a number.
    pub fn add(&mut self, number: f64) {
        let place = self.bounds.partition_point(|upto| *upto < number);
        if let Some(bucket) = self.buckets.get_mut(place) {
            *bucket += 1;
        }
        self.count += 1;
        self.sum += number;
    }

    /// Counts a number where there is one.
    pub fn add_some(&mut self, number: Option<f64>) {
        number.into_iter().for_each(|number| self.add(number));
    }

    /// Counts all that another one with the same buckets has.
    pub fn merge(&mut self, other: &Self) {
        for (own, count) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += count;
        }
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Each upper end, with how many are in its bucket and not in the one before.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        self.bounds.iter().copied().zip(self.buckets.iter().copied())
    }

    /// The mean.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The upper end of the bucket that this share of all are not above; nothing where that is beyond the last.
    pub fn quantile_upto(&self, share: f64) -> Option<f64> {
        let rank = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let reached = |(_, count): &(f64, u64)| {
            seen += count;
            seen >= rank
        };
        self.buckets().find(reached).map(|(upto, _)| upto)
    }

    /// How many in all.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of all.
    pub fn sum(&self) -> f64 {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_in_the_first_bucket_that_it_is_not_above() {
        const BOUNDS: [f64; 3] = [1.0, 2.0, 5.0];
        let (mut left, mut right) = (Tally::new(&BOUNDS), Tally::new(&BOUNDS));
        [0.5, 1.0, 1.5].into_iter().for_each(|number| left.add(number));
        [2.0, 5.0, 7.0].into_iter().for_each(|number| right.add(number));
        left.merge(&right);
        assert_eq!(left.buckets().collect::<Vec<_>>(), [(1.0, 2), (2.0, 2), (5.0, 1)]);
        assert_eq!((left.count(), left.sum()), (6, 17.0));
        let upto = [0.1, 0.33, 0.34, 0.8, 1.0].map(|share| left.quantile_upto(share));
        assert_eq!(upto, [Some(1.0), Some(1.0), Some(2.0), Some(5.0), None]);
        assert_eq!(
            (Tally::new(&BOUNDS).mean(), Tally::new(&BOUNDS).quantile_upto(0.5)),
            (None, None)
        );
    }
}
