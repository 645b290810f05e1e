//! What each route does: from a typed call to a typed answer, by the engine.

pub mod admin;
pub mod envelopes;
pub mod events;
pub mod memories;
pub mod server;

use crate::limits::{PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX};
use crate::problem::Problem;

/// How many rows a page is to have.
fn page_rows(limit: Option<usize>) -> Result<usize, Problem> {
    match limit {
        None => Ok(PAGE_ROWS_DEFAULT),
        Some(limit) if (1..=PAGE_ROWS_MAX).contains(&limit) => Ok(limit),
        Some(_) => Err(Problem::parameter(
            "limit",
            &format!("expected a number from 1 to {PAGE_ROWS_MAX}"),
        )),
    }
}
