//! Latencies in buckets that are 3 % wide, so that an hour of load takes no more memory than a second.

const BUCKETS_PER_OCTAVE: usize = 32;
const OCTAVES: usize = 40;

/// Counts of latencies, in microseconds.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS_PER_OCTAVE * OCTAVES] }
    }
}

impl Histogram {
    /// One more.
    pub fn record(&mut self, latency: std::time::Duration) {
        let us = latency.as_secs_f64() * 1e6;
        let bucket = (us.max(1.0).log2() * BUCKETS_PER_OCTAVE as f64) as usize;
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
    }

    /// All of another.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The latency that this part of them does not exceed, in milliseconds.
    pub fn ms(&self, part: f64) -> f64 {
        let wanted = (self.count() as f64 * part).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return ((bucket + 1) as f64 / BUCKETS_PER_OCTAVE as f64).exp2() / 1e3;
            }
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn percentiles_are_within_three_percent() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|ms| histogram.record(Duration::from_millis(ms)));
        for (part, expect) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = histogram.ms(part);
            assert!((found / expect - 1.0).abs() < 0.03, "{part}: {found} for {expect}");
        }
        assert_eq!(Histogram::default().ms(0.5), 0.0);
    }
}
