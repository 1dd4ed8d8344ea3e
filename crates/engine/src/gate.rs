//! How many may do something at the same time, where an operator may change his mind about it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// Lets in as many at a time as each that comes is told to be the most.
#[derive(Default)]
pub(crate) struct Gate {
    inside: Mutex<usize>,
    moved: Notify,
}

/// The right to be inside, until it is dropped.
pub(crate) struct Turn<'a>(&'a Gate);

impl Gate {
    /// Waits until there is room; none for a gate that is open to all.
    pub(crate) async fn enter(&self, most: Option<usize>) -> Turn<'_> {
        loop {
            let moved = self.moved.notified();
            {
                let mut inside = self.inside();
                if most.is_none_or(|most| *inside < most.max(1)) {
                    *inside += 1;
                    break;
                }
            }
            moved.await;
        }
        // There may be room for another: whoever left told only one.
        self.moved.notify_one();
        Turn(self)
    }

    fn inside(&self) -> MutexGuard<'_, usize> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.inside() -= 1;
        self.0.moved.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::StreamExt as _;

    use super::*;

    /// How many of fifty were inside at once.
    async fn crowd(most: impl Fn(usize) -> Option<usize>) -> usize {
        let (gate, inside, largest) = (Gate::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        let one = async |number| {
            let _turn = gate.enter(most(number)).await;
            largest.fetch_max(inside.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            inside.fetch_sub(1, Ordering::Relaxed);
        };
        futures::stream::iter(0..50).map(one).buffer_unordered(50).collect::<()>().await;
        largest.into_inner()
    }

    #[tokio::test]
    async fn no_more_are_inside_than_may_be_and_all_have_their_turn() {
        assert_eq!(crowd(|_| None).await, 50);
        assert_eq!(crowd(|_| Some(4)).await, 4);
        assert_eq!(crowd(|_| Some(1)).await, 1);
    }

    #[tokio::test]
    async fn a_limit_counts_for_those_who_come_after_it_was_set() {
        assert_eq!(crowd(|number| Some(if number < 25 { 2 } else { 6 })).await, 6);
    }

    #[tokio::test]
    async fn who_stops_waiting_takes_nobodys_turn() {
        let gate = Gate::default();
        let first = gate.enter(Some(1)).await;
        let mut second = Box::pin(gate.enter(Some(1)));
        let third = gate.enter(Some(1));
        assert!(futures::poll!(second.as_mut()).is_pending());
        drop(first);
        drop(second);
        let _turn = third.await;
    }
}
