//! The allocator, and how long it keeps what is free at the moment.

#![allow(unsafe_code)]

use std::ffi::c_long;

use libmimalloc_sys::{mi_option_eager_commit_delay, mi_option_set_default, mi_option_t};

// A prototype of the store lost a third of its speed to the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The bindings name the options around it.
const PURGE_DELAY: mi_option_t = mi_option_eager_commit_delay + 1;

/// A thousand requests at once let go of a page and take it again within some 50 ms. Given back to the system in between, each
/// costs a fault.
const KEPT_MS: c_long = 100;

/// To be called before anything is served.
pub(crate) fn keep_free_pages() {
    // SAFETY: sets a number that the allocator reads, unless `MIMALLOC_PURGE_DELAY` did; nothing else is touched.
    unsafe { mi_option_set_default(PURGE_DELAY, KEPT_MS) };
}

#[cfg(test)]
mod tests {
    use libmimalloc_sys::mi_option_get;

    use super::*;

    #[test]
    fn the_option_is_the_one_that_is_meant() {
        const DEFAULT_MS: c_long = 10;
        // SAFETY: reads a number.
        let get = || unsafe { mi_option_get(PURGE_DELAY) };
        assert_eq!(get(), DEFAULT_MS);
        keep_free_pages();
        assert_eq!(get(), KEPT_MS);
    }
}
