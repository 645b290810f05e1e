//! A queue with a limit: when it is full the caller is told at once, instead of waiting without end.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What one item takes of the limits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weight {
    pub(crate) commands: usize,
    pub(crate) bytes: usize,
}

/// Why an item was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Too much is waiting.
    Full,
    /// Nobody serves the queue any more.
    Closed,
}

pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    arrived: Condvar,
    max: Weight,
}

struct State<T> {
    items: VecDeque<(T, Weight)>,
    waiting: Weight,
    /// Takers that sleep and were not woken yet. Waking nobody is a call of the system as well, and most items come while
    /// everyone who takes them is at work.
    sleeping: usize,
    closed: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(max: Weight) -> Self {
        let (items, waiting) = (VecDeque::new(), Weight::default());
        let state = Mutex::new(State { items, waiting, sleeping: 0, closed: false });
        Self { state, arrived: Condvar::new(), max }
    }

    /// Adds an item. One that is over the limits by itself is taken when nothing else waits.
    pub(crate) fn push(&self, item: T, weight: Weight) -> Result<(), Refused> {
        let mut state = self.lock();
        let (commands, bytes) =
            (state.waiting.commands + weight.commands, state.waiting.bytes + weight.bytes);
        let fits = commands <= self.max.commands && bytes <= self.max.bytes;
        if state.closed {
            return Err(Refused::Closed);
        }
        if !fits && !state.items.is_empty() {
            return Err(Refused::Full);
        }
        state.waiting = Weight { commands, bytes };
        state.items.push_back((item, weight));
        let wakes = state.sleeping > 0;
        state.sleeping = state.sleeping.saturating_sub(1);
        drop(state);
        if wakes {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Waits for items and takes as many as fit, at least one; nothing when the queue is closed and empty.
    pub(crate) fn take(&self, commands_max: usize) -> Vec<T> {
        let mut state = self.lock();
        while state.items.is_empty() && !state.closed {
            state.sleeping += 1;
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let (mut taken, mut commands) = (Vec::new(), 0);
        while let Some((_, next)) = state.items.front() {
            commands += next.commands;
            if !taken.is_empty() && commands > commands_max {
                break;
            }
            taken.extend(state.pop());
        }
        taken
    }

    /// Lets nothing more in. What waits is still served.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    /// Drops what waits: its senders hang up, so that nobody waits for a thread that is gone.
    pub(crate) fn abandon(&self) {
        self.close();
        let abandoned = std::mem::take(&mut self.lock().items);
        drop(abandoned);
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn pop(&mut self) -> Option<T> {
        let (item, weight) = self.items.pop_front()?;
        self.waiting.commands -= weight.commands;
        self.waiting.bytes -= weight.bytes;
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Weight = Weight { commands: 1, bytes: 10 };

    #[test]
    fn full_queue_refuses_and_takes_again_when_served() {
        let queue = Queue::new(Weight { commands: 2, bytes: 1000 });
        assert_eq!(queue.push('a', ONE), Ok(()));
        assert_eq!(queue.push('b', ONE), Ok(()));
        assert_eq!(queue.push('c', ONE), Err(Refused::Full));
        assert_eq!(queue.take(1), ['a']);
        assert_eq!(queue.push('c', ONE), Ok(()));
        assert_eq!(queue.take(10), ['b', 'c']);
    }

    #[test]
    fn heavy_items_count_by_bytes_and_one_alone_is_always_taken() {
        let queue = Queue::new(Weight { commands: 100, bytes: 15 });
        assert_eq!(queue.push('a', Weight { commands: 1, bytes: 99 }), Ok(()));
        assert_eq!(queue.push('b', ONE), Err(Refused::Full));
    }

    #[test]
    fn every_item_is_taken_however_takers_sleep() {
        const ITEMS: usize = 20_000;
        let queue = Queue::new(Weight { commands: ITEMS, bytes: usize::MAX });
        let take_all = || -> usize {
            let takes = std::iter::repeat_with(|| queue.take(1).len());
            takes.take_while(|taken| *taken > 0).sum()
        };
        let taken: usize = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..3).map(|_| scope.spawn(take_all)).collect();
            (0..ITEMS).for_each(|item| queue.push(item, ONE).unwrap());
            queue.close();
            takers.into_iter().map(|taker| taker.join().unwrap()).sum()
        });
        assert_eq!(taken, ITEMS);
    }

    #[test]
    fn closed_queue_serves_what_waits_and_then_ends() {
        let queue = Queue::new(Weight { commands: 2, bytes: 1000 });
        queue.push('a', ONE).unwrap();
        queue.close();
        assert_eq!(queue.push('b', ONE), Err(Refused::Closed));
        assert_eq!(queue.take(10), ['a']);
        assert_eq!(queue.take(10), [] as [char; 0]);
    }
}
