//! How many requests may be under way, and how many of them to one host.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{OutboundError, OutboundErrorKind};
use crate::target::Target;

/// A host that answers nobody holds its own places only, not everyone's.
pub(crate) struct Places {
    taken: Mutex<Taken>,
    requests_max: usize,
    requests_per_host_max: usize,
}

#[derive(Default)]
struct Taken {
    all: usize,
    by_host: HashMap<String, usize>,
}

/// A request's place, until it is dropped.
pub(crate) struct Place<'a> {
    places: &'a Places,
    host: String,
}

impl Places {
    pub(crate) fn new(requests_max: usize, requests_per_host_max: usize) -> Self {
        Self { taken: Mutex::default(), requests_max, requests_per_host_max }
    }

    /// A place for one more request, or the failure that there is none.
    pub(crate) fn take(&self, target: &Target) -> Result<Place<'_>, OutboundError> {
        // Without the port: the same host on another one is no other host.
        let host = target.host.to_string();
        let mut taken = self.taken();
        let of_host = taken.by_host.get(&host).copied().unwrap_or(0);
        if taken.all >= self.requests_max || of_host >= self.requests_per_host_max {
            let detail =
                format!("{target}: {} requests under way, {of_host} to this host", taken.all);
            return Err(OutboundError::new(OutboundErrorKind::Busy, detail));
        }
        taken.all += 1;
        taken.by_host.insert(host.clone(), of_host + 1);
        Ok(Place { places: self, host })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.all = taken.all.saturating_sub(1);
        let left = taken.by_host.get(&self.host).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            taken.by_host.remove(&self.host);
        } else {
            taken.by_host.insert(std::mem::take(&mut self.host), left);
        }
    }
}
