//! How a store can fail.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::{ErrorKind, StoreError};

/// One way in which an `apply` goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is written, and that is known.
    BeforeWrite(ErrorKind),
    /// Everything is written, but the caller is not told so.
    AfterWrite,
    /// Only the first commands are written, and the caller is not told which.
    Torn {
        /// How many are written.
        commands: usize,
    },
    /// It succeeds after the caller was made to wait.
    Slow {
        /// How often the caller asks in vain.
        polls: u32,
    },
}

impl Fault {
    pub(super) fn wait(self) -> Wait {
        Wait(if let Self::Slow { polls } = self { polls } else { 0 })
    }
}

pub(super) fn outcome_unknown() -> StoreError {
    StoreError::new(ErrorKind::OutcomeUnknown, "a fault after the write")
}

pub(super) struct Wait(u32);

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(left) = self.0.checked_sub(1) else { return Poll::Ready(()) };
        self.0 = left;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
