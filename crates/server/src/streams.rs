//! How many long answers are open: each costs memory for as long as somebody listens, so there is an end to them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limits;
use crate::refusal::{Code, Refusal};

/// The long answers that are open, by whom they are for.
#[derive(Clone)]
pub(crate) struct Streams(Arc<Inner>);

struct Inner {
    all: usize,
    each: usize,
    open: Mutex<HashMap<String, usize>>,
}

impl Default for Streams {
    fn default() -> Self {
        Streams::new(limits::OPEN_STREAMS, limits::OPEN_STREAMS_OF_ONE)
    }
}

impl Streams {
    fn new(all: usize, each: usize) -> Self {
        Streams(Arc::new(Inner { all, each, open: Mutex::default() }))
    }

    /// A place for one more, for as long as it is kept. Nobody can take the places of all others.
    pub(crate) fn place(&self, user: &str) -> Result<Place, Refusal> {
        let mut open = self.0.lock();
        let refused = |many: usize, whose: &str| {
            let message = format!("{many} streams {whose}open already; close some, or try again later");
            Err(Refusal::new(Code::ResourceExhausted, message))
        };
        if open.get(user).is_some_and(|own| *own >= self.0.each) {
            return refused(self.0.each, "of yours are ");
        }
        if open.values().sum::<usize>() >= self.0.all {
            return refused(self.0.all, "are ");
        }
        *open.entry(user.to_owned()).or_default() += 1;
        Ok(Place { streams: self.clone(), user: user.to_owned() })
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One long answer's place, which is free again when this is dropped.
pub(crate) struct Place {
    streams: Streams,
    user: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.streams.0.lock();
        match open.get_mut(&self.user) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(open.remove(&self.user)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_for_each_and_for_all_and_come_back() {
        let streams = Streams::new(3, 2);
        let said = |user: &str| streams.place(user).map_err(|refusal| refusal.message);
        let one = said("a");
        let two = said("a");
        assert_eq!(
            said("a").err().as_deref(),
            Some("2 streams of yours are open already; close some, or try again later")
        );
        let three = said("b");
        assert_eq!(
            said("c").err().as_deref(),
            Some("3 streams are open already; close some, or try again later")
        );
        drop((one, two));
        assert!(said("c").is_ok() && said("a").is_ok());
        drop(three);
        assert_eq!(streams.0.lock().len(), 0);
    }
}
