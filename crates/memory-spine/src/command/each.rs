//! The same for each of several that were named.

use spine_client::ClientError;

use super::Failure;
use crate::terminal::foreign;

/// Goes on after one that could not be done, and ends as the first of those.
pub async fn each<T>(
    ids: &[String],
    work: impl AsyncFn(&str) -> Result<T, ClientError>,
    show: impl FnOnce(&[T]),
) -> Result<(), Failure> {
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for id in ids {
        match work(id).await {
            Ok(one) => done.push(one),
            Err(error) => failed.push(error),
        }
    }
    show(&done);
    failure(failed, ids.len()).map_or(Ok(()), Err)
}

fn failure(failed: Vec<ClientError>, of: usize) -> Option<Failure> {
    let count = failed.len();
    if count > 1 {
        failed.iter().for_each(|error| eprintln!("{}", foreign(&error.to_string())));
    }
    let first = Failure::from(failed.into_iter().next()?);
    Some(if count > 1 { first.saying(format!("{count} of {of} could not be done")) } else { first })
}
