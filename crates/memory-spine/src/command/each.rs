//! The same for each of several that were named.

use spine_client::ClientError;

use super::Failure;
use crate::terminal::{foreign, foreign_line};

const ID_CHARS_MAX: usize = 80;

/// Goes on after one that could not be done, and ends as the first of those.
pub async fn each<T>(
    ids: &[String],
    work: impl AsyncFn(&str) -> Result<T, ClientError>,
    show: impl FnOnce(&[T]),
) -> Result<(), Failure> {
    let (mut done, mut failed) = (Vec::new(), None);
    for id in ids {
        match work(id).await {
            Ok(one) => done.push(one),
            Err(error) => {
                eprintln!("{}: {}", foreign_line(id, ID_CHARS_MAX), foreign(&error.to_string()));
                failed.get_or_insert(error);
            }
        }
    }
    show(&done);
    failed.map_or(Ok(()), |error| Err(error.into()))
}
