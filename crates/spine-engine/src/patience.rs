//! Waiting no longer than is good. The engine has no timer of its own: whoever drives it brings one.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// A future that is done when a time has passed.
pub type Elapsed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where time to wait comes from: a runtime's timer, or a simulation's.
pub trait Timer: Send + Sync {
    /// Done after this long.
    fn after(&self, duration: Duration) -> Elapsed;
}

/// The answer, if it comes in time.
pub async fn within<T>(
    timer: &Arc<dyn Timer>,
    duration: Duration,
    answer: impl Future<Output = T>,
) -> Option<T> {
    let (mut answer, mut elapsed) = (pin!(answer), timer.after(duration));
    poll_fn(|context| match answer.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => elapsed.as_mut().poll(context).map(|()| None),
    })
    .await
}
