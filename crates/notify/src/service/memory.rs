//! What services are remembered by between two messages: threads that go on, tokens that still hold.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::limits;

/// It may be lost at any time; then a thread begins anew, and a token is asked for again. It holds tokens, so it cannot be
/// printed.
#[derive(Default)]
pub struct Memory {
    entries: BTreeMap<Vec<String>, (String, Option<Timestamp>)>,
}

impl Memory {
    pub(super) fn get(&self, key: &[&str], now: Timestamp) -> Option<String> {
        let key: Vec<String> = key.iter().map(|part| (*part).to_owned()).collect();
        let (value, until) = self.entries.get(&key)?;
        until.is_none_or(|until| now < until).then(|| value.clone())
    }

    pub(super) fn put(&mut self, key: &[&str], value: &str, until: Option<Timestamp>) {
        if self.entries.len() >= limits::REMEMBERED {
            self.entries.clear();
        }
        let key = key.iter().map(|part| (*part).to_owned()).collect();
        self.entries.insert(key, (value.to_owned(), until));
    }
}
