//! One piece of work, however many ask for it.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};

/// Work that is under way, by what it is for. Whoever asks for the same joins in and gets the same result.
pub(crate) struct Flights<K, V: Clone> {
    under_way: Mutex<HashMap<K, Shared<BoxFuture<'static, V>>>>,
}

impl<K, V: Clone> Default for Flights<K, V> {
    fn default() -> Self {
        Flights { under_way: Mutex::default() }
    }
}

impl<K: Clone + Eq + Hash, V: Clone + Send + Sync + 'static> Flights<K, V> {
    /// Joins the work for `key`, or starts it. It goes on if the one who started it goes away, as long as
    /// another waits.
    pub(crate) async fn join<F>(&self, key: K, start: impl FnOnce() -> F) -> V
    where
        F: Future<Output = V> + Send + 'static,
    {
        let flight = {
            let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
            // Finished work is not shared: its result may be out of date for whoever asks later.
            under_way.retain(|_, flight| flight.peek().is_none() && flight.strong_count() > Some(1));
            under_way.entry(key.clone()).or_insert_with(|| start().boxed().shared()).clone()
        };
        let result = flight.clone().await;
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.get(&key).is_some_and(|current| current.ptr_eq(&flight)) {
            under_way.remove(&key);
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn those_who_ask_together_share_one_piece_of_work_and_those_who_ask_later_do_not() {
        let flights = Arc::new(Flights::<&str, usize>::default());
        let runs = Arc::new(AtomicUsize::new(0));
        let (go, wait) = oneshot::channel::<()>();
        let start = |wait: Option<oneshot::Receiver<()>>| {
            let runs = runs.clone();
            move || async move {
                if let Some(wait) = wait {
                    let _ = wait.await;
                }
                runs.fetch_add(1, Ordering::SeqCst) + 1
            }
        };
        let first = flights.join("a", start(Some(wait)));
        let second = flights.join("a", start(None));
        let (first, second, _) = tokio::join!(first, second, async { go.send(()) });
        assert_eq!((first, second), (1, 1));
        assert_eq!(flights.join("a", start(None)).await, 2);
    }

    #[tokio::test]
    async fn work_goes_on_when_the_one_who_started_it_leaves() {
        let flights = Arc::new(Flights::<&str, u8>::default());
        let (go, wait) = oneshot::channel::<()>();
        let mut first = Box::pin(flights.join("a", move || async move {
            let _ = wait.await;
            7
        }));
        assert!(futures::poll!(&mut first).is_pending());
        let mut second = Box::pin(flights.join("a", || async { 8 }));
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        go.send(()).unwrap();
        assert_eq!(second.await, 7);
    }
}
