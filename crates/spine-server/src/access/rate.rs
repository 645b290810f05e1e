//! So many a second, for each name: a bucket that fills steadily and holds one second's worth.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::limits::RATES_COUNTED_MAX;

struct Bucket {
    left: f64,
    at: Instant,
}

/// Counts what each name has used.
#[derive(Default)]
pub struct Rates(Mutex<HashMap<String, Bucket>>);

impl Rates {
    /// Takes one, or says after how many seconds there is one again.
    pub fn take(&self, name: &str, per_s: u32, now: Instant) -> Result<(), f64> {
        let (rate, mut buckets) =
            (f64::from(per_s), self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if buckets.len() >= RATES_COUNTED_MAX {
            // Whoever has not asked for a second has a full bucket, and needs none.
            buckets.retain(|_, bucket| now.saturating_duration_since(bucket.at).as_secs() < 1);
        }
        let full = Bucket { left: rate, at: now };
        let bucket = buckets.entry(name.to_owned()).or_insert(full);
        let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + passed * rate).min(rate);
        bucket.at = now;
        if bucket.left < 1.0 {
            return Err((1.0 - bucket.left) / rate);
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_second_has_so_many_and_no_more() {
        let (rates, start) = (Rates::default(), Instant::now());
        let taken = |ms| rates.take("a", 10, start + Duration::from_millis(ms)).is_ok();
        assert_eq!((0..20).filter(|_| taken(0)).count(), 10);
        assert!(rates.take("b", 10, start).is_ok(), "another name has its own");
        assert_eq!((0..20).filter(|_| taken(500)).count(), 5);
        assert!(rates.take("a", 10, start + Duration::from_millis(500)).unwrap_err() <= 0.1);
    }
}
