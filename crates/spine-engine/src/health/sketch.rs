//! Quantiles of many numbers in little room, each within 1 % of the true one (the idea of DDSketch): numbers are counted
//! in buckets whose bounds grow by 2 %.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Bounds grow by this much: the middle of a bucket is within 1 % of everything in it.
const GROWTH: f64 = 1.0195;
/// Smaller numbers are counted as this one.
const SMALLEST: f64 = 1e-3;

/// Numbers that are not negative, counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sketch {
    buckets: BTreeMap<i32, u64>,
    count: u64,
    max: f64,
}

impl Sketch {
    /// Counts a number.
    pub fn add(&mut self, value: f64) {
        *self.buckets.entry(bucket(value)).or_default() += 1;
        self.count += 1;
        self.max = self.max.max(value);
    }

    /// Counts all that another one has.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.buckets {
            *self.buckets.entry(*bucket).or_default() += count;
        }
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// The number that this share of all are not above.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = ((self.count as f64 * share).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        for (bucket, count) in &self.buckets {
            seen += count;
            if seen >= rank {
                return Some(middle(*bucket).min(self.max));
            }
        }
        None
    }
}

fn bucket(value: f64) -> i32 {
    static GROWTH_LN: LazyLock<f64> = LazyLock::new(|| GROWTH.ln());
    ((value.max(SMALLEST) / SMALLEST).ln() / *GROWTH_LN).ceil() as i32
}

/// The number that is as far, in shares, from both bounds of a bucket.
fn middle(bucket: i32) -> f64 {
    SMALLEST * GROWTH.powi(bucket) * 2.0 / (GROWTH + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_one_per_cent() {
        let seed = std::env::var("SPINE_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or_else(|| fastrand::u64(..));
        println!("SPINE_SEED={seed}");
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..50 {
            let mut numbers: Vec<f64> =
                (0..rng.usize(1..2000)).map(|_| (rng.f64() * 14.0 - 5.0).exp()).collect();
            let mut sketch = Sketch::default();
            numbers.iter().for_each(|number| sketch.add(*number));
            numbers.sort_by(f64::total_cmp);
            for share in [0.5, 0.95, 0.99, 1.0] {
                let rank = (numbers.len() as f64 * share).ceil() as usize;
                let (exact, found) = (numbers[rank - 1], sketch.quantile(share).unwrap());
                assert!((found / exact - 1.0).abs() < 0.01, "{share}: {found} for {exact}");
            }
        }
    }

    #[test]
    fn two_merged_are_one_that_counted_all() {
        let (mut all, mut left, mut right) =
            (Sketch::default(), Sketch::default(), Sketch::default());
        for number in 0..1000 {
            let number = f64::from(number);
            all.add(number);
            if number < 300.0 { left.add(number) } else { right.add(number) }
        }
        left.merge(&right);
        assert_eq!(left, all);
        assert_eq!(Sketch::default().quantile(0.5), None);
    }
}
