//! What the machine says about who runs on it, asked for one by one.

use std::collections::BTreeMap;

use super::conversation::{Place, SendError};
use super::request::Answer;

/// Some variables of the environment, of which any may be missing.
pub(super) struct Variables {
    names: &'static [&'static str],
    asked: usize,
    found: BTreeMap<&'static str, String>,
}

impl Variables {
    pub(super) fn new(names: &'static [&'static str]) -> Self {
        Self { names, asked: 0, found: BTreeMap::new() }
    }

    /// The next one to look at; nothing once all are known. `answer` is what stood in the one before.
    pub(super) fn next(&mut self, answer: Option<&Answer>) -> Option<Place> {
        let before = self.asked.checked_sub(1).and_then(|at| self.names.get(at));
        if let (Some(name), Some(answer)) = (before, answer.filter(|answer| answer.is_success())) {
            self.found.insert(name, text(answer));
        }
        let name = self.names.get(self.asked)?;
        self.asked += 1;
        Some(Place::Variable(name))
    }

    /// What a variable says; nothing if it is empty, too.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.found.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }
}

/// What was found in a place, on one line.
pub(super) fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).trim().to_owned()
}

/// The token in a file that has to hold one.
pub(super) fn token_in_file(path: &str, answer: Option<&Answer>) -> Result<String, SendError> {
    let bytes = in_file(path, answer)?;
    match String::from_utf8_lossy(bytes).trim() {
        "" => Err(SendError::new(format!("{path} is empty; it has to hold a token"))),
        token => Ok(token.to_owned()),
    }
}

/// What stood in a file that has to be there.
pub(super) fn in_file<'a>(path: &str, answer: Option<&'a Answer>) -> Result<&'a [u8], SendError> {
    match answer {
        Some(answer) if answer.is_success() => Ok(&answer.body),
        Some(answer) => Err(SendError::lasting(format!("{path} cannot be read: {}", answer.told()))),
        None => Err(SendError::new("there was no answer")),
    }
}
