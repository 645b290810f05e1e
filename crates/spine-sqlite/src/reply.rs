//! One answer from a thread to a future, whatever runtime polls it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

struct Slot<T> {
    value: Option<T>,
    waker: Option<Waker>,
    hung_up: bool,
}

type Shared<T> = Arc<Mutex<Slot<T>>>;

/// The side that answers. Dropped without an answer, it lets the other side know.
pub(crate) struct Answerer<T>(Shared<T>);

/// The side that waits; `None` when no answer will come.
pub(crate) struct Answer<T>(Shared<T>);

pub(crate) fn channel<T>() -> (Answerer<T>, Answer<T>) {
    let slot = Arc::new(Mutex::new(Slot { value: None, waker: None, hung_up: false }));
    (Answerer(Arc::clone(&slot)), Answer(slot))
}

impl<T> Answerer<T> {
    pub(crate) fn send(self, value: T) {
        lock(&self.0).value = Some(value);
    }
}

impl<T> Drop for Answerer<T> {
    fn drop(&mut self) {
        let mut slot = lock(&self.0);
        slot.hung_up = true;
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = lock(&self.0);
        if slot.value.is_some() || slot.hung_up {
            return Poll::Ready(slot.value.take());
        }
        slot.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

fn lock<T>(shared: &Shared<T>) -> MutexGuard<'_, Slot<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
